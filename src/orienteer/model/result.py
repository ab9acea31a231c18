"""What a solver returns, and its form as JSON."""

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from orienteer.model.clock import time_of_day
from orienteer.model.errors import MissingExtra
from orienteer.model.explain import Explanation, explain
from orienteer.model.instance import Instance
from orienteer.model.plan import Plan
from orienteer.model.tour import Tour, Visit

if TYPE_CHECKING:
    import pandas

Status = Literal["optimal", "stopped", "none found", "infeasible"]
STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True)
class Improvement:
    """A moment at which a search found a better route."""

    seconds: float
    """Seconds since the search began."""
    steps: int
    """Steps done by then."""
    prize: float
    """What the better route collects."""


@dataclass(frozen=True)
class Result:
    """The answer of a solver and how it came about.

    `status` is "optimal" only when the bound meets the prize, "stopped" where it does not. Every plain problem has a
    route; with required places, opening hours or several routes there may be no plan: then `plan` is None and `status`
    "infeasible" where that is proven, "none found" where it is not.
    """

    plan: Plan | None
    """The best plan found; None where there is none."""
    status: Status
    """"optimal", "stopped", "none found" or "infeasible"."""
    seconds: float
    """How long the search took."""
    steps: int
    """How many steps it took; the solver's page says what a step is."""
    solver: str
    """The solver's name."""
    seed: int
    """The seed of its random choices."""
    bound: float = math.inf
    """No route can collect more than this; infinite unless a bound was asked for or the route is proven the best."""
    limit: float | None = None
    """The most that the route was allowed to cost; None in results of old files."""
    settings: dict[str, Any] = field(default_factory=dict)
    """The solver's configuration, as plain values."""
    trace: tuple[Improvement, ...] = ()
    """When the search found better plans, in order."""
    version: str = ""
    """The version of orienteer that made the result."""
    alternatives: tuple[Plan, ...] = ()
    """Other good plans, by falling prize, which differ from `plan` and from each other."""
    instance: Instance | None = field(default=None, repr=False, compare=False)
    """The problem, in results of `orienteer.solve`; None in results of batches and in those read from a file."""

    @property
    def found(self) -> Plan:
        """The plan, or an error where there is none."""
        if self.plan is None:
            raise ValueError(f"there is no plan: {self.status}")
        return self.plan

    @property
    def routes(self) -> tuple[Tour, ...]:
        """The routes of the plan."""
        return self.found.routes

    @property
    def tour(self) -> Tour:
        """The route of a problem that has one."""
        return self.found.tour

    @property
    def prize(self) -> float:
        """What the plan collects; minus infinity where there is none."""
        return -math.inf if self.plan is None else self.plan.prize

    @property
    def cost(self) -> float:
        """What the plan costs, all routes together."""
        return self.found.cost

    @property
    def start(self) -> int:
        """Where the first route starts."""
        return self.routes[0].nodes[0]

    @property
    def end(self) -> int:
        """Where the first route ends."""
        return self.routes[0].nodes[-1]

    @property
    def gap(self) -> float:
        """The bound's distance above the prize, as a share of the bound; infinite where there is no bound."""
        if self.plan is None or math.isinf(self.bound):
            return math.inf
        return (self.bound - self.prize) / self.bound if self.bound else 0.0

    def stops(self, instance: Instance | None = None, route: int = 0) -> list[Visit]:
        """The stops of a route, by default the first, in order: node, name, prize, leg, cost so far and times.

        `instance` is the problem; it is needed for results of a batch or from a file, which do not hold it.
        """
        problem = self.instance if instance is None else instance
        if problem is None:
            raise ValueError("this result does not know its instance, so stops and to_frame must be given the instance")
        return self.found.stops(problem)[route]

    def explain(self, node: int | str, instance: Instance | None = None) -> Explanation:
        """Why a node, given by number or name, is not in the plan; `instance` as for `stops`."""
        problem = self.instance if instance is None else instance
        if problem is None:
            raise ValueError("this result does not know its instance, so explain must be given the instance")
        return explain(problem, self.found, node)

    def to_frame(self, instance: Instance | None = None, route: int | None = None) -> "pandas.DataFrame":
        """The stops as a pandas table with the number of their route, counted from 0; by default of all routes.

        Arguments as for `stops`.
        """
        try:
            import pandas
        except ImportError as error:
            raise MissingExtra("to_frame", "pandas", "pip install pandas") from error
        numbers = range(len(self.routes)) if route is None else [route]
        rows = [(number, *visit) for number in numbers for visit in self.stops(instance, number)]
        return pandas.DataFrame(rows, columns=["route", *Visit._fields])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; an unknown bound is None. Stops have times where the result has its problem."""
        plan = self.plan
        single = plan is not None and len(plan.routes) == 1
        known = None if self.instance is None else self.instance.names
        return {
            **({"tour": list(self.tour.nodes)} if single else {}),
            "routes": None if plan is None else _routes(plan, self.instance),
            "prize": None if plan is None else plan.prize,
            "cost": None if plan is None else plan.cost,
            "limit": self.limit,
            **({"start": self.start, "end": self.end} if single else {}),
            "bound": None if math.isinf(self.bound) else self.bound,
            "gap": None if math.isinf(self.gap) else self.gap,
            "status": self.status,
            "seconds": self.seconds,
            "steps": self.steps,
            "trace": [[moment.seconds, moment.steps, moment.prize] for moment in self.trace],
            "seed": self.seed,
            "solver": self.solver,
            "settings": self.settings,
            "version": self.version,
            "alternatives": [plan_dict(other, self.instance) for other in self.alternatives],
            **({"names": [known[node] for node in self.tour.nodes]} if single and known is not None else {}),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Result":
        """The inverse of `to_dict`."""
        if data["status"] not in STATUSES:
            raise ValueError(f"status must be one of {', '.join(map(repr, STATUSES))}, got {data['status']!r}")
        plan = _plan(data) if data["prize"] is not None else None
        if (plan is None) != (data["status"] in ("none found", "infeasible")):
            raise ValueError(f"a result with status {data['status']!r} must {'not ' if plan else ''}have a plan")
        return cls(
            plan=plan,
            status=data["status"],
            seconds=float(data["seconds"]),
            steps=int(data["steps"]),
            solver=str(data["solver"]),
            seed=int(data["seed"]),
            bound=math.inf if data["bound"] is None else float(data["bound"]),
            limit=None if data.get("limit") is None else float(data["limit"]),
            settings=dict(data["settings"]),
            trace=tuple(Improvement(float(s), int(k), float(p)) for s, k, p in data["trace"]),
            version=str(data["version"]),
            alternatives=tuple(_plan(other) for other in data.get("alternatives", ())),
        )

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps(self.to_dict())

    def _repr_html_(self) -> str:
        from orienteer.model.show import result_html

        return result_html(self)

    @classmethod
    def from_json(cls, text: str) -> "Result":
        """The inverse of `to_json`."""
        return cls.from_dict(json.loads(text))


def _routes(plan: Plan, instance: Instance | None) -> list[dict[str, Any]]:
    """The routes as plain values, with names and times where the problem is known."""
    routes: list[dict[str, Any]] = [
        {"nodes": list(tour.nodes), "prize": tour.prize, "cost": tour.cost} for tour in plan.routes
    ]
    if instance is not None:
        for route, own, visits in zip(routes, instance.each_route, plan.stops(instance), strict=True):
            if own.name:
                route["name"] = own.name
            if own.end is None:
                route["free_end"] = True
            if instance.names is not None:
                route["names"] = [visit.name for visit in visits]
            route["stops"] = [_stop(visit, instance) for visit in visits]
    return routes


def _stop(visit: Visit, instance: Instance) -> dict[str, Any]:
    times = {key: getattr(visit, key) for key in ("arrive", "wait", "begin", "leave")}
    if instance.clock is None:
        return {"node": visit.node, **times}
    clock = {key: time_of_day(times[key], instance.clock) for key in ("arrive", "begin", "leave")}
    return {"node": visit.node, **times, "clock": clock}


def plan_dict(plan: Plan, instance: Instance | None = None) -> dict[str, Any]:
    """A plan as plain values, with names and times where the problem is known."""
    single = {"tour": list(plan.nodes)} if len(plan.routes) == 1 else {}
    return {**single, "routes": _routes(plan, instance), "prize": plan.prize, "cost": plan.cost}


def _plan(data: dict[str, Any]) -> Plan:
    """The plan in `to_dict`'s form; files of before there were plans hold the key `tour` alone."""
    prize, cost = float(data["prize"]), float(data["cost"])
    routes = data.get("routes") or [{"nodes": data["tour"], "prize": prize, "cost": cost}]
    tours = (
        Tour(tuple(int(node) for node in route["nodes"]), float(route["prize"]), float(route["cost"]))
        for route in routes
    )
    return Plan(tuple(tours), prize, cost)
