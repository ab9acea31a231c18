"""Where a beam search runs: on the cores of the host, or on a GPU. Chosen here, once, when a batch begins."""

import ctypes
import threading
from contextlib import suppress
from functools import cache
from importlib.util import find_spec

from orienteer.beam.backend.protocol import Backend
from orienteer.model.errors import MissingExtra

DEVICES = ("auto", "cpu", "cuda")


def choose_backend(device: str) -> Backend:
    """The backend of "cpu" or "cuda"; "auto" is a GPU where there is one that can be used."""
    if device not in DEVICES:
        raise ValueError(f"device must be 'auto', 'cpu' or 'cuda', got {device!r}")
    return _cuda() if device == "cuda" or (device == "auto" and gpu_is_there()) else _host()


@cache
def gpu_is_there() -> bool:
    """Whether this machine has a GPU and the packages to use it; torch is not even imported where there is no GPU."""
    if _driver() is None or find_spec("torch") is None or find_spec("triton") is None:
        return False
    import torch

    return torch.cuda.is_available()


@cache
def _host() -> Backend:
    from orienteer.beam.backend.host.backend import HostBackend

    return HostBackend()


@cache
def _cuda() -> Backend:
    if find_spec("torch") is None or find_spec("triton") is None:
        raise MissingExtra("device 'cuda'", "gpu")
    if driver := _driver():
        threading.Thread(target=_open_first_gpu, args=(driver,)).start()
    if not gpu_is_there():
        raise ValueError("device must be 'auto' or 'cpu': this machine has no CUDA device")
    from orienteer.beam.backend.cuda.backend import CudaBackend

    return CudaBackend()


@cache
def _driver() -> ctypes.CDLL | None:
    """The driver of NVIDIA's GPUs, if it can be loaded: a quick look before the seconds that torch takes to import."""
    for library in ("libcuda.so.1", "nvcuda.dll"):
        with suppress(OSError):
            return ctypes.CDLL(library)
    return None


def _open_first_gpu(driver: ctypes.CDLL) -> None:
    """Opens the GPU that torch will use, which takes a third of a second, in a thread while torch is imported."""
    device, context = ctypes.c_int(), ctypes.c_void_p()
    if driver.cuInit(0) == 0 and driver.cuDeviceGet(ctypes.byref(device), 0) == 0:
        driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
