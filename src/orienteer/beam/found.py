"""What a search has found, also where a problem and the same problem turned round go side by side through one batch."""

from dataclasses import dataclass, replace

from orienteer.beam.alternatives import alternatives
from orienteer.beam.backend.protocol import Over
from orienteer.beam.expand import Expander
from orienteer.beam.problems import Array
from orienteer.beam.recombine import BASES, never_over, recombined


@dataclass(frozen=True)
class Found:
    """The routes of a batch in which every instance has a row for each of its `directions`."""

    expander: Expander
    directions: int
    better: list[list[int]] | None = None  # (instance,) routes at least as good as any that a path has become

    def recombined(self, over: Over = never_over, bases: int = BASES) -> "Found":
        """A copy with the best routes that recombining all paths makes, or made before `over()` was true.

        Stretches of the `bases` best paths are exchanged.
        """
        made = recombined(self.expander, self.directions, self.routes(), self.prize, over, bases)
        return replace(self, better=made)

    @property
    def prize(self) -> Array:
        """(instance,) prize of the best route that a path has become; minus infinity where there is none."""
        return self._of_better_side(self.expander.best.prize)

    @property
    def cost(self) -> Array:
        """(instance,) cost of the best route that a path has become."""
        return self._of_better_side(self.expander.best.cost)

    def routes(self) -> list[list[int]]:
        """The best route of each instance, from its start to its end; an empty list where none has closed."""
        if self.better is not None:
            return self.better
        found, sides = self.expander.routes(), self._better_side().tolist()
        return [self._forwards(side, found[number * self.directions + side]) for number, side in enumerate(sides)]

    def others(self, number: int, count: int, best: list[int]) -> list[list[int]]:
        """Up to `count` - 1 good routes of an instance beside its best, from the side that has the better ones."""
        side = int(self._better_side()[number])
        routes = alternatives(self.expander, number * self.directions + side, count, self._forwards(side, best))
        return [self._forwards(side, route) for route in routes]

    def _better_side(self) -> Array:
        """(instance,) 1 where the best route was searched from the end: by prize, by cost, then the first found."""
        best = self.expander.best
        prize, cost, parent = (one.reshape(-1, self.directions) for one in (best.prize, best.cost, best.parent))
        sooner = (cost[:, -1] == cost[:, 0]) & (parent[:, -1] < parent[:, 0])
        better = (prize[:, -1] == prize[:, 0]) & ((cost[:, -1] < cost[:, 0]) | sooner)
        return 1 * ((prize[:, -1] > prize[:, 0]) | better)  # a side is not better than itself

    def _of_better_side(self, values: Array) -> Array:
        if self.directions == 1:
            return values
        rows = self.expander.problems.arange(len(values) // self.directions)
        return values.reshape(-1, self.directions)[rows, self._better_side()]

    def _forwards(self, side: int, route: list[int]) -> list[int]:
        return route[::-1] if side else route
