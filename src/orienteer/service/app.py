"""The routes of the service."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse

from orienteer.search.cores import cores
from orienteer.search.registry import REGISTRY, handled_by
from orienteer.service import contract
from orienteer.service.body import read_body
from orienteer.service.errors import MEDIA, Refused
from orienteer.service.pages import FOLDER, NOT_BUILT, STYLE, description
from orienteer.service.pool import Died, Pool
from orienteer.service.security import Security
from orienteer.service.settings import Settings, words
from orienteer.service.work import JSON, Kind, Reply, Task
from orienteer.version import __version__

FORMATS = (JSON, "application/geo+json", "application/gpx+xml")
"""The media types of plans."""


def create_app(settings: Settings) -> FastAPI:
    """The application; its state holds the pool of workers."""
    app = FastAPI(
        title="orienteer",
        version=__version__,
        description="Routes that collect the most prize within a limit.",
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
    )
    app.state.settings = settings
    app.state.in_flight = 0
    app.state.draining = False
    _add_routes(app)
    _add_pages(app)
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _failed)
    if settings.cors:
        from starlette.middleware.cors import CORSMiddleware

        app.add_middleware(
            CORSMiddleware,
            allow_origins=words(settings.cors),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID"],
            expose_headers=["Location", "Retry-After"],
        )
    app.add_middleware(Security, settings=settings)
    return app


@contextlib.asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    settings = app.state.settings
    app.state.pool = pool = Pool(settings, settings.workers or cores())
    pool.start()
    try:
        yield
    finally:
        pool.close()


def _body(model: type[contract.Request]) -> dict[str, Any]:
    """The description of a body that is read as bytes: it is decoded where a long one blocks nobody."""
    schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
    schema.pop("$defs", None)
    return {"requestBody": {"required": True, "content": {JSON: {"schema": schema}}}}


def _problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    problem = {"model": contract.Problem, "content": {MEDIA: {}}}
    return {status: problem | {"description": "A problem document"} for status in (400, 401, 413, 415, 421, *statuses)}


def _add_routes(app: FastAPI) -> None:
    @app.post(
        "/v1/solve",
        summary="Solve a problem and wait for the answer",
        response_model=None,
        responses={200: {"model": contract.Answer}, **_problems(406, 408, 422, 429, 503)},
        openapi_extra=_body(contract.Ask),
    )
    async def solve(request: Request) -> Response:
        return await _answered(request, "solve", accepted(request))

    @app.post(
        "/v1/explain",
        summary="Say why places are not in a plan",
        response_model=None,
        responses={200: {"model": list[contract.Explanation]}, **_problems(408, 422, 429, 503)},
        openapi_extra=_body(contract.AskWhy),
    )
    async def explain(request: Request) -> Response:
        return await _answered(request, "explain", JSON)

    @app.get("/v1/solvers", summary="The solvers that requests may name", responses=_problems())
    async def solvers(request: Request) -> list[contract.SolverInfo]:
        return known

    @app.get("/v1/limits", summary="What requests may ask for", responses=_problems())
    async def limits(request: Request) -> contract.Limits:
        return bounds

    @app.get("/healthz", summary="Whether the server answers")
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/readyz", summary="Whether the server takes work", responses={503: {"model": contract.Problem}})
    async def readyz(request: Request) -> dict[str, str]:
        check_running(request)
        if not request.app.state.pool.is_ready:
            raise Refused(503, "not-ready", "the workers are warming up", retry_after=1)
        return {"status": "ok"}

    settings: Settings = app.state.settings
    known = list(_solvers(settings))
    tiles = contract.Tiles(url=settings.tiles_url, attribution=settings.tiles_attribution)
    bounds = contract.Limits(
        places=settings.places,
        seconds=settings.solve_most,
        job_seconds=settings.job_most,
        alternatives=settings.alternatives,
        body_bytes=settings.body_bytes,
        queue=settings.queue,
        tiles=tiles if settings.tiles_url else None,
    )


def _add_pages(app: FastAPI) -> None:
    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(description(app.openapi()))

    @app.get("/docs.css", include_in_schema=False)
    async def style() -> Response:
        return Response(STYLE, media_type="text/css")

    if (FOLDER / "index.html").exists():
        app.mount("/", StaticFiles(directory=FOLDER, html=True))
    else:

        @app.get("/", include_in_schema=False)
        async def index() -> HTMLResponse:
            return HTMLResponse(NOT_BUILT)


def _solvers(settings: Settings) -> list[contract.SolverInfo]:
    found = []
    for name in settings.allowed:
        entry, handles = REGISTRY[name], handled_by(name)
        if handles is not None:
            found.append(
                contract.SolverInfo(name=name, summary=entry.summary, paper=entry.paper, handles=sorted(handles))
            )
    return found


def check_running(request: Request) -> None:
    """Refuses new work while the server stops."""
    if request.app.state.draining:
        raise Refused(503, "draining", "the service is stopping; try again soon", retry_after=5)


def accepted(request: Request) -> str:
    """The media type of `FORMATS` that the client likes best."""
    wishes = []
    for part in request.headers.get("accept", "*/*").split(",")[:100]:
        media, *parameters = (word.strip().lower() for word in part.split(";"))
        quality = next((word[2:] for word in parameters if word.startswith("q=")), "1")
        with contextlib.suppress(ValueError):
            wishes.append((-float(quality), media))
    for rank, media in sorted(wishes, key=lambda wish: wish[0]):
        if rank < 0:
            for known in FORMATS:
                if media in (known, "*/*", "application/*"):
                    return known
    raise Refused(406, "not-acceptable", f"plans come as {', '.join(FORMATS)}")


async def _answered(request: Request, kind: Kind, media: str) -> Response:
    """The answer of a worker to a request whose client waits for it."""
    check_running(request)
    state = request.app.state
    if state.in_flight >= state.settings.waiting:
        raise Refused(429, "busy", f"{state.in_flight} requests wait already", retry_after=1)
    state.in_flight += 1
    try:
        body = await read_body(request, state.settings)
        reply = await _unless_gone(request, _worked(state.pool, state.settings, Task(kind, body, media)))
    finally:
        state.in_flight -= 1
    return Response(reply.content, reply.status, reply.headers, reply.media)


async def _worked(pool: Pool, settings: Settings, task: Task) -> Reply:
    seconds = settings.solve_most + settings.grace_seconds
    reason = ""
    for _ in range(2):  # a worker may die for reasons of its own: the task is tried once more
        async with pool.lease(quick=True) as worker:
            try:
                return await worker.run(task, seconds)
            except Died as died:
                reason = str(died)
    return Reply.of(Refused(500, "failed", f"twice {reason}"))


async def _unless_gone(request: Request, work: Any) -> Reply:
    """The reply, or an end of the work as soon as the client hangs up."""
    doing = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait((doing, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not doing.done():
            raise Refused(499, "failed", "the client hung up")
        return doing.result()
    finally:
        doing.cancel()
        leaving.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return Response(error.content, error.status, error.headers, MEDIA)


async def _http_error(request: Request, error: Exception) -> Response:
    """What the framework refuses: unknown paths and methods."""
    assert isinstance(error, HTTPException)
    kind = {404: "not-found", 405: "not-allowed"}.get(error.status_code, "bad-request")
    refused = Refused(error.status_code, kind, f"{request.method} {request.url.path[:200]}: {error.detail}")
    return Response(refused.content, refused.status, {**(error.headers or {}), **refused.headers}, MEDIA)


async def _failed(request: Request, error: Exception) -> Response:
    refused = Refused(500, "failed", "an error of the program, which is logged")
    return Response(refused.content, refused.status, media_type=MEDIA)
