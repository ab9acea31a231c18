"""Tsiligirides' heuristics: go on to a node of large prize that is near.

T. Tsiligirides, Heuristic methods applied to orienteering, Journal of the Operational Research Society 35 (1984).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from orienteer.construct.insertion import at_once, construct
from orienteer.model.numbers import Array
from orienteer.search.run import Run
from orienteer.search.solver import Solver


@dataclass(frozen=True)
class TsiliConfig:
    """Settings of Tsiligirides' heuristics; the defaults give the greedy heuristic."""

    tries: int = 1
    """How many routes are built, the first of them greedy, the others random (the S-algorithm; Tsiligirides drew
    3,000); the best is kept."""
    power: float = 4.0
    """The desirability of a node is (prize / cost of the leg to it) to this power."""
    best: int = 4
    """Among how many of the most desirable nodes a random route draws, in proportion to their desirability."""

    def __post_init__(self) -> None:
        for field, least in (("tries", 1), ("power", 0), ("best", 1)):
            if not getattr(self, field) >= least:
                raise ValueError(f"TsiliConfig.{field} must be at least {least}, got {getattr(self, field)}")


class Tsili(Solver[TsiliConfig]):
    """Routes grown by desirability: first the greedy route, then `tries` - 1 random routes. A step is one route."""

    name = "tsili"
    config_class = TsiliConfig

    def search(self, run: Run, seed: int) -> None:
        rng = np.random.default_rng(seed)
        prizes = run.instance.prizes

        def most_desirable(leg: Array, fits: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
            return np.argmax(desirability(prizes, leg, fits), axis=1)

        def drawn(leg: Array, fits: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
            weight = desirability(prizes, leg, fits, self.config.power)
            return _draw(_best_only(weight, self.config.best), rng)

        left, count, choose = self.config.tries, 1, most_desirable
        while left:
            for route in construct(run.instance, count, choose):
                run.offer(route)
            left -= count
            if run.step(count):
                return
            count, choose = int(min(left, at_once(run.instance.size), max(1, run.stop.steps_left(run.now())))), drawn


def desirability(prizes: Array, leg: Array, fits: npt.NDArray[np.bool_], power: float = 1.0) -> Array:
    """(route, node) desirability, scaled so that each route's largest is 1; 0 where a node does not fit.

    A prize that costs nothing to reach outweighs every other. Where no node has a prize, all that fit are alike.
    """
    with np.errstate(all="ignore"):
        ratio = np.where(fits & (prizes > 0), prizes / leg, 0.0)
        most = ratio.max(axis=1, keepdims=True)
        share = np.where(np.isinf(most), np.isinf(ratio), ratio / most)
    return np.where(most > 0, share**power, fits)


def _best_only(weight: Array, count: int) -> Array:
    """The weights, 0 for all but the `count` largest of each row and those equal to the last of these."""
    if weight.shape[1] <= count:
        return weight
    least = np.partition(weight, -count, axis=1)[:, -count, None]
    return np.where(weight >= least, weight, 0.0)


def _draw(weight: Array, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """One column of each row, with probability in proportion to its weight."""
    upper = np.cumsum(weight, axis=1)
    # A point below the total lies in an interval of positive length, hence on a node of positive weight.
    point = np.minimum(rng.random(len(weight)) * upper[:, -1], np.nextafter(upper[:, -1], 0.0))
    return (upper > point[:, None]).argmax(axis=1)
