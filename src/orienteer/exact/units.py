"""Prizes as whole multiples of a unit, where they have one: a bound then rounds down to what a route can collect."""

import math
from dataclasses import dataclass

import numpy as np

from orienteer.model.numbers import Array
from orienteer.search.run import Run

MOST_UNITS = 1e8
"""The most units that all prizes may sum to: the floats of a linear program tell no more apart."""
DECIMALS = 15
"""The most decimal places that a unit may have."""
ROUNDING = 1e-13
"""How far, as a share, a sum of prizes may be from its number of units times the unit."""
RESOLUTION = 1e-7
"""Where prizes have no unit: a prize smaller than this share of the largest is beyond the program's accuracy."""


@dataclass(frozen=True)
class Units:
    """Prizes as the solver of linear programs sees them."""

    prizes: Array
    """(n,) in units."""
    unit: float
    """The prize that one unit stands for."""
    whole: bool
    """Whether all prizes are whole numbers of units."""
    hidden: float
    """The sum of the prizes, not in units, that are too small beside the largest for the linear program to see."""

    def bound(self, units: float) -> float:
        """The most prize that a route can collect if no route has more than `units` units."""
        if self.whole:
            units = math.floor(units + WHOLE_SLACK)
        return units * self.unit * (1 + ROUNDING) + self.hidden

    def beats(self, prize: float) -> float:
        """The fewest units that a route must have to collect more than `prize`."""
        units = prize / self.unit
        return math.floor(units * (1 + ROUNDING) + WHOLE_SLACK) + 1 if self.whole else units * (1 - ROUNDING)


WHOLE_SLACK = 1e-3
"""How far below a whole number a bound may end before it counts as less; far above the error of a linear program."""


def finish(run: Run, units: Units) -> None:
    """Notes that there is no better plan than the run's, but for prizes too small for the search to see."""
    if run.plan is None:
        run.infeasible = True
    else:
        run.tighten(run.prize + units.hidden)


def in_units(prizes: Array) -> Units:
    """The prizes in their largest common unit; as shares of the largest prize where no unit is coarse enough."""
    largest = float(prizes.max(initial=0.0))
    if largest == 0:
        return Units(np.zeros(len(prizes)), 1.0, True, 0.0)
    for power in range(-_exponent(largest), DECIMALS + 1):
        numbers = _tenths(prizes, power)
        if numbers is None:
            continue
        common = math.gcd(*(int(number) for number in numbers if number))
        if float(numbers.sum()) / common <= MOST_UNITS:
            unit = common / 10.0**power if power >= 0 else common * 10.0**-power
            return Units(numbers / common, unit, True, 0.0)
        break
    seen = prizes >= RESOLUTION * largest
    return Units(np.where(seen, prizes / largest, 0.0), largest, False, float(prizes[~seen].sum()))


def _exponent(value: float) -> int:
    """The power of ten that may be taken out of prizes of which `value` is the largest."""
    return max(0, math.floor(math.log10(value)))


def _tenths(prizes: Array, power: int) -> Array | None:
    """The prizes times 10**power if these are whole numbers; the test divides, since division rounds correctly."""
    scale = 10.0 ** abs(power)
    with np.errstate(over="ignore"):
        numbers = np.round(prizes * scale if power >= 0 else prizes / scale)
        back = numbers / scale if power >= 0 else numbers * scale
    if not np.isfinite(numbers).all() or numbers.max() > 2**53:
        return None
    return numbers if np.array_equal(back, prizes) else None
