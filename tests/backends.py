"""The backends of beam searches that tests run over: the host, and a GPU or Triton's interpreter in its place."""

import gpu  # isort: skip (before any module of kernels)
import copy
from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import torch

from instances import all_families
from orienteer import Instance
from orienteer.beam.backend.host.backend import HostBackend
from orienteer.beam.backend.protocol import Backend
from orienteer.beam.cost_level import CostLevelConfig
from orienteer.beam.solvers import BeamSolver, PrizeCostLevelSearch, TsiliBeam
from orienteer.beam.step import StepConfig

Amount = TypeVar("Amount")

BACKENDS: dict[str, Backend] = {"host": HostBackend()}
if find_spec("triton") is not None:
    from orienteer.beam.backend.cuda.backend import CudaBackend

    BACKENDS["cuda"] = CudaBackend(gpu.DEVICE, memory=2**30)


def few(backend: Backend, many: Amount, some: Amount) -> Amount:
    """How much to try: `many`, or `some` where kernels are interpreted, a thousand times slower than on a GPU."""
    return many if backend.name == "cpu" or gpu.NATIVE else some


def families(backend: Backend, count: int) -> list[Instance]:
    """`count` problems of each family of at most seven nodes; two of five nodes where kernels are slow."""
    return few(backend, all_families(count), all_families(2, sizes=(5,)))


def remembering(backend: Any, paths: int) -> Any:
    """The backend with room for that many expanded paths of an instance."""
    other = copy.copy(backend)
    other.remembered = paths
    return other


def placed(backend: Backend, numbers: npt.ArrayLike, dtype: Any = None) -> Any:
    """The numbers as an array of the backend."""
    array = np.array(numbers, dtype=dtype)
    return array if backend.name == "cpu" else torch.from_numpy(array).to(gpu.DEVICE)


def read(array: Any) -> npt.NDArray[Any]:
    """The numbers of any backend's array."""
    return array.cpu().numpy() if isinstance(array, torch.Tensor) else np.asarray(array)


def cs_p(backend: Backend, **settings: Any) -> PrizeCostLevelSearch:
    """The cost-level search scored by prize, on a backend."""
    return PrizeCostLevelSearch(CostLevelConfig(**settings), backend)


def tsili_beam(backend: Backend, **settings: Any) -> TsiliBeam:
    """The step-by-step search scored by desirability, on a backend."""
    return TsiliBeam(StepConfig(**settings), backend)


SOLVERS: dict[str, Any] = {"cs-p": cs_p, "tsili-beam": tsili_beam}


def solver(name: str, backend: Backend, **settings: Any) -> BeamSolver[Any]:
    """A search without a network by its name."""
    made: BeamSolver[Any] = SOLVERS[name](backend, **settings)
    return made
