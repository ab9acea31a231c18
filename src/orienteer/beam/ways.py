"""A search from both ends: a problem and the same problem turned round go side by side through one batch."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from orienteer.beam.alternatives import alternatives
from orienteer.beam.expand import Expander
from orienteer.beam.problems import Problems
from orienteer.core.instance import Instance
from orienteer.core.tour import route_cost


def put_together(instances: Sequence[Instance], ways: int, device: torch.device) -> Problems:
    """The batch in which every instance has `ways` rows, one after the other: as it is, and turned round."""
    rows = [row for one in instances for row in ((one,) if ways == 1 else (one, one.turned()))]
    return Problems.from_instances(rows, device)


@dataclass(frozen=True)
class Found:
    """What a search of such a batch has found, instance by instance."""

    expander: Expander
    instances: Sequence[Instance]
    ways: int

    @property
    def prize(self) -> Tensor:
        """(instance,) of the best route so far; minus infinity where there is none."""
        return self._best_sides(self.expander.best.prize)

    @property
    def cost(self) -> Tensor:
        """(instance,) of that route."""
        return self._best_sides(self.expander.best.cost)

    def routes(self) -> list[list[int]]:
        """The best route of each instance, from its start to its end; an empty list where none has closed."""
        found = self.expander.routes()
        routes = []
        for number, side in enumerate(self._better_side().tolist()):
            both = (side, 1 - side)[: self.ways]
            rows = (self._forwards(number, one, found[number * self.ways + one]) for one in both)
            routes.append(next((route for route in rows if route), []))
        return routes

    def others(self, number: int, count: int) -> list[list[int]]:
        """Up to `count` - 1 good routes of an instance beside its best, from the side that found that."""
        side = int(self._better_side()[number])
        routes = alternatives(self.expander, number * self.ways + side, count)[1:]
        return [turned for route in routes if (turned := self._forwards(number, side, route))]

    def _better_side(self) -> Tensor:
        """(instance,) 1 where the search from the end has the better route, or the same prize at less cost."""
        prize, cost = (one.view(-1, self.ways) for one in (self.expander.best.prize, self.expander.best.cost))
        better = (prize[:, -1] > prize[:, 0]) | ((prize[:, -1] == prize[:, 0]) & (cost[:, -1] < cost[:, 0]))
        return better.long()  # of one side alone, none is better

    def _best_sides(self, values: Tensor) -> Tensor:
        return values.view(-1, self.ways).gather(1, self._better_side()[:, None])[:, 0]

    def _forwards(self, number: int, side: int, route: list[int]) -> list[int]:
        """The route from start to end; none where costs, summed up in this order, are above the limit by rounding."""
        if side == 0 or not route:
            return route
        instance, forwards = self.instances[number], route[::-1]
        return forwards if route_cost(instance, forwards) <= instance.budget else []
