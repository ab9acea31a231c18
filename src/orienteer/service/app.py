"""The routes of the service."""

import asyncio
import contextlib
import hashlib
import json
import re
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any

from fastapi import FastAPI, Header, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, HTMLResponse, StreamingResponse
from starlette.types import Scope

from orienteer.model.errors import OrienteerError
from orienteer.search.registry import REGISTRY, handled_by
from orienteer.service import contract
from orienteer.service.body import is_packed, read_body
from orienteer.service.crowd import Crowd
from orienteer.service.engine import make_engine
from orienteer.service.errors import MEDIA, Refused
from orienteer.service.files import FILE, LONGEST_NAME, may_expand
from orienteer.service.jobs import Jobs, found, job_json
from orienteer.service.metrics import MEDIA as METRICS
from orienteer.service.metrics import Metrics, Watch
from orienteer.service.pages import FOLDER, NOT_BUILT, STYLE, description
from orienteer.service.pool import Died, Pool
from orienteer.service.problem_schema import REF, SCHEMAS
from orienteer.service.security import GUARDED, Security
from orienteer.service.settings import Settings, words
from orienteer.service.store import Job, NewJob, make_store
from orienteer.service.work import GEOJSON, GPX, JSON, Kind, Reply, Task, perform
from orienteer.version import __version__

EVENTS = "text/event-stream"
SMALL_BODY = 256 * 1024
"""Bytes of a job that is checked by a thread of the server; a longer one would hold up others."""
SMALL_FILE = 8 * 1024
"""Bytes of a file that is read by a thread of the server, so that the page is there before workers have warmed up."""
LARGEST_BODIES = 32
"""How many of the largest bodies allowed the server holds at a time, or more smaller ones."""
_AGAIN = "The same key gives the same job, so that a request whose answer was lost can be sent again."
_GO_ON = "The id of the last event that was seen: a stream that broke off goes on behind it."
IdempotencyKey = Annotated[str | None, Header(min_length=1, max_length=255, description=_AGAIN)]
JobId = Annotated[str, Path(description="The id of the job.")]
FileName = Annotated[str, Query(min_length=1, max_length=LONGEST_NAME, description="Its suffix tells the format.")]
LastEventId = Annotated[str | None, Header(max_length=100, description=_GO_ON)]
_BYTES = {"type": "string", "format": "binary"}
_LOCATION = {"Location": {"description": "Where the job is", "schema": {"type": "string"}}}

_PROBLEM = {
    "description": "A problem document",
    "content": {MEDIA: {"schema": {"$ref": "#/components/schemas/Problem"}}},
}

FORMATS = (JSON, GEOJSON, GPX)
"""The media types of plans."""
_AS_FILES = {GEOJSON: {"schema": {"type": "object"}}, GPX: {"schema": {"type": "string"}}}
"""What plans are in the other formats, which `Accept` asks for."""
BODIES = (contract.Ask, contract.AskWhy, contract.AskFile)
"""What is sent to the service as JSON."""


class App(FastAPI):
    """An application that describes its errors and its token as they are."""

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI description."""
        if self.openapi_schema is None:
            self.openapi_schema = _mended(super().openapi(), bool(self.state.settings.token))
        return self.openapi_schema


def _mended(described: dict[str, Any], guarded: bool) -> dict[str, Any]:
    """FastAPI's description with problem documents as the only errors, and with the token of a `guarded` server."""
    parts = described["components"]
    for name in ("HTTPValidationError", "ValidationError"):
        parts["schemas"].pop(name, None)
    parts["schemas"] |= SCHEMAS | {one.__name__: _schema(one) for one in (*BODIES, contract.News, contract.Problem)}
    for name in ("FileProblem", *(one.__name__ for one in BODIES)):
        field = parts["schemas"][name]["properties"]["problem"]
        parts["schemas"][name]["properties"]["problem"] = {
            "$ref": f"{REF}OrienteeringProblem",
            "description": field["description"],
        }
    parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    for path, methods in described["paths"].items():
        for operation in methods.values():
            answers = operation["responses"]
            if "HTTPValidationError" in str(answers.get("422")):
                del answers["422"]  # what FastAPI would answer; see `_invalid`
            if path.startswith(GUARDED):
                operation["security"] = [{"token": []}] if guarded else [{}, {"token": []}]
    return described


