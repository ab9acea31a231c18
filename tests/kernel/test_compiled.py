"""The decorator of kernels."""

import re
from pathlib import Path

import numpy as np

import orienteer
from orienteer.kernel import kernel


def test_all_compiled_loops_use_the_decorator() -> None:
    """All compiled loops use the decorator, so that all let other threads run and are kept in files."""
    source = Path(orienteer.__file__).parent
    imports = re.compile(r"^\s*(import|from) numba", re.MULTILINE)
    users = [path for path in source.rglob("*.py") if imports.search(path.read_text())]
    assert {path.relative_to(source).parts[0] for path in users} == {"kernel"}


def test_a_kernel_divides_as_numpy_does() -> None:
    @kernel
    def ratio(x: float, y: float) -> float:
        return x / y

    assert ratio(1.0, 0.0) == np.inf
