"""A random street network: avenues and side streets, some of them one-way, and the shortest times between crossings."""

import math

import numpy as np
import numpy.typing as npt

from orienteer.data.draws import Draws
from orienteer.model.numbers import Array

TICK = 2.0**-30
"""Times are multiples of this, so that they add up without rounding and keep the triangle inequality exactly."""

Nodes = npt.NDArray[np.int64]

AVENUE, SIDE_STREET = 1.5, 0.75
"""Mean speeds, chosen so that a limit lets a route visit about as many places as with Euclidean distances."""

JITTER = 0.3
"""How far a crossing may lie from the middle of its cell, in cells."""

ONE_WAY = 0.6
"""The share of side streets that are one-way."""


def street_times(draws: Draws, size: int) -> tuple[Array, Array]:
    """Positions (n, 2) of random crossings and the shortest times (n, n) between them.

    The crossings form a bent grid of odd width. Even rows and columns are avenues: fast, open in both directions. Odd
    rows and columns are side streets: slow, and mostly one-way. A street is one-way along its whole length, and begins
    and ends at an avenue, so that every crossing can be reached and left. Every block has its own traffic in each
    direction.
    """
    width = _width(size)
    corners = _corners(draws, width)
    east, west = _street_costs(draws, corners)
    south, north = (costs.T for costs in _street_costs(draws, corners.transpose(1, 0, 2)))
    at = draws.choose(size, width * width)
    times = _shortest(at, width, east, west, south, north)
    return corners.reshape(-1, 2)[at], times[:, at]


def _width(size: int) -> int:
    """The smallest odd width, at least 5, whose grid has two crossings for each of `size` places."""
    width = 5
    while width * width < 2 * size:
        width += 2
    return width


def _corners(draws: Draws, width: int) -> Array:
    """(row, column, 2) positions in the unit square, each within its own cell."""
    grid = np.arange(width) + 0.5
    cells = np.stack(np.broadcast_arrays(grid[None, :], grid[:, None]), axis=-1)
    return (cells + JITTER * (2.0 * draws.uniform(width, width, 2) - 1.0)) / width


def _street_costs(draws: Draws, corners: Array) -> tuple[Array, Array]:
    """(row, column - 1) times along each row's blocks, forwards and back; infinite against a one-way street."""
    steps = corners[:, 1:] - corners[:, :-1]
    length = np.sqrt(steps[..., 0] * steps[..., 0] + steps[..., 1] * steps[..., 1])
    streets = len(corners)
    avenue = np.arange(streets) % 2 == 0
    speed = np.where(avenue, AVENUE, SIDE_STREET) * (0.8 + 0.4 * draws.uniform(streets))
    traffic = 0.8 + 0.4 * draws.uniform(2, *length.shape)
    times = length * traffic / speed[:, None]
    times = np.maximum(1.0, np.floor(times / TICK)) * TICK
    one_way = ~avenue & (draws.uniform(streets) < ONE_WAY)
    forwards = draws.uniform(streets) < 0.5
    times[0, one_way & ~forwards] = math.inf
    times[1, one_way & forwards] = math.inf
    return times[0], times[1]


def _shortest(at: Nodes, width: int, east: Array, west: Array, south: Array, north: Array) -> Array:
    """(place, crossing) shortest times from the crossings `at`, by relaxing all blocks until nothing changes.

    The others are the times along each block, by direction.
    """
    best = np.full((len(at), width * width), math.inf)
    best[np.arange(len(at)), at] = 0.0
    grid = best.reshape(len(at), width, width)
    while True:
        before = grid.copy()
        for column in range(width - 1):
            np.minimum(grid[:, :, column + 1], grid[:, :, column] + east[:, column], out=grid[:, :, column + 1])
        for column in range(width - 2, -1, -1):
            np.minimum(grid[:, :, column], grid[:, :, column + 1] + west[:, column], out=grid[:, :, column])
        for row in range(width - 1):
            np.minimum(grid[:, row + 1], grid[:, row] + south[row], out=grid[:, row + 1])
        for row in range(width - 2, -1, -1):
            np.minimum(grid[:, row], grid[:, row + 1] + north[row], out=grid[:, row])
        if np.array_equal(before, grid):
            return best
