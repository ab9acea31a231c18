"""What all compiled loops share: the decorator, array types, first values of variables, random numbers."""

from orienteer.kernel.compiled import inlined, kernel, lean
from orienteer.kernel.constants import NO, NONE, ONE, YES, ZERO
from orienteer.kernel.loops import copy, ranked
from orienteer.kernel.rng import State, next_float, next_int, next_word, seed_state
from orienteer.kernel.types import Bools, Floats, Ints, Singles

__all__ = [
    "NO",
    "NONE",
    "ONE",
    "YES",
    "ZERO",
    "Bools",
    "Floats",
    "Ints",
    "Singles",
    "State",
    "copy",
    "inlined",
    "kernel",
    "lean",
    "next_float",
    "next_int",
    "next_word",
    "ranked",
    "seed_state",
]
