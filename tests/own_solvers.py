"""A solver of somebody's own, and classes that are none."""

from dataclasses import dataclass

from orienteer.model.tour import route_cost
from orienteer.search.run import Run
from orienteer.search.solver import Solver

NUMBER = 3


@dataclass(frozen=True)
class ThereAndBackConfig:
    """Where to go."""

    node: int = 1
    """The node between start and end."""


class ThereAndBack(Solver[ThereAndBackConfig]):
    """One stop, if that is not too far."""

    name, config_class = "there-and-back", ThereAndBackConfig

    def search(self, run: Run, seed: int) -> None:
        route = [run.instance.start, self.config.node, run.instance.end]
        if route_cost(run.instance, route) <= run.instance.budget:
            run.offer(route)
        run.step()


class Nameless(Solver[ThereAndBackConfig]):
    """Has no name."""

    def search(self, run: Run, seed: int) -> None:
        run.step()


class Idle(Solver[ThereAndBackConfig]):
    """Has no search."""

    name = "idle"
