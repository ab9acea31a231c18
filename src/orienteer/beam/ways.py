"""A search from both ends: a problem and the same problem turned round go side by side through one batch."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from orienteer.beam.alternatives import alternatives
from orienteer.beam.expand import Expander
from orienteer.beam.meet import MARGIN
from orienteer.beam.problems import Problems
from orienteer.beam.recombine import BASES, Over, never, recombined
from orienteer.model.instance import Instance


def put_together(instances: Sequence[Instance], ways: int, device: torch.device) -> Problems:
    """The batch in which every instance has `ways` rows, one after the other: as it is, and turned round."""
    if ways == 1:
        return Problems.from_instances(instances, device)
    problems = Problems.from_instances([row for one in instances for row in (one, one.turned())], device)
    share = torch.tensor((1.0, 1.0 - MARGIN), dtype=problems.limit.dtype, device=device)
    return replace(problems, limit=problems.limit * share.repeat(len(instances)))


@dataclass(frozen=True)
class Found:
    """What a search of such a batch has found, instance by instance."""

    expander: Expander
    ways: int
    better: list[list[int]] | None = None  # (instance,) routes at least as good as any that a path has become

    def recombined(self, over: Over = never, bases: int = BASES) -> "Found":
        """The same with the best that can be made of all paths, or what is made of them until it is `over`.

        Stretches of the `bases` best of them are exchanged.
        """
        return replace(self, better=recombined(self.expander.log, self.ways, self.routes(), self.prize, over, bases))

    @property
    def prize(self) -> Tensor:
        """(instance,) of the best route that a path has become; minus infinity where there is none."""
        return self._of_better_side(self.expander.best.prize)

    @property
    def cost(self) -> Tensor:
        """(instance,) of that route."""
        return self._of_better_side(self.expander.best.cost)

    def routes(self) -> list[list[int]]:
        """The best route of each instance, from its start to its end; an empty list where none has closed."""
        if self.better is not None:
            return self.better
        found, sides = self.expander.routes(), self._better_side().tolist()
        return [self._forwards(side, found[number * self.ways + side]) for number, side in enumerate(sides)]

    def others(self, number: int, count: int, best: list[int]) -> list[list[int]]:
        """Up to `count` - 1 good routes of an instance beside its best, from the side that has the better ones."""
        side = int(self._better_side()[number])
        routes = alternatives(self.expander, number * self.ways + side, count, self._forwards(side, best))
        return [self._forwards(side, route) for route in routes]

    def _better_side(self) -> Tensor:
        """(instance,) 1 where the best route is one from the end: by prize, by cost, and then by which came first."""
        best = self.expander.best
        prize, cost, parent = (one.view(-1, self.ways) for one in (best.prize, best.cost, best.parent))
        sooner = (cost[:, -1] == cost[:, 0]) & (parent[:, -1] < parent[:, 0])
        better = (prize[:, -1] == prize[:, 0]) & ((cost[:, -1] < cost[:, 0]) | sooner)
        return ((prize[:, -1] > prize[:, 0]) | better).long()  # a side is not better than itself

    def _of_better_side(self, values: Tensor) -> Tensor:
        if self.ways == 1:
            return values
        return values.view(-1, self.ways).gather(1, self._better_side()[:, None])[:, 0]

    def _forwards(self, side: int, route: list[int]) -> list[int]:
        return route[::-1] if side else route
