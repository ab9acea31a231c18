"""A random node at every step: the baseline that anything should beat."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from orienteer.construct.insertion import at_once, construct
from orienteer.model.numbers import Array
from orienteer.search.run import Run
from orienteer.search.solver import Solver


@dataclass(frozen=True)
class RandomConfig:
    """Settings of the random search."""

    tries: int = 1
    """How many routes are built; the best is kept."""

    def __post_init__(self) -> None:
        if self.tries < 1:
            raise ValueError(f"RandomConfig.tries must be at least 1, got {self.tries}")


class RandomSearch(Solver[RandomConfig]):
    """Routes that go to a random node for as long as one fits. A step is one route."""

    name = "random"
    config_class = RandomConfig

    def search(self, run: Run, seed: int) -> None:
        rng = np.random.default_rng(seed)

        def any_that_fits(leg: Array, fits: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
            return np.where(fits, rng.random(fits.shape), -1.0).argmax(axis=1)

        left = self.config.tries
        while left:
            count = int(min(left, at_once(run.instance.size), max(1, run.stop.steps_left(run.now()))))
            for route in construct(run.instance, count, any_that_fits):
                run.offer(route)
            left -= count
            if run.step(count):
                return
