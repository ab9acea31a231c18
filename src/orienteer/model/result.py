"""What a solver returns, and its form as JSON."""

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from orienteer.model.errors import MissingExtra
from orienteer.model.instance import Instance
from orienteer.model.tour import Tour, Visit

if TYPE_CHECKING:
    import pandas

Status = Literal["optimal", "stopped"]


@dataclass(frozen=True)
class Improvement:
    """A moment at which a search found a better route."""

    seconds: float
    steps: int
    prize: float


@dataclass(frozen=True)
class Result:
    """The answer of a solver and how it came about.

    `status` is "optimal" only when the bound meets the prize, "stopped" otherwise. There is always a route, since every
    valid instance has one.
    """

    tour: Tour
    status: Status
    seconds: float
    steps: int
    solver: str
    seed: int
    bound: float = math.inf
    """No route can collect more than this; infinite unless a bound was asked for or the route is proven the best."""
    limit: float | None = None
    """The most that the route was allowed to cost; None in results of old files."""
    settings: dict[str, Any] = field(default_factory=dict)
    trace: tuple[Improvement, ...] = ()
    version: str = ""
    alternatives: tuple[Tour, ...] = ()
    """Other good routes, by falling prize, which differ from `tour` and from each other."""
    instance: Instance | None = field(default=None, repr=False, compare=False)
    """The problem, in results of `orienteer.solve`; None in results of batches and in those read from a file."""

    @property
    def prize(self) -> float:
        """What the route collects."""
        return self.tour.prize

    @property
    def cost(self) -> float:
        """What the route costs."""
        return self.tour.cost

    @property
    def start(self) -> int:
        """Where the route starts."""
        return self.tour.nodes[0]

    @property
    def end(self) -> int:
        """Where the route ends."""
        return self.tour.nodes[-1]

    @property
    def gap(self) -> float:
        """The bound's distance above the prize, as a share of the bound; infinite where there is no bound."""
        if math.isinf(self.bound):
            return math.inf
        return (self.bound - self.prize) / self.bound if self.bound else 0.0

    def stops(self, instance: Instance | None = None) -> list[Visit]:
        """The stops in order: place, node, name, prize, leg and cost so far.

        `instance` is the problem; it is needed for results of a batch or from a file, which do not hold it.
        """
        problem = self.instance if instance is None else instance
        if problem is None:
            raise ValueError("this result does not know its instance, so stops and to_frame must be given the instance")
        return self.tour.stops(problem)

    def to_frame(self, instance: Instance | None = None) -> "pandas.DataFrame":
        """The stops as a pandas table; `instance` as for `stops`."""
        try:
            import pandas
        except ImportError as error:
            raise MissingExtra("to_frame", "pandas", "pip install pandas") from error
        return pandas.DataFrame(self.stops(instance), columns=list(Visit._fields))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; an unknown bound is None."""
        return {
            "tour": list(self.tour.nodes),
            "prize": self.prize,
            "cost": self.cost,
            "limit": self.limit,
            "start": self.start,
            "end": self.end,
            "bound": None if math.isinf(self.bound) else self.bound,
            "status": self.status,
            "seconds": self.seconds,
            "steps": self.steps,
            "trace": [[moment.seconds, moment.steps, moment.prize] for moment in self.trace],
            "seed": self.seed,
            "solver": self.solver,
            "settings": self.settings,
            "version": self.version,
            "alternatives": [
                {"tour": list(tour.nodes), "prize": tour.prize, "cost": tour.cost} for tour in self.alternatives
            ],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Result":
        """The inverse of `to_dict`."""
        if data["status"] not in ("optimal", "stopped"):
            raise ValueError(f"status must be 'optimal' or 'stopped', got {data['status']!r}")
        return cls(
            tour=_tour(data),
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
            alternatives=tuple(_tour(other) for other in data.get("alternatives", ())),
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


def _tour(data: dict[str, Any]) -> Tour:
    return Tour(tuple(int(node) for node in data["tour"]), float(data["prize"]), float(data["cost"]))
