"""The server process: uvicorn with the application."""

import logging

import uvicorn

from orienteer.service.app import create_app
from orienteer.service.settings import Settings, check_reach


def serve(settings: Settings) -> None:
    """Serves until the process is told to stop."""
    check_reach(settings)
    app = create_app(settings)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        access_log=False,
        log_level="info",
        server_header=False,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=settings.proxies or None,
        timeout_graceful_shutdown=2,
    )
    logging.getLogger("orienteer").setLevel(logging.INFO)
    uvicorn.Server(config).run()
