"""What goes over HTTP: requests and answers, which the OpenAPI description is made of."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, WithJsonSchema

MOST_SEED = 2**63 - 1
MOST_STEPS = 10**12

Node = Annotated[int, Field(ge=0)] | str
"""A place by number, counted from 0, or by name."""


_NUMBERS = {"type": "array", "items": {"type": "number"}}
_NODE = {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string"}]}
_TIME = {"anyOf": [{"type": "number"}, {"type": "string"}], "description": "A number, or a text such as 09:30."}
PROBLEM: dict[str, Any] = {
    "properties": {
        "limit": _TIME | {"description": "The most that a route may cost: a number, or a text such as 8:00."},
        "start": _NODE,
        "end": _NODE,
        "free_end": {"type": "boolean"},
        "prizes": _NUMBERS,
        "coords": {"type": "array", "items": _NUMBERS | {"minItems": 2, "maxItems": 2}},
        "on_earth": {"type": "boolean", "description": "Whether coords are longitude and latitude."},
        "costs": {"type": "array", "items": {"type": "array", "items": {"type": ["number", "null"]}}},
        "table": {"type": "object", "description": "The answer of OSRM or Valhalla to a request for a table."},
        "names": {"type": "array", "items": {"type": "string"}},
        "service": {"type": "array", "items": _TIME},
        "required": {"type": "array", "items": _NODE},
        "windows": {"type": ["array", "object"]},
        "groups": {"type": "array", "items": {"type": "array", "items": _NODE}},
        "routes": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "array", "items": {"type": "object"}}]},
        "budgets": {"type": ["array", "object"]},
        "places": {
            "type": "array",
            "description": "Places one by one, in place of the lists for all of them.",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "lat": {"type": "number"},
                    "lon": {"type": "number"},
                    "x": {"type": "number"},
                    "y": {"type": "number"},
                    "prize": {"type": "number"},
                    "service": _TIME | {"description": "How long a visit takes."},
                    "duration": _TIME | {"description": "Another word for service."},
                    "required": {"type": "boolean"},
                    "avoid": {"type": "boolean"},
                    "start": {"type": "boolean"},
                    "end": {"type": "boolean"},
                    "opens": _TIME,
                    "closes": _TIME,
                    "windows": {"type": ["array", "string"], "description": "In place of opens and closes."},
                    "group": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
                    "weights": {"type": "object"},
                },
            },
        },
        "metric": {"enum": ["euclidean", "manhattan", "great_circle"]},
        "speed": {"type": "number"},
        "unit": {"enum": ["minutes", "seconds", "hours"]},
        "clock": {"enum": ["minutes", "seconds", "hours"]},
    }
}
"""What problems may have, for readers of the description; docs/reference/files.md says more, and readers check."""


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
_ROUTE = {"type": "object", "properties": {"nodes": _NODES}, "required": ["nodes"]}
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

    problem: dict[str, Any] = Field(description="The problem, as in JSON files.", json_schema_extra=PROBLEM)
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

    problem: dict[str, Any] = Field(description="The problem, as in JSON files.", json_schema_extra=PROBLEM)
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

    problem: dict[str, Any]
    warnings: list[str] = Field(description="What the file has that was not read.")


class Stop(BaseModel):
    """A stop of a route, with its times."""

    model_config = ConfigDict(extra="allow")
    node: int
    arrive: float
    wait: float
    begin: float
    leave: float
    clock: dict[str, str] | None = Field(None, description="arrive, begin and leave as times of day, with a clock.")


class Route(BaseModel):
    """A route of a plan."""

    model_config = ConfigDict(extra="allow")
    nodes: list[int]
    prize: float
    cost: float
    name: str | None = None
    free_end: bool | None = None
    names: list[str] | None = Field(None, description="The names of the nodes, where places have names.")
    stops: list[Stop] | None = None


class Plan(BaseModel):
    """An alternative."""

    model_config = ConfigDict(extra="allow")
    tour: list[int] | None = Field(None, description="The nodes of the only route.")
    routes: list[Route]
    prize: float
    cost: float


class Answer(BaseModel):
    """What `orienteer solve --json` prints."""

    model_config = ConfigDict(extra="allow")
    tour: list[int] | None = Field(None, description="The nodes of the only route; absent with several routes.")
    routes: list[Route] | None = Field(description="None where no plan was found.")
    names: list[str] | None = Field(None, description="The names of the nodes of `tour`, where places have names.")
    prize: float | None
    cost: float | None
    limit: float | None
    start: int | None = Field(None, description="Where the only route starts.")
    end: int | None = Field(None, description="Where the only route ends.")
    bound: float | None = Field(description="No plan collects more; null where no bound is known.")
    gap: float | None = Field(description="The bound's distance above the prize, as a share of the bound.")
    status: Literal["optimal", "stopped", "none found", "infeasible"]
    seconds: float
    steps: int
    trace: list[list[float]] = Field(description="Seconds, steps and prize of each better plan, as they were found.")
    seed: int
    solver: str
    settings: dict[str, Any] = Field(description="The solver's configuration.")
    version: str = Field(description="The version of orienteer that searched.")
    alternatives: list[Plan]


class News(BaseModel):
    """The best plan so far."""

    prize: float | None
    cost: float | None
    bound: float | None
    gap: float | None
    seconds: float
    routes: list[list[int]] | None


class Job(BaseModel):
    """A search that was accepted."""

    id: str
    status: Literal["queued", "running", "done", "failed", "cancelled"]
    created: str
    started: str | None
    finished: str | None
    reason: str | None = Field(description="Why the job failed.")
    best: News | None
    result: Answer | None


class Explanation(BaseModel):
    """Why a place is not in a plan: an entry of what `orienteer explain --json` prints."""

    model_config = ConfigDict(extra="allow")
    node: int
    name: str | None
    prize: float
    reason: str
    broken: list[str]


class SolverInfo(BaseModel):
    """A solver that requests may name."""

    name: str
    summary: str
    paper: str
    handles: list[str] = Field(description="What problems may have beyond the plain one.")


class Tiles(BaseModel):
    """Map tiles of the page."""

    url: str
    attribution: str


class Limits(BaseModel):
    """What a request may ask for."""

    places: int
    seconds: float = Field(description="The most seconds of POST /v1/solve.")
    job_seconds: float = Field(description="The most seconds of a job.")
    alternatives: int
    body_bytes: int
    queue: int
    tiles: Tiles | None


class Problem(BaseModel):
    """A problem document (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    field: str | None
