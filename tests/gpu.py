"""Where tests run the Triton kernels: on a GPU, or on the CPU in Triton's interpreter where there is no GPU.

Triton reads TRITON_INTERPRET when it is imported and once more for every kernel that is defined, and the choice holds
for the whole process. Test modules that run kernels therefore import this module before any module of kernels.
"""

import os
import sys
from importlib.util import find_spec

import pytest
import torch

NATIVE = torch.cuda.is_available()
"""Whether kernels are compiled for a GPU. The interpreter calls Python for every program of a launch, so that it takes
seconds for small inputs."""
DEVICE = "cuda" if NATIVE else "cpu"
"""Where the tensors of kernels lie."""
HALF = torch.bfloat16 if NATIVE else torch.float16
"""Numbers of 16 bits that kernels can be tested with: the interpreter takes those of bfloat16 for whole numbers."""
needs_triton = pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed: it is made for Linux")

if not NATIVE and os.environ.get("TRITON_INTERPRET") != "1":
    if "triton" in sys.modules:
        raise RuntimeError("tests/gpu.py must be imported before triton, which was imported without TRITON_INTERPRET=1")
    os.environ["TRITON_INTERPRET"] = "1"