def create_app(settings: Settings) -> FastAPI:
    """The application; its state holds the pool of workers."""
    app = App(
        generate_unique_id_function=lambda route: route.name,  # what generated clients call their functions
        title="orienteer",
        version=__version__,
        description="Routes that collect the most prize within a limit.",
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
    )
    app.state.settings = settings
    app.state.in_flight = app.state.streams = app.state.held = 0
    app.state.draining = False
    app.state.wrong = None  # why the server could not start
    app.state.connections = lambda: 0  # until a server counts them
    _add_routes(app)
    _add_pages(app)
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(_Replied, _replied)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(Exception, _failed)
    app.add_middleware(Crowd, settings=settings)
    app.add_middleware(Security, settings=settings)
    app.state.metrics = Metrics(app.state)
    app.add_middleware(Watch, metrics=app.state.metrics)
    if settings.cors:  # outermost: browsers ask first without the token, and read refusals too
        from starlette.middleware.cors import CORSMiddleware

        app.add_middleware(
            CORSMiddleware,
            allow_origins=words(settings.cors),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID"],
            expose_headers=["Location", "Retry-After"],
        )
    return app


@contextlib.asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    settings = app.state.settings
    state = app.state
    state.store, engine = make_store(settings), make_engine(settings)
    await state.store.open()
    try:
        workers = await engine.open()
    except OrienteerError as error:
        state.wrong = error
        raise
    state.pool = Pool(settings, engine, settings.workers or workers)
    state.jobs = Jobs(state.store, state.pool, settings)
    state.pool.start()
    state.jobs.start()
    try:
        yield
    finally:
        await state.jobs.stop()
        await state.store.close()
        await engine.close()


def _body(model: type[contract.Request]) -> dict[str, Any]:
    """The description of a body that is read as bytes: it is decoded where a long one blocks nobody."""
    return {"requestBody": {"required": True, "content": {JSON: {"schema": {"$ref": REF + model.__name__}}}}}


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    """The description of an object that FastAPI does not find by itself."""
    schema = model.model_json_schema(ref_template=REF + "{model}")
    schema.pop("$defs", None)
    return schema


def _problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return dict.fromkeys((400, 401, 413, 415, 421, *statuses), _PROBLEM)


