"""The default: picks a method for the problem."""

from typing import Any

from orienteer.core.instance import Instance
from orienteer.core.run import Run
from orienteer.core.solver import Solver
from orienteer.core.stop import Stop
from orienteer.heuristics.neighbourhood import NeighbourhoodSearch


class Auto(Solver):
    """The large neighbourhood search, for now: it is the best there is at every size and time limit.

    The settings of its results name the method chosen and that method's own settings.
    """

    name = "auto"

    def __init__(self, config: Any = None):
        super().__init__(config)
        self.choice: Solver = NeighbourhoodSearch()

    def default_stop(self, instance: Instance) -> Stop:
        return self.choice.default_stop(instance)

    def prepare(self, instance: Instance) -> None:
        self.choice.prepare(instance)

    def search(self, run: Run, seed: int) -> None:
        self.choice.search(run, seed)

    @property
    def settings(self) -> dict[str, Any]:
        return {"choice": self.choice.name, **self.choice.settings}
