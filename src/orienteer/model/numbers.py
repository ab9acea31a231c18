"""Numbers as callers give them, checked and stored once."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from orienteer.model.errors import InvalidInstance

Array = npt.NDArray[np.float64]

TOLERANCE = 1e-9
"""A route fits when its cost is at most limit * (1 + TOLERANCE); the only tolerance there is."""

EXACT_INTEGERS = 2**53
"""Integers up to here are floats without rounding."""

LARGEST = 1e303
"""Limits and sums of prizes end here, far enough from overflow for every search."""


def numbers(field: str, values: npt.ArrayLike, dimensions: int) -> Array:
    """The values as a read-only array of floats of that many dimensions; nothing is rounded."""
    try:
        given = np.asarray(values)
    except ValueError as error:
        raise InvalidInstance(f"{field} is ragged: its rows differ in length") from error
    if given.dtype.kind not in "iuf":
        raise InvalidInstance(f"{field} must hold real numbers, got values of type {given.dtype}")
    if given.ndim != dimensions:
        raise InvalidInstance(f"{field} must have {dimensions} dimension(s), got shape {given.shape}")
    if given.dtype.kind in "iu" and given.size and max(abs(int(given.max())), abs(int(given.min()))) > EXACT_INTEGERS:
        raise InvalidInstance(f"{field} holds an integer beyond 2**53, which a float would round")
    if given.dtype.itemsize > 8:
        raise InvalidInstance(f"{field} holds {given.dtype} numbers, which float64 would round")
    return frozen(np.array(given, dtype=np.float64, order="C"))


def frozen(array: Array) -> Array:
    """The array, from now on read-only."""
    array.setflags(write=False)
    return array


def number(field: str, value: Any) -> float:
    """The value as a float that rounds nothing."""
    if isinstance(value, (str, bytes, bool, np.bool_)):  # which float() would accept
        raise InvalidInstance(f"{field} must be a number, got {value!r}")
    try:
        result = float(value)
    except OverflowError as error:
        raise InvalidInstance(f"{field} must be finite, got an integer beyond all floats") from error
    except (TypeError, ValueError) as error:
        raise InvalidInstance(f"{field} must be a number, got {value!r}") from error
    if isinstance(value, (int, np.integer)) and math.isfinite(result) and int(result) != value:
        raise InvalidInstance(f"{field} is an integer that a float would round: {value}")
    return result


def check_values(field: str, values: Array, infinite: bool) -> None:
    """Nothing, or an error that names the first value that is NaN, negative, or infinite where that is not allowed."""
    for bad, wish in (
        (np.isnan(values), "is not a number (NaN)"),
        (values < 0, "must not be negative"),
        (np.isinf(values) & (not infinite), "must be finite"),
    ):
        if bad.any():
            place = tuple(int(i) for i in np.argwhere(bad)[0])
            spot = ", ".join(map(str, place))
            raise InvalidInstance(f"{field}[{spot}] {wish}, got {values[place]:g}")


def check_sum(prizes: Array) -> None:
    """Nothing, or an error where the prizes add up to more than a search can handle."""
    with np.errstate(over="ignore"):
        total = float(prizes.sum())
    if total > LARGEST:
        raise InvalidInstance(f"prizes must add up to at most {LARGEST:g}, got {total:g}")
