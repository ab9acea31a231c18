"""What numpy has too, as loops that are compiled in a tenth of the time."""

from typing import Any

import numpy as np
import numpy.typing as npt

from orienteer.kernel.compiled import kernel
from orienteer.kernel.types import Ints

RUN = 16
"""Items that are put in order one by one, before longer runs are merged."""


@kernel
def copy(source: npt.NDArray[Any], target: npt.NDArray[Any]) -> None:
    """Writes the items of an array into the first places of another."""
    for at in range(len(source)):
        target[at] = source[at]


@kernel
def ranked(keys: npt.NDArray[Any]) -> Ints:
    """(n,) the numbers of the keys from the smallest key to the largest, equal keys in the order of their numbers."""
    count = len(keys)
    order, merged = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    for begin in range(0, count, RUN):
        for number in range(begin, min(begin + RUN, count)):
            key, at = keys[number], number
            while at > begin and keys[order[at - 1]] > key:
                order[at] = order[at - 1]
                at -= 1
            order[at] = number
    length = RUN
    while length < count:
        for begin in range(0, count, 2 * length):
            left, middle = begin, min(begin + length, count)
            right, end = middle, min(begin + 2 * length, count)
            for at in range(begin, end):
                if right == end or (left < middle and keys[order[left]] <= keys[order[right]]):
                    merged[at] = order[left]
                    left += 1
                else:
                    merged[at] = order[right]
                    right += 1
        order, merged = merged, order
        length *= 2
    return order
