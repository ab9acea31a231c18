"""Who may ask, and what browsers are told: bearer token, names of the host, headers."""

import hmac
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orienteer.service.errors import MEDIA, Refused
from orienteer.service.settings import Settings, words

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), payment=()",
}
OPEN = ("/healthz", "/readyz", "/openapi.json", "/docs")
"""What is answered without a token, besides the page: nothing in them is about anybody's problems."""
GUARDED = ("/v1/", "/metrics")


class Security:
    """An ASGI layer that refuses strangers and sets the headers of all answers."""

    def __init__(self, app: ASGIApp, settings: Settings):
        self.app = app
        self.token = settings.token.encode()
        self.hosts = {"localhost", "127.0.0.1", "[::1]", settings.host, *words(settings.hosts)}
        self.headers = HEADERS | {"Content-Security-Policy": content_policy(settings)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    headers.setdefault(name, value)
                if scope["path"].startswith("/v1/"):
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        try:
            self._check(scope["path"], Headers(scope=scope))
        except Refused as refused:
            answer = Response(refused.content, refused.status, refused.headers, MEDIA)
            await answer(scope, receive, send_with_headers)
            return
        await self.app(scope, receive, send_with_headers)

    def _check(self, path: str, headers: Headers) -> None:
        """Refuses a request without the token; where there is none, one that calls this machine by a strange name.

        A page of somebody else can let its own name stand for 127.0.0.1 and so speak to a service on this machine; the
        name in the header Host gives it away.
        """
        if self.token:
            if path.startswith(GUARDED) and not self._knows_token(headers.get("authorization", "")):
                raise Refused(401, "unauthorized", "the header Authorization must be: Bearer TOKEN")
        elif (host := _name(headers.get("host", ""))) not in self.hosts:
            raise Refused(421, "unknown-host", f"the service does not go by the name {host[:100]!r} (--hosts)")

    def _knows_token(self, header: str) -> bool:
        scheme, _, given = header.partition(" ")
        return hmac.compare_digest(given.strip().encode(), self.token) and scheme.lower() == "bearer"


def content_policy(settings: Settings) -> str:
    """What the page may load: its own files, and map tiles from their server."""
    tiles = urlsplit(settings.tiles_url.replace("{s}.", "*."))
    images = f" {tiles.scheme}://{tiles.netloc}" if tiles.netloc else ""
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            f"img-src 'self' data: blob:{images}",
            "font-src 'self'",
            "connect-src 'self'",
            "manifest-src 'self'",
            "form-action 'none'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
        )
    )


def _name(host: str) -> str:
    """The name in a header Host, without the port."""
    return host[: host.index("]") + 1] if host.startswith("[") and "]" in host else host.partition(":")[0]