def _add_routes(app: FastAPI) -> None:
    @app.post(
        "/v1/solve",
        summary="Solve a problem and wait for the answer",
        description="For a search of seconds. The plan as a file: Accept: application/gpx+xml or application/geo+json.",
        response_model=None,
        responses={200: {"model": contract.Answer, "content": _AS_FILES}, **_problems(406, 408, 422, 429, 503)},
        openapi_extra=_body(contract.Ask),
    )
    async def solve(request: Request) -> Response:
        return await answered(request, "solve", accepted(request))

    @app.post(
        "/v1/explain",
        summary="Say why places are not in a plan",
        description="Where a place comes closest to fitting, what stops it, and what a plan with it would be worth.",
        response_model=None,
        responses={200: {"model": list[contract.Explanation]}, **_problems(408, 422, 429, 503)},
        openapi_extra=_body(contract.AskWhy),
    )
    async def explain(request: Request) -> Response:
        return await answered(request, "explain", JSON)

    @app.post(
        "/v1/read",
        summary="Read a file as a problem of places",
        description="For files that are no JSON problem, such as CSV, GPX and spreadsheets.",
        response_model=None,
        responses={200: {"model": contract.FileProblem}, **_problems(408, 422, 429, 503)},
        openapi_extra={"requestBody": {"required": True, "content": {FILE: {"schema": _BYTES}}}},
    )
    async def read(request: Request, name: FileName) -> Response:
        return await answered(request, "read", JSON, FILE, (name.encode(errors="replace"),))

    @app.post(
        "/v1/write",
        summary="Write a plan as a file",
        description="The plan is checked against the problem before it is written.",
        response_class=Response,
        responses={200: {"content": {FILE: {}}, "description": "The file"}, **_problems(408, 422, 429, 503)},
        openapi_extra=_body(contract.AskFile),
    )
    async def write(request: Request) -> Response:
        return await answered(request, "write", JSON)

    @app.post(
        "/v1/jobs",
        summary="Hand in a search that goes on by itself",
        description="For longer searches. The job's address is in Location; ask there, or follow its events.",
        status_code=202,
        response_model=None,
        responses={202: {"model": contract.Job, "headers": _LOCATION}, **_problems(408, 422, 429, 503)},
        openapi_extra=_body(contract.Ask),
    )
    async def add_job(request: Request, idempotency_key: IdempotencyKey = None) -> Response:
        check_running(request)
        with _waiting(request):
            job = await _added(request, idempotency_key)
        return Response(job_json(job), 202, {"Location": f"/v1/jobs/{job.id}"}, JSON)

    @app.get(
        "/v1/jobs/{id}",
        summary="A job, with its result as soon as there is one",
        description="The plan as a file: Accept: application/gpx+xml or application/geo+json.",
        response_model=None,
        responses={200: {"model": contract.Job, "content": _AS_FILES}, **_problems(404, 406, 409, 422, 429, 503)},
    )
    async def get_job(request: Request, id: JobId) -> Response:
        media, state = accepted(request), request.app.state
        job = found(await state.store.get(id), id)
        if media == JSON:
            return Response(job_json(job), media_type=JSON)
        if job.result is None:
            raise Refused(409, "no-result", f"the job is {job.status} and has no result")
        with _waiting(request):
            body = await state.store.body(id) or b""
            reply = await _worked(state.pool, state.settings, Task("render", body, media, (job.result,)))
        return Response(reply.content, reply.status, reply.headers, reply.media)

    @app.get(
        "/v1/jobs/{id}/events",
        summary="The improvements of a job, as they are found",
        description="Events: improvement and bound (a better plan, a lower bound; data: News), at last end (the Job).",
        response_class=Response,
        responses={
            200: {"content": {EVENTS: {"schema": {"type": "string"}}}, "description": "Server-sent events"},
            204: {"description": "The client has seen the end"},
            **_problems(404, 429, 503),
        },
    )
    async def events(request: Request, id: JobId, last_event_id: LastEventId = None) -> Response:
        state = request.app.state
        job = found(await state.store.get(id), id)
        after = _number(last_event_id)
        seen, ended = await state.store.events(job.number, 0) if after else ([], None)
        if ended is not None and after > (seen[-1].number if seen else 0):
            return Response(status_code=204)
        if state.streams >= state.settings.streams:
            raise Refused(429, "busy", f"{state.streams} streams are open already", retry_after=5)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(_counted(state, state.jobs.stream(job, after)), 200, headers, EVENTS)

    @app.delete(
        "/v1/jobs/{id}",
        summary="Cancel a job and keep the best so far",
        description="A search that runs ends, with its best plan so far as result. A job that has ended stays.",
        response_model=None,
        responses={200: {"model": contract.Job}, **_problems(404, 503)},
    )
    async def cancel_job(request: Request, id: JobId) -> Response:
        job = found(await request.app.state.jobs.cancel(id), id)
        return Response(job_json(job), media_type=JSON)

    @app.get("/v1/solvers", summary="The solvers that requests may name", responses=_problems())
    async def solvers(request: Request) -> list[contract.SolverInfo]:
        return known

    @app.get("/v1/limits", summary="What requests may ask for", responses=_problems())
    async def limits(request: Request) -> contract.Limits:
        return bounds

    @app.get("/healthz", summary="Whether the server answers")
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/readyz", summary="Whether the server takes work", responses={503: _PROBLEM})
    async def readyz(request: Request) -> dict[str, str]:
        check_running(request)
        if not request.app.state.pool.is_ready:
            raise Refused(503, "not-ready", "the workers are warming up", retry_after=1)
        await request.app.state.store.counts()  # refuses where the store is away
        return {"status": "ok"}

    @app.get(
        "/metrics",
        summary="Metrics for Prometheus",
        response_class=Response,
        responses={200: {"content": {METRICS: {"schema": {"type": "string"}}}}, **_problems()},
    )
    async def metrics(request: Request) -> Response:
        state = request.app.state
        with contextlib.suppress(Refused):  # where the store is away, the last ones
            state.counts = await state.store.counts()
        return Response(state.metrics.text(), media_type=METRICS)

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

    @app.get("/", include_in_schema=False)
    async def index() -> Response:
        built = FOLDER / "index.html"
        if not built.exists():
            return HTMLResponse(NOT_BUILT)
        return FileResponse(built, headers={"Cache-Control": "no-cache"})

    if (FOLDER / "assets").exists():
        app.mount("/assets", _Files(directory=FOLDER / "assets"))


