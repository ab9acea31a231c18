"""The limit of connections: uvicorn's own would be answered by plain text."""

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from orienteer.service.errors import MEDIA, Refused
from orienteer.service.settings import Settings

PROBE = "/healthz"
"""Answered in any crowd: a server that is full is not dead."""


class Crowd:
    """An ASGI layer that answers 503 and hangs up while too many connections are open.

    `app.state.connections`, a function, counts them.
    """

    def __init__(self, app: ASGIApp, settings: Settings):
        self.app, self.most = app, settings.connections

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] != PROBE:
            count = scope["app"].state.connections()
            if count > self.most:
                refused = Refused(503, "busy", f"{count} connections are open, {self.most} are allowed", retry_after=1)
                headers = refused.headers | {"Connection": "close"}
                await Response(refused.content, refused.status, headers, MEDIA)(scope, receive, send)
                return
        await self.app(scope, receive, send)
