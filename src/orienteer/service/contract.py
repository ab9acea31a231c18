"""What goes over HTTP: requests and answers, which the OpenAPI description is made of."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, WithJsonSchema

MOST_SEED = 2**63 - 1
MOST_STEPS = 10**12

Node = Annotated[int, Field(ge=0)] | str
"""A place by number, counted from 0, or by name."""


_NODE = {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string"}]}


class Request(BaseModel):
    """A body that says nothing unknown."""

    model_config = ConfigDict(extra="forbid", strict=True)


class GivenRoute(Request):
    """A route as answers have it, of which only the nodes are read."""

    model_config = ConfigDict(extra="ignore", strict=True)
    nodes: list[Node]


def _form(plan: Any) -> str:
    """Which form a plan is given in, by its first entry; the blanks keep these names out of the paths of errors."""
    first = plan[0] if isinstance(plan, list) and plan else None
    if isinstance(first, dict | GivenRoute):
        return "list of objects"
    return "one route" if isinstance(first, int | float | str) else "list of lists"


_NODES = {"type": "array", "items": _NODE}
_ROUTE = {
    "type": "object",
    "properties": {"nodes": _NODES | {"description": "The nodes from start to end, by number or name."}},
    "required": ["nodes"],
}
PlanNodes = Annotated[
    Annotated[list[Node], Tag("one route")]
    | Annotated[list[list[Node]], Tag("list of lists")]
    | Annotated[list[GivenRoute], Tag("list of objects")],
    Discriminator(_form),
    WithJsonSchema({"anyOf": [_NODES, *({"type": "array", "items": one} for one in (_NODES, _ROUTE))]}),
]
"""A plan: the nodes of its only route, lists with the nodes of each, or the `routes` of an answer."""
_SHAPES = "the nodes of each route, those of the only route, or the `routes` of an answer"


def lists_of(plan: PlanNodes) -> list[list[Node]]:
    """The nodes of each route."""
    only = [one for one in plan if isinstance(one, int | str)]
    if only:
        return [only]
    return [one.nodes if isinstance(one, GivenRoute) else one for one in plan if not isinstance(one, int | str)]


class Ask(Request):
    """A problem and how to search it."""

    problem: dict[str, Any] = Field(description="The problem, as in JSON files.")
    solver: str = Field("auto", description="One of GET /v1/solvers.")
    seconds: float | None = Field(None, gt=0, allow_inf_nan=False, description="Time limit of the search.")
    steps: int | None = Field(None, ge=0, le=MOST_STEPS, description="Step limit: same seed, same result.")
    seed: int = Field(0, ge=0, le=MOST_SEED, description="For the random choices.")
    alternatives: int = Field(0, ge=0, description="How many other good plans that differ.")
    bound: bool = Field(False, description="Whether to put an upper bound beside the plan.")
    initial: PlanNodes | None = Field(None, description=f"A plan to begin with: {_SHAPES}.")
    hint: PlanNodes | None = Field(None, description="As initial, but left aside where it breaks a rule.")


class AskWhy(Request):
    """A problem, a plan, and the places that the plan leaves out."""

    problem: dict[str, Any] = Field(description="The problem, as in JSON files.")
    routes: PlanNodes = Field(description=f"The plan: {_SHAPES}.")
    places: list[Node] = Field(default=[], description="Places to explain; none: those that came closest.")
    seconds: float = Field(1.0, gt=0, allow_inf_nan=False, description="Time limit of the searches, all together.")
    seed: int = Field(0, ge=0, le=MOST_SEED, description="For the random choices.")


class AskFile(Request):
    """A problem, a plan, and the format of a file that holds the plan."""

    problem: dict[str, Any] = Field(description="The problem, as in JSON files.")
    routes: PlanNodes = Field(description=f"The plan: {_SHAPES}.")
    format: Literal["gpx", "geojson", "csv", "json"] = Field(description="The format; csv is a timetable.")


class FileProblem(BaseModel):
    """The problem in a file, as a list of places."""

    problem: dict[str, Any] = Field(description="The problem, as requests take it.")
    warnings: list[str] = Field(description="What the file has that was not read.")


class Stop(BaseModel):
    """A stop of a route, with its times in the unit of costs, counted from 0 or from midnight of the first day."""

    model_config = ConfigDict(extra="allow")
    node: int = Field(description="The place, counted from 0.")
    arrive: float = Field(description="When the route arrives.")
    wait: float = Field(description="How long it waits until the place opens.")
    begin: float = Field(description="When the visit begins.")
    leave: float = Field(description="When the visit ends and the route goes on.")
    clock: dict[str, str] | None = Field(None, description="arrive, begin and leave as times of day, with a clock.")


class Route(BaseModel):
    """A route of a plan."""

    model_config = ConfigDict(extra="allow")
    nodes: list[int] = Field(description="The places from start to end, both included, counted from 0.")
    prize: float = Field(description="What the route collects.")
    cost: float = Field(description="What the route costs: ways, visits and waits.")
    name: str | None = Field(None, description="The route's own name, if it has one.")
    free_end: bool | None = Field(None, description="Whether the route may stop anywhere.")
    names: list[str] | None = Field(None, description="The names of the nodes, where places have names.")
    stops: list[Stop] | None = Field(None, description="The stops with their times, one for each node.")


class Plan(BaseModel):
    """An alternative."""

    model_config = ConfigDict(extra="allow")
    tour: list[int] | None = Field(None, description="The nodes of the only route.")
    routes: list[Route] = Field(description="The routes, in the order of the problem.")
    prize: float = Field(description="What all routes collect.")
    cost: float = Field(description="What all routes cost.")


class Answer(BaseModel):
    """What `orienteer solve --json` prints."""

    model_config = ConfigDict(extra="allow")
    tour: list[int] | None = Field(None, description="The nodes of the only route; absent with several routes.")
    routes: list[Route] | None = Field(description="The routes, in the order of the problem; null without a plan.")
    names: list[str] | None = Field(None, description="The names of the nodes of `tour`, where places have names.")
    prize: float | None = Field(description="What all routes collect; null without a plan.")
    cost: float | None = Field(description="What all routes cost; null without a plan.")
    limit: float | None = Field(description="What a route may cost; of several routes the largest limit.")
    start: int | None = Field(None, description="Where the only route starts.")
    end: int | None = Field(None, description="Where the only route ends.")
    bound: float | None = Field(description="No plan collects more; null where no bound is known.")
    gap: float | None = Field(description="The bound's distance above the prize, as a share of the bound.")
    status: Literal["optimal", "stopped", "none found", "infeasible"] = Field(
        description="optimal: the bound meets the prize. stopped: a plan, perhaps not the best. "
        "infeasible: proven that there is no plan. none found: no plan, and no proof that there is none."
    )
    seconds: float = Field(description="How long the search took.")
    steps: int = Field(description="How many steps the search took.")
    trace: list[list[float]] = Field(description="Seconds, steps and prize of each better plan, as they were found.")
    seed: int = Field(description="The seed of the request.")
    solver: str = Field(description="The solver of the request.")
    settings: dict[str, Any] = Field(description="The solver's configuration.")
    version: str = Field(description="The version of orienteer that searched.")
    alternatives: list[Plan] = Field(description="Other good plans that differ, the best first.")


class News(BaseModel):
    """The best plan so far."""

    prize: float | None = Field(description="What its routes collect; null while there is no plan.")
    cost: float | None = Field(description="What its routes cost; null while there is no plan.")
    bound: float | None = Field(description="No plan collects more; null while no bound is known.")
    gap: float | None = Field(description="The bound's distance above the prize, as a share of the bound.")
    seconds: float = Field(description="When it was found, counted from the beginning of the search.")
    routes: list[list[int]] | None = Field(description="The nodes of each route; null while there is no plan.")


class Job(BaseModel):
    """A search that was accepted."""

    id: str = Field(description="By which the job is asked for: /v1/jobs/ID.")
    status: Literal["queued", "running", "done", "failed", "cancelled"] = Field(
        description="queued: it waits for a worker. done, failed and cancelled are final; a job that is cancelled has "
        "its best plan so far as result, if it had begun."
    )
    created: str = Field(description="When the job was accepted, such as 2026-03-01T09:30:00.000+00:00.")
    started: str | None = Field(description="When a worker began with it; null before.")
    finished: str | None = Field(description="When it ended; null before.")
    reason: str | None = Field(description="Why the job failed.")
    best: News | None = Field(description="The best plan so far; null while there is none.")
    result: Answer | None = Field(description="The answer, as of POST /v1/solve; null until the job has ended.")


class Worth(BaseModel):
    """What a short search found with a place required."""

    change: float | None = Field(description="What it collects more than the plan; null where no plan was found.")
    routes: list[list[int]] | None = Field(description="The nodes of each route; null where no plan was found.")


class Explanation(BaseModel):
    """Why a place is not in a plan: an entry of what `orienteer explain --json` prints."""

    model_config = ConfigDict(extra="allow")
    node: int = Field(description="The place, counted from 0.")
    name: str | None = Field(description="Its name, where places have names.")
    prize: float = Field(description="What the place would add.")
    route: int = Field(description="The route into which it comes closest to fitting, counted from 0.")
    place: int = Field(description="The stop that it would be on that route; the start is stop 0.")
    before: int = Field(description="The node before it there.")
    after: int | None = Field(description="The node behind it there; null after the last stop of a free end.")
    detour: float | None = Field(description="What visit and way would cost more; null where there is no way.")
    slack: float = Field(description="What the route leaves of its limit.")
    reason: Literal["way", "window", "limit", "required", "group", "budget", "nothing"] = Field(
        description="The rule that stops it. way: no way leads there, as to a place that is avoided. nothing: it fits."
    )
    excess: float | None = Field(description="By how much that rule would be exceeded; null where there is no way.")
    broken: list[str] = Field(description="All rules that the plan would break with it, in words.")
    required: Worth | None = Field(None, description="Of places that the request names: the outcome with it required.")


class SolverInfo(BaseModel):
    """A solver that requests may name."""

    name: str = Field(description="What requests call it.")
    summary: str = Field(description="What it does, in a line.")
    paper: str = Field(description="Where it comes from.")
    handles: list[str] = Field(description="What problems may have beyond the plain one.")


class Tiles(BaseModel):
    """Map tiles of the page."""

    url: str = Field(description="Their address, with {z}, {x} and {y}.")
    attribution: str = Field(description="What must stand beside the map.")


class Limits(BaseModel):
    """What a request may ask for."""

    places: int = Field(description="The most places of a problem.")
    seconds: float = Field(description="The most seconds of POST /v1/solve.")
    job_seconds: float = Field(description="The most seconds of a job.")
    alternatives: int = Field(description="The most alternatives.")
    body_bytes: int = Field(description="The most bytes of a body.")
    queue: int = Field(description="The most jobs that wait for a worker.")
    tiles: Tiles | None = Field(description="Map tiles of the page; null without any.")


class Problem(BaseModel):
    """A problem document (RFC 9457): why a request was refused. (What is searched is an OrienteeringProblem.)"""

    type: str = Field(description="The kind of error: a part of the page /docs.")
    title: str = Field(description="The kind of error in words.")
    status: int = Field(description="The HTTP status.")
    detail: str = Field(description="What is wrong with this request, and what is wished.")
    field: str | None = Field(description="The value at fault, such as problem.prizes[3]; null where there is none.")
