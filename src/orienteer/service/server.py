"""The server process: uvicorn with the application."""

import asyncio
import logging
import socket
import time
from types import FrameType

import uvicorn

from orienteer.service.app import create_app
from orienteer.service.engine import make_engine
from orienteer.service.settings import Settings, check_reach
from orienteer.service.store import make_store


def serve(settings: Settings) -> None:
    """Serves until the process is told to stop."""
    check_reach(settings)
    make_engine(settings)
    asyncio.run(_try_store(settings))
    app = create_app(settings)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        access_log=False,
        log_level="info",
        server_header=False,
        ws="none",
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=settings.proxies or None,
        timeout_graceful_shutdown=2,
    )
    logging.getLogger("orienteer").setLevel(logging.INFO)
    server = _Server(config)
    app.state.connections = lambda: len(server.server_state.connections)
    server.run()
    if app.state.wrong is not None:
        raise app.state.wrong


async def _try_store(settings: Settings) -> None:
    """Opens and closes the store, so that what is wrong with it is told in a line before the server starts."""
    store = make_store(settings)
    await store.open()
    await store.close()


class _Server(uvicorn.Server):
    """A server that first drains when it is told to stop, and answers 503 meanwhile; told twice, it stops at once."""

    draining: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for server in self.servers:
            for one in server.sockets:
                host, port, *_ = one.getsockname()
                name = f"[{host}]" if ":" in host else host
                print(f"orienteer serves http://{name}:{port}/", flush=True)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.draining is None:
            self.draining = asyncio.get_running_loop().create_task(self._drain())
        else:
            self.should_exit = True

    async def _drain(self) -> None:
        state = self.config.app.state  # type: ignore[union-attr]
        seconds = state.settings.drain_seconds
        logging.getLogger("uvicorn.error").info("Draining for at most %g s; a second signal stops at once", seconds)
        state.draining = True
        if not hasattr(state, "jobs"):  # told to stop while it starts
            self.should_exit = True
            return
        state.jobs.drain()
        end = time.monotonic() + seconds
        while (state.in_flight or state.jobs.running) and time.monotonic() < end and not self.should_exit:
            await asyncio.sleep(0.02)
        state.jobs.hang_up()
        self.should_exit = True
