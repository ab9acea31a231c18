"""The solvers of `bench_methods`, for the time of a test."""

from collections.abc import Iterator

import pytest

import bench_methods
from orienteer import REGISTRY


@pytest.fixture(autouse=True)
def solvers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Registers them, and forgets them."""
    before = dict(REGISTRY)
    bench_methods.register()
    yield
    REGISTRY.clear()
    REGISTRY.update(before)
