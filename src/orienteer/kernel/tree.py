"""The nearest of many points to each of them, by a k-d tree (Bentley 1975)."""

import numpy as np

from orienteer.kernel.compiled import kernel
from orienteer.kernel.types import Floats, Ints

LEAF = 8
"""The most points that are looked at one by one."""


def nearest_points(points: Floats, count: int) -> Ints:
    """(n, k) the other points nearest to each of `points`, (n, d), nearest first; at most `count`.

    Points at equal distances are in the order of their numbers, unless the last of them do not fit in.
    """
    count = min(count, len(points) - 1)
    if count <= 0:
        return np.empty((len(points), 0), dtype=np.int64)
    order, axes = _tree(points)
    return _nearest(points, order, axes, count)


def side_by_side(points: Floats) -> Ints:
    """(n,) the points in an order in which neighbours in space are mostly near each other: that of the tree."""
    return _tree(points)[0]


def _tree(points: Floats) -> tuple[Ints, Ints]:
    """The points in the order of a balanced tree, and the axes along which it splits."""
    order, axes = np.arange(len(points)), np.zeros(len(points), dtype=np.int64)
    _build(points, order, axes)
    return order, axes


@kernel
def _build(points: Floats, order: Ints, axes: Ints) -> None:
    """Puts the points in the order of a balanced tree: the middle of a range splits it, along `axes` of the middle."""
    stack = np.empty((128, 2), dtype=np.int64)
    stack[0, 0], stack[0, 1] = 0, len(order)
    depth = 1
    while depth:
        depth -= 1
        first, last = stack[depth, 0], stack[depth, 1]
        if last - first <= LEAF:
            continue
        middle = (first + last) // 2
        axis = _widest(points, order, first, last)
        _select(points, order, first, last - 1, middle, axis)
        axes[middle] = axis
        stack[depth, 0], stack[depth, 1] = first, middle
        stack[depth + 1, 0], stack[depth + 1, 1] = middle + 1, last
        depth += 2


@kernel
def _widest(points: Floats, order: Ints, first: int, last: int) -> int:
    """The axis along which a range of points extends furthest."""
    best, widest = 0, -1.0
    for axis in range(points.shape[1]):
        least = most = points[order[first], axis]
        for i in range(first + 1, last):
            value = points[order[i], axis]
            least, most = min(least, value), max(most, value)
        if most - least > widest:
            best, widest = axis, most - least
    return best


@kernel
def _select(points: Floats, order: Ints, first: int, last: int, middle: int, axis: int) -> None:
    """Reorders a range so that no point before the middle lies beyond it, nor one behind it before it (Hoare 1961)."""
    while first < last:
        pivot = points[order[(first + last) // 2], axis]
        i, j = first, last
        while i <= j:
            while points[order[i], axis] < pivot:
                i += 1
            while points[order[j], axis] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            last = j
        elif middle >= i:
            first = i
        else:
            return


@kernel
def _nearest(points: Floats, order: Ints, axes: Ints, count: int) -> Ints:
    """(n, count) the nearest of each point."""
    found = np.empty((len(points), count), dtype=np.int64)
    far = np.empty(count)
    ranges = np.empty((128, 2), dtype=np.int64)
    bounds = np.empty(128)
    for node in range(len(points)):
        known = 0
        ranges[0, 0], ranges[0, 1], bounds[0] = 0, len(order), 0.0
        depth = 1
        while depth:
            depth -= 1
            first, last = ranges[depth, 0], ranges[depth, 1]
            if known == count and bounds[depth] > far[count - 1]:
                continue
            if last - first <= LEAF:
                for i in range(first, last):
                    known = _note(points, node, order[i], found[node], far, known, count)
                continue
            middle = (first + last) // 2
            known = _note(points, node, order[middle], found[node], far, known, count)
            offset = points[node, axes[middle]] - points[order[middle], axes[middle]]
            beyond = max(bounds[depth], offset * offset)
            own = bounds[depth]
            near, other = (first, middle), (middle + 1, last)
            if offset > 0:
                near, other = other, near
            ranges[depth, 0], ranges[depth, 1], bounds[depth] = other[0], other[1], beyond
            ranges[depth + 1, 0], ranges[depth + 1, 1], bounds[depth + 1] = near[0], near[1], own
            depth += 2
    return found


@kernel
def _note(points: Floats, node: int, other: int, found: Ints, far: Floats, known: int, count: int) -> int:
    """Puts a point among the nearest found, if it is one of them; returns how many are known."""
    if other == node:
        return known
    square = 0.0
    for axis in range(points.shape[1]):
        offset = points[node, axis] - points[other, axis]
        square += offset * offset
    if known == count and not _before(square, other, far[count - 1], found[count - 1]):
        return known
    place = known if known < count else count - 1
    while place > 0 and _before(square, other, far[place - 1], found[place - 1]):
        far[place], found[place] = far[place - 1], found[place - 1]
        place -= 1
    far[place], found[place] = square, other
    return min(known + 1, count)


@kernel
def _before(square: float, node: int, other_square: float, other: int) -> bool:
    return square < other_square or (square == other_square and node < other)
