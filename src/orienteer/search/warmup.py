"""Compiling ahead what the product's solvers need: for images, and for the first call to be fast."""

from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np

from orienteer.data.generate import generate
from orienteer.kernel.cache import writable_place
from orienteer.kernel.prepare import OnTask, compile_kernels, no_task_news
from orienteer.model.errors import MissingExtra
from orienteer.model.instance import Instance
from orienteer.search.registry import REGISTRY, make_solver

GPU_SIZES = (20, 50, 100, 200, 400, 1000)
"""Nodes of the problems that are tried on a GPU: its kernels are made for sizes up to the next power of two."""
GPU_BATCHES = (1, 8)
"""How many of them together: a few kernels are compiled anew for one problem."""
OURS = "orienteer."
LABORATORY = "orienteer.lab."


def tasks(solvers: Iterable[str] | None = None) -> list[str]:
    """The compilation tasks of these solvers, for symmetric costs, for others, and for rules that a solver handles.

    By default those of all the product's solvers.
    """
    symmetric = Instance(1.0 - np.eye(4), np.ones(4), 3.0)
    costs = symmetric.costs.copy()
    costs[0, 1] = 2.0
    timed = symmetric.replace(windows={1: (0.0, 2.0)})
    instances = (symmetric, symmetric.replace(costs=costs), timed, timed.replace(required=[2], routes=2))
    found: dict[str, None] = {}
    for name in _all_ours() if solvers is None else solvers:
        solver = make_solver(name)
        for instance in instances:
            if instance.features <= solver.handles:
                found |= dict.fromkeys(solver.kernels(instance))
    return list(found)


def warm_up(solvers: Iterable[str] | None = None, on_task: OnTask = no_task_news) -> int:
    """Compiles what these solvers need, by default all the product's, or finds it compiled; says how many tasks."""
    needed = tasks(solvers)
    compile_kernels(needed, on_task=on_task)
    return len(needed)


@dataclass(frozen=True)
class GpuTask:
    """A small search on a GPU, which compiles the kernels for problems of about that size."""

    solver: str
    nodes: int
    costs: str

    def __str__(self) -> str:
        return f"{self.solver} with {self.nodes} nodes, {self.costs} costs"


def gpu_tasks(solvers: Iterable[str] | None = None) -> list[GpuTask]:
    """The searches that compile what these solvers need on a GPU, by default those of all the product's solvers."""
    found = [name for name in (_all_ours() if solvers is None else solvers) if _has_device(name)]
    names = dict.fromkeys("cs-l" if name == "auto" else name for name in found)  # auto asks the learned search
    return [GpuTask(name, nodes, costs) for name in names for nodes in GPU_SIZES for costs in ("euclidean", "xasy")]


def warm_up_gpu(solvers: Iterable[str] | None = None, on_task: OnTask = no_task_news) -> int:
    """Compiles what these solvers need on a GPU, or finds it compiled; says how many searches that took.

    Triton keeps compiled kernels in its own cache, in the user's directory or where TRITON_CACHE_DIR says.
    """
    needed = gpu_tasks(solvers)
    for task in needed:
        solver = make_solver(task.solver, device="cuda")
        for count in GPU_BATCHES:
            solver.solve_batch(list(generate(task.nodes, "uniform", task.costs, count=count, seed=1)))
        on_task(str(task))
    return len(needed)


def _has_device(name: str) -> bool:
    return "device" in {field.name for field in fields(make_solver(name).config)}


def get_ready(instance: Instance, solvers: Iterable[str]) -> None:
    """Compiles what these solvers need for a problem; all at once is faster than one solver after the other."""
    names = list(solvers)
    needed = [task for name in names for task in make_solver(name).kernels(instance)]
    compile_kernels(needed, f"{', '.join(names)}: compiling for this machine, once")


def _all_ours() -> list[str]:
    """The solvers of the product that can be made here; the laboratory's are not among them."""
    found = []
    for name, entry in REGISTRY.items():
        if not entry.target.startswith(OURS) or entry.target.startswith(LABORATORY):
            continue
        try:
            make_solver(name)
        except MissingExtra:
            continue
        found.append(name)
    return found


def kept_at() -> str:
    """Where compiled code is kept, in words."""
    place = writable_place()
    return "nowhere, since no directory can be written" if place is None else str(place)
