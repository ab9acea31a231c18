"""Random numbers for kernels: xoshiro256++ (Blackman and Vigna 2019) on a state array that the caller owns.

numba's own `np.random` has one state for the whole process; with a state array of its own a search is repeatable,
whatever else runs.
"""

import numpy as np
import numpy.typing as npt

from orienteer.kernel.compiled import kernel

State = npt.NDArray[np.uint64]

_WORD = 2**64 - 1
_TO_UNIT = 2.0**-53


def seed_state(seed: int) -> State:
    """(4,) a fresh state; any whole number is a seed, and near seeds give unrelated streams (splitmix64)."""
    words = []
    counter = int(seed) & _WORD
    for _ in range(4):
        counter = (counter + 0x9E3779B97F4A7C15) & _WORD
        mixed = ((counter ^ (counter >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _WORD
        words.append(mixed ^ (mixed >> 31))
    return np.array(words, dtype=np.uint64)


@kernel
def next_word(state: State) -> np.uint64:
    """64 random bits; moves the state on."""
    total = state[0] + state[3]
    result = ((total << np.uint64(23)) | (total >> np.uint64(41))) + state[0]
    shifted = state[1] << np.uint64(17)
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= shifted
    state[3] = (state[3] << np.uint64(45)) | (state[3] >> np.uint64(19))
    return result


@kernel
def next_float(state: State) -> float:
    """A float in [0, 1)."""
    return np.float64(next_word(state) >> np.uint64(11)) * _TO_UNIT


@kernel
def next_int(state: State, n: int) -> int:
    """A whole number in [0, n); n must be at least 1 and far below 2**53."""
    return int(next_float(state) * n)
