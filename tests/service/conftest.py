"""One server for the tests that neither stop nor fill it."""

from collections.abc import Iterator

import pytest

from servers import Server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("server"), body_bytes=200_000, places=100) as running:
        yield running