class _Files(StaticFiles):
    """The files of the page; there are hashes in their names, so that they never change."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response


def _solvers(settings: Settings) -> list[contract.SolverInfo]:
    found = []
    if unknown := [name for name in settings.allowed if name not in REGISTRY]:
        raise ValueError(f"--solvers must be of {', '.join(REGISTRY)}, got {unknown[0]!r}")
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


@contextlib.contextmanager
def _waiting(request: Request) -> Iterator[None]:
    """Counts a request and the bytes of its body; refuses the request where too many wait, or too large ones."""
    state = request.app.state
    most = state.settings.body_bytes
    length = request.headers.get("content-length", "")
    size = min(int(length[:20]), most) if length.isdecimal() else most
    if is_packed(request):
        size = state.settings.unpacked_bytes
    if state.in_flight >= state.settings.waiting or (state.held and state.held + size > LARGEST_BODIES * most):
        raise Refused(429, "busy", f"{state.in_flight} requests wait already", retry_after=1)
    state.in_flight += 1
    state.held += size
    try:
        yield
    finally:
        state.in_flight -= 1
        state.held -= size


async def answered(
    request: Request, kind: Kind, media: str, sent: str = JSON, parts: tuple[bytes, ...] = ()
) -> Response:
    """The answer of a worker, as `media`, to a request whose client waits for it; `sent` is what the client sends."""
    check_running(request)
    state = request.app.state
    with _waiting(request):
        body = await read_body(request, state.settings, sent)
        task = Task(kind, body, media, parts)
        if kind == "read" and len(body) <= SMALL_FILE and not may_expand(parts[0].decode()):
            work = asyncio.to_thread(perform, task, state.settings, "cpu", lambda kind, data: None, lambda: False)
        else:
            work = _worked(state.pool, state.settings, task)
        reply = await _unless_gone(request, work)
    return Response(reply.content, reply.status, reply.headers, reply.media)


async def _added(request: Request, key: str | None) -> Job:
    """The job of a request, accepted and on disk."""
    state = request.app.state
    settings: Settings = state.settings
    body = await read_body(request, settings)
    task = Task("check", body)
    if len(body) <= SMALL_BODY or not settings.quick:
        reply = await asyncio.to_thread(perform, task, settings, "cpu", lambda kind, data: None, lambda: False)
    else:
        reply = await _worked(state.pool, settings, task)
    if reply.status != 200:
        raise _Replied(reply)
    facts = json.loads(reply.content)
    client = request.client.host if request.client is not None else ""
    digest = hashlib.sha256(body).digest()
    batch = facts["batch"] if settings.batching != "off" else None
    job = await state.store.add(NewJob(client, body, digest, facts["seconds"], key, batch))
    state.jobs.wake()
    return job


async def _counted(state: Any, stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    state.streams += 1
    try:
        async for part in stream:
            yield part
    finally:
        state.streams -= 1


def _number(text: str | None) -> int:
    """The number of the last event that a client has seen; 0 where the header makes no sense."""
    return int(text) if text is not None and re.fullmatch(r"\d{1,9}", text, re.ASCII) else 0


async def _worked(pool: Pool, settings: Settings, task: Task) -> Reply:
    seconds = settings.solve_most + settings.grace_seconds
    reason = ""
    for _ in range(2):  # a worker may die for reasons of its own: the task is tried once more
        async with pool.lease("answer", settings.wait_seconds) as worker:
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


class _Replied(Exception):
    """A worker's reply that refuses a request."""

    def __init__(self, reply: Reply):
        super().__init__(reply.status)
        self.reply = reply


async def _replied(request: Request, error: Exception) -> Response:
    assert isinstance(error, _Replied)
    return Response(error.reply.content, error.reply.status, error.reply.headers, error.reply.media)


async def _invalid(request: Request, error: Exception) -> Response:
    """A header or a path that is not as described."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    field = str(first["loc"][-1])
    refused = Refused(400, "bad-request", f"{field}: {first['msg']}", field)
    return Response(refused.content, refused.status, media_type=MEDIA)


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
