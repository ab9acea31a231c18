"""The backends of beam searches that tests run over: the host, and a GPU or Triton's interpreter in its place."""

import gpu  # isort: skip (before any module of kernels)
from orienteer.beam.backend.cuda.backend import CudaBackend
from orienteer.beam.backend.host.backend import HostBackend
from orienteer.beam.backend.protocol import Backend

BACKENDS: dict[str, Backend] = {"host": HostBackend(), "cuda": CudaBackend(gpu.DEVICE, memory=2**30)}
