"""What other people's solvers share: whole numbers for costs and prizes, time to the second, a clear word if absent."""

import importlib
import importlib.util
from abc import abstractmethod
from importlib.metadata import version
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from orienteer.model.errors import MissingExtra
from orienteer.model.instance import Instance
from orienteer.model.rules import Route
from orienteer.search.run import Run
from orienteer.search.solver import Config, Solver
from orienteer.search.stop import MaxSeconds, Stop

Whole = npt.NDArray[np.int64]


class Peer(Solver[Config]):
    """Another package's solver; subclasses say which package and define `inner_routes`, called once."""

    package: ClassVar[str]
    """The name to import."""
    module: ClassVar[str] = ""
    """The module that does the work, where importing the package alone does not load it."""
    distribution: ClassVar[str]
    """The name to install."""

    def __init__(self, config: Config | None = None):
        super().__init__(config)
        if not self.installed():
            raise MissingExtra(f"the comparison with {self.distribution}", "peers")

    @classmethod
    def installed(cls) -> bool:
        """Whether the package is there."""
        return importlib.util.find_spec(cls.package) is not None

    @property
    def version(self) -> str:
        """The other package's version: a result is its own."""
        return f"{self.distribution} {version(self.distribution)}"

    def prepare(self, instance: Instance) -> None:
        importlib.import_module(self.module or self.package)  # takes as long as many an instance

    def default_stop(self, instance: Instance) -> Stop:
        return MaxSeconds(1.0)

    def search(self, run: Run, seed: int) -> None:
        seconds = run.stop.seconds_left(run.now())
        instance = run.instance
        found = self.inner_routes(instance, seconds if np.isfinite(seconds) else 1.0, seed)
        if found is not None and all(
            inner or _can_idle(instance, route) for inner, route in zip(found, instance.each_route, strict=True)
        ):
            routes = [
                [route.start, *inner, *([] if route.end is None else [route.end])]
                for inner, route in zip(found, instance.each_route, strict=True)
            ]
            if instance.features:
                run.offer_plan(routes)
            else:
                run.offer(routes[0])
        run.step()

    @abstractmethod
    def inner_routes(self, instance: Instance, seconds: float, seed: int) -> list[list[int]] | None:
        """For each route the nodes between its start and end, as the package finds them within `seconds`.

        None where the package finds no plan.
        """


def _can_idle(instance: Instance, route: Route) -> bool:
    """Whether a route may go from its start straight to its end."""
    if route.end is None or route.start == route.end:
        return True
    return bool(instance.costs[route.start, route.end] <= route.limit + instance.slack)


def whole_costs(instance: Instance, limit: int) -> Whole:
    """(n, n) costs on a scale where the instance's limit is `limit`.

    They are rounded up, so that no route seems to fit that does not; up to the sixth decimal, which may be an error of
    the scaling. Ways that are too dear for any route all cost twice the limit.
    """
    with np.errstate(over="ignore"):
        share = np.minimum(instance.costs / instance.limit, 2.0)
    costs = np.ceil(np.round(share * limit, 6)).astype(np.int64)
    np.fill_diagonal(costs, 0)
    return costs


def whole_prizes(instance: Instance, largest: int) -> Whole:
    """(n,) prizes as whole numbers, `largest` for the most within reach, at least 1 for what is worth something."""
    within = np.where(instance.reachable, instance.prizes, 0.0)
    scaled = np.round(within / (float(within.max()) or 1.0) * largest).astype(np.int64)
    return np.where(within > 0, np.maximum(scaled, 1), 0)


def inner_nodes(instance: Instance) -> list[int]:
    """The nodes that a route may visit: not start, not end, within reach, worth something."""
    ends = {instance.start, instance.end}
    return [
        node
        for node in range(instance.size)
        if node not in ends and instance.reachable[node] and instance.prizes[node] > 0
    ]
