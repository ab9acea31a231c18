"""The two backends, for tests that hold on both."""

import pytest

from backends import BACKENDS
from orienteer.beam.backend.protocol import Backend


@pytest.fixture(scope="module", params=BACKENDS.values(), ids=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    """Every backend in turn."""
    chosen: Backend = request.param
    return chosen
