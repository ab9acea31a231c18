"""Random numbers that are the same on every machine and with every NumPy."""

import numpy as np
import numpy.typing as npt

from orienteer.model.numbers import Array


class Draws:
    """A stream of random numbers, which a key, a list of whole numbers, determines.

    Only the raw 64-bit output of PCG64 is used, which NumPy promises never to change; floats are made of that output
    here.
    """

    def __init__(self, *key: int):
        self._bits = np.random.PCG64(np.random.SeedSequence(key))

    def uniform(self, *shape: int) -> Array:
        """Numbers from 0 up to, but not including, 1: multiples of 2**-53."""
        count = int(np.prod(shape, dtype=np.int64))
        raw: npt.NDArray[np.uint64] = self._bits.random_raw(count)
        return ((raw >> np.uint64(11)).astype(np.float64) * 2.0**-53).reshape(shape)

    def integers(self, least: int, most: int, *shape: int) -> Array:
        """Whole numbers from `least` to `most`, both included, as floats."""
        span = most - least + 1
        return least + np.minimum(np.floor(self.uniform(*shape) * span), span - 1.0)

    def choose(self, count: int, size: int) -> npt.NDArray[np.int64]:
        """`count` different numbers below `size`, in random order."""
        return np.argsort(self.uniform(size), kind="stable")[:count].astype(np.int64)
