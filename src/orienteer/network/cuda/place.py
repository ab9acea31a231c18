"""The flagship on a GPU."""

from orienteer.beam.backend.cuda.backend import CudaBackend
from orienteer.beam.backend.protocol import Backend
from orienteer.network.cuda.kit import FUSED
from orienteer.network.cuda.look import TensorLook
from orienteer.network.torch_weights import load_policy
from orienteer.network.weights import Header


def cuda_look(header: Header, backend: Backend) -> TensorLook:
    """The network of a weights file, on the backend's device."""
    assert isinstance(backend, CudaBackend)
    return TensorLook(load_policy(header.path, backend.device, ("expert",))[0], FUSED)
