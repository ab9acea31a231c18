"""What worker processes do with a task."""

import dataclasses
import json
import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from orienteer.data.geojson import plan_geojson
from orienteer.data.gpx import plan_gpx
from orienteer.model.errors import BadFile
from orienteer.model.explain import closest, explain
from orienteer.model.plan import Plan
from orienteer.model.result import Result
from orienteer.search.explain import worth_with
from orienteer.search.front import solve, solve_batch
from orienteer.search.stop import AnyOf, MaxSeconds, Progress, When
from orienteer.service.asked import Search, read_search, read_why
from orienteer.service.errors import MEDIA, Refused
from orienteer.service.files import read_file, write_file
from orienteer.service.settings import Settings

Kind = Literal["solve", "job", "batch", "explain", "check", "render", "read", "write"]
Tell = Callable[[str, bytes], None]
"""Called with the name of an event, "improvement" or "bound", and its data."""
Cancelled = Callable[[], bool]

Value = TypeVar("Value")

JSON, GEOJSON, GPX = "application/json", "application/geo+json", "application/gpx+xml"

_log = logging.getLogger("orienteer")


@dataclass(frozen=True)
class Task:
    """A piece of work for a worker."""

    kind: Kind
    body: bytes
    format: str = JSON
    """The media type of the answer."""
    parts: tuple[bytes, ...] = ()
    """The bodies of jobs that are searched together, the result to be rendered, or the name of the file to be read."""


@dataclass(frozen=True)
class Reply:
    """The answer of a worker, as it goes to the client."""

    status: int
    content: bytes
    media: str = JSON
    headers: dict[str, str] = dataclasses.field(default_factory=dict)
    news: bytes | None = None
    """The event of an answer that came without others."""
    parts: tuple["Reply", ...] = ()
    """The replies to jobs that were searched together."""

    @classmethod
    def of(cls, refused: Refused) -> "Reply":
        """The reply to a request that is refused."""
        return cls(refused.status, refused.content, MEDIA, refused.headers)


def perform(task: Task, settings: Settings, device: str, tell: Tell, cancelled: Cancelled) -> Reply:
    """The reply to a task."""
    try:
        if task.kind == "explain":
            return _explained(task, settings)
        if task.kind == "read":
            return Reply(200, read_file(task.body, task.parts[0].decode(), settings))
        if task.kind == "write":
            return Reply(200, *write_file(task.body, settings))
        if task.kind == "batch":
            return _together(task, settings, device, cancelled)
        search = read_search(task.body, settings, task.kind == "solve")
        if task.kind == "check":
            return Reply(200, json.dumps({"seconds": search.seconds, "batch": search.batch}).encode())
        if task.kind == "render":
            result = dataclasses.replace(Result.from_json(task.parts[0].decode()), instance=search.instance)
            return answer(search, result, task.format)
        return answer(search, _searched(search, tell, cancelled), task.format)
    except Refused as refused:
        return Reply.of(refused)


def answer(search: Search, result: Result, media: str = JSON) -> Reply:
    """A result in the format that a client asked for."""
    if media == JSON:
        return Reply(200, json.dumps(result.to_dict()).encode(), media)
    if result.plan is None:
        raise Refused(422, "unsolvable", f"there is no plan to be drawn: {result.status}")
    try:
        if media == GEOJSON:
            return Reply(200, json.dumps(plan_geojson(search.instance, result.plan)).encode(), media)
        return Reply(200, plan_gpx(search.instance, result.plan).encode(), media)
    except BadFile as error:  # no latitudes and longitudes
        raise Refused(406, "not-acceptable", error.message) from error


def _searched(search: Search, tell: Tell, cancelled: Cancelled) -> Result:
    ask = search.ask
    return solve(
        search.instance,
        search.solver,
        search.stop,
        ask.seed,
        on_progress=Listener(tell),
        initial=search.initial,
        bound=ask.bound,
        alternatives=ask.alternatives + 1,
        cancelled=search.over(cancelled),
    )


