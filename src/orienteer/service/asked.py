"""What a request asks for: its body decoded, its problem built, its options checked."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError

from orienteer.data.json_file import problem_of
from orienteer.model.errors import BadFile, InfeasibleTour, InvalidInstance, MissingExtra, Unsupported
from orienteer.model.instance import Instance
from orienteer.model.plan import Plan, check_plan
from orienteer.model.spelling import did_you_mean
from orienteer.search.registry import make_solver, solver_class
from orienteer.search.settings import field_types
from orienteer.search.solver import AnySolver
from orienteer.search.stop import AnyOf, MaxSeconds, Stop, at_most
from orienteer.service.contract import Ask, AskFile, AskWhy, PlanNodes, Request, lists_of
from orienteer.service.errors import Refused
from orienteer.service.hostile import decode
from orienteer.service.settings import Settings

Body = TypeVar("Body", bound=Request)

LISTS = ("prizes", "places", "coords")
"""Lists of a problem with an entry for each place."""


@dataclass(frozen=True)
class Search:
    """A search that a request asks for."""

    ask: Ask
    instance: Instance
    solver: AnySolver
    initial: Plan | None
    seconds: float
    """The most seconds that the search may take."""

    @property
    def batch(self) -> str | None:
        """A text that is the same for searches that can be done together; None for one that goes alone."""
        ask = self.ask
        if ask.solver != "cs-l" or ask.alternatives or ask.bound or ask.initial or ask.hint:
            return None
        return f"{ask.solver} {ask.seconds} {ask.steps}"

    @property
    def stop(self) -> Stop:
        """When to end: by the request, or else by the solver; a bound gets as much time as the search before it.

        Steps without seconds give the same result as anywhere else: no clock may have a say in them.
        """
        share = self.seconds / 2 if self.ask.bound else self.seconds
        if self.ask.seconds is not None:
            return at_most(share, self.ask.steps)
        if self.ask.steps is not None:
            return at_most(steps=self.ask.steps)
        return AnyOf(self.solver.default_stop(self.instance.reduced), MaxSeconds(share))

    def over(self, cancelled: Callable[[], bool]) -> Callable[[], bool]:
        """A function that says whether the search is cancelled or has taken all its seconds, counted from now."""
        until = time.monotonic() + self.seconds
        return lambda: cancelled() or time.monotonic() >= until


@dataclass(frozen=True)
class Why:
    """An explanation that a request asks for."""

    ask: AskWhy
    instance: Instance
    plan: Plan


def read_search(body: bytes, settings: Settings, quick: bool, device: str = "cpu") -> Search:
    """The search of a body of POST /v1/solve, where `quick`, or of POST /v1/jobs; or `Refused`."""
    ask = _checked(Ask, decode(body, settings))
    most = settings.solve_most if quick else settings.job_most
    seconds = ask.seconds
    if seconds is None:
        seconds = settings.solve_seconds if quick and ask.steps is None else most
    _check_most("seconds", seconds, most, "; for longer searches: POST /v1/jobs" if quick else "")
    _check_most("alternatives", ask.alternatives, settings.alternatives)
    if ask.solver not in settings.allowed:
        hint = did_you_mean(ask.solver, settings.allowed)
        wish = f"solver must be one of {', '.join(settings.allowed)}, got {_short(ask.solver)}{hint}"
        raise Refused(400, "bad-request", wish, "solver")
    instance = _instance(ask.problem, settings)
    try:
        solver = _solver(ask.solver, device)
        solver.check_handled(instance)
        if ask.bound:
            make_solver("exact").check_handled(instance)
    except (Unsupported, MissingExtra) as error:
        raise Refused(422, "unsolvable", str(error), "solver") from error
    initial = _hinted(instance, ask.hint) if ask.initial is None else _plan(instance, ask.initial, "initial")
    return Search(ask, instance, solver, initial, seconds)


def read_why(body: bytes, settings: Settings) -> Why:
    """The explanation that a body of POST /v1/explain asks for, or `Refused`."""
    ask = _checked(AskWhy, decode(body, settings))
    _check_most("seconds", ask.seconds, settings.solve_most)
    instance = _instance(ask.problem, settings)
    return Why(ask, instance, _plan(instance, ask.routes, "routes"))


def read_plan(body: bytes, settings: Settings) -> tuple[AskFile, Instance, Plan]:
    """What a body of POST /v1/write asks for, its problem and its plan, or `Refused`."""
    ask = _checked(AskFile, decode(body, settings))
    instance = _instance(ask.problem, settings)
    return ask, instance, _plan(instance, ask.routes, "routes")


def _checked(model: type[Body], values: Any) -> Body:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        field = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in _path(first["loc"]))[1:]
        raise Refused(400, "bad-request", _said(field, first, model), field or None) from error


def _said(field: str, wrong: Mapping[str, Any], model: type[Request]) -> str:
    """What pydantic finds wrong with a field, in the words of other errors."""
    if wrong["type"] == "missing":
        return f"{field} is required"
    if wrong["type"] == "extra_forbidden":
        known = model.model_fields
        return f"there is no option {_short(field)}; known are {', '.join(known)}{did_you_mean(field, known)}"
    wish = re.sub(r"a valid dictionary( or instance of \w+)?", "an object", wrong["msg"])
    wish = wish.replace("Input should be", "must be") if wish.startswith("Input should be") else f"is wrong: {wish}"
    return f"{field or 'the body'} {wish}, got {_short(wrong['input'])}"


def _path(location: Sequence[str | int]) -> list[str | int]:
    """Where in the body an error is, without pydantic's names for the members of a union."""
    return [part for part in location if isinstance(part, int) or part.isidentifier()]


def _check_most(field: str, value: float, most: float, instead: str = "") -> None:
    if value > most:
        raise Refused(422, "beyond-limits", f"{field} must be at most {most:g}, got {value:g}{instead}", field)


def _instance(problem: dict[str, Any], settings: Settings) -> Instance:
    for key in LISTS:
        value = problem.get(key)
        if isinstance(value, list) and len(value) > settings.places:
            wish = f"{key} has {len(value)} places, at most {settings.places} are searched here"
            raise Refused(422, "beyond-limits", wish, f"problem.{key}")
    try:
        return problem_of(problem)
    except BadFile as error:
        field = "problem" if error.field is None else f"problem.{error.field}"
        known = isinstance(error.__cause__, InvalidInstance)
        raise Refused(*((422, "unsolvable") if known else (400, "bad-problem")), error.message, field) from error


def _solver(name: str, device: str) -> AnySolver:
    settings = {"device": device} if "device" in field_types(solver_class(name).config_class) else {}
    return make_solver(name, **settings)


def _plan(instance: Instance, routes: PlanNodes, field: str) -> Plan:
    try:
        return check_plan(instance, [[instance.find(field, node) for node in nodes] for nodes in lists_of(routes)])
    except (InfeasibleTour, InvalidInstance) as error:
        raise Refused(422, "unsolvable", f"{field}: {error}", field) from error


def _hinted(instance: Instance, routes: PlanNodes | None) -> Plan | None:
    """A plan of an earlier problem, where it is one of this problem too."""
    if routes is None:
        return None
    try:
        return _plan(instance, routes, "hint")
    except Refused:
        return None


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