def _together(task: Task, settings: Settings, device: str, cancelled: Cancelled) -> Reply:
    """The replies to jobs of one batch, searched together."""

    def searched(searches: Sequence[Search]) -> list[Reply]:
        first = searches[0]
        over = first.over(cancelled)
        stop = AnyOf(first.stop, When(lambda now: over()))
        results = solve_batch([search.instance for search in searches], first.solver, stop)
        return [_answer_of_batch(search, result) for search, result in zip(searches, results, strict=True)]

    read = [_tried(lambda body=body: read_search(body, settings, False, device)) for body in task.parts]  # type: ignore[misc]
    answers = iter(together_or_alone(searched, [one for one in read if isinstance(one, Search)]))
    return Reply(200, b"", parts=tuple(one if isinstance(one, Reply) else next(answers) for one in read))


def together_or_alone(work: Callable[[Sequence[Value]], Sequence[Reply]], items: Sequence[Value]) -> list[Reply]:
    """What a work on all items gives; where it fails, each item is worked on alone, and only bad ones fail."""
    if len(items) > 1:
        try:
            return list(work(items))
        except MemoryError:
            raise
        except Exception:
            _log.exception("%d jobs that failed together are searched one at a time", len(items))
    return [_tried(lambda item=item: work([item])[0]) for item in items]  # type: ignore[misc]


def _tried(work: Callable[[], Value]) -> Value | Reply:
    """What a work gives, or the reply that says why it failed."""
    try:
        return work()
    except Refused as refused:
        return Reply.of(refused)
    except MemoryError:  # ends the worker, since whatever lacks memory may be half done
        raise
    except Exception as error:
        return failure(error)


def failure(error: Exception) -> Reply:
    """The reply to a task that an error of the program ended; only the log says more than the error's kind."""
    _log.error("a task failed", exc_info=error)
    detail = f"the search ended by an error of the program ({type(error).__name__}), which is logged"
    return Reply.of(Refused(500, "failed", detail))


def _answer_of_batch(search: Search, result: Result) -> Reply:
    whole = dataclasses.replace(result, seed=search.ask.seed, instance=search.instance)
    reply, news = answer(search, whole), list[bytes]()
    listen = Listener(lambda kind, data: news.append(data))
    listen(Progress(result.seconds, result.steps, 0, result.prize, result.bound, plan=result.plan))
    return dataclasses.replace(reply, news=news[-1] if news else None)


def _explained(task: Task, settings: Settings) -> Reply:
    why = read_why(task.body, settings)
    if not why.ask.places:
        return Reply(200, json.dumps([one.to_dict() for one in closest(why.instance, why.plan)]).encode())
    try:
        reasons = [explain(why.instance, why.plan, place) for place in why.ask.places]
    except ValueError as error:
        raise Refused(422, "unsolvable", str(error), "places") from error
    stop, answers = MaxSeconds(why.ask.seconds / len(reasons)), list[dict[str, Any]]()
    for one in reasons:
        worth = worth_with(why.instance, why.plan, one.node, stop, why.ask.seed)
        answers.append(one.to_dict() | {"required": worth.to_dict()})
    return Reply(200, json.dumps(answers).encode())


class Listener:
    """Tells of better plans and lower bounds, and of nothing else that a search reports."""

    def __init__(self, tell: Tell):
        self.tell = tell
        self.plan: Plan | None = None
        self.bound = self.first = math.nan

    def __call__(self, now: Progress) -> None:
        if math.isnan(self.first):
            self.first = self.bound = now.bound  # the prizes of all places within reach, which tells nothing
        better, closer = now.plan is not self.plan, now.bound < self.bound
        if not better and not closer:
            return
        self.plan, self.bound = now.plan, min(now.bound, self.bound)
        self.tell("improvement" if better else "bound", json.dumps(self._news(now)).encode())

    def _news(self, now: Progress) -> dict[str, Any]:
        plan = self.plan
        known = self.bound < self.first or (plan is not None and plan.prize >= self.bound)
        bound = self.bound if known and math.isfinite(self.bound) else None
        return {
            "prize": None if plan is None else plan.prize,
            "cost": None if plan is None else plan.cost,
            "bound": bound,
            "gap": None if plan is None or bound is None else (bound - plan.prize) / bound if bound else 0.0,
            "seconds": now.seconds,
            "routes": None if plan is None else [list(tour.nodes) for tour in plan.routes],
        }
