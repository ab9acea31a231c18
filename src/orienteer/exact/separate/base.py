"""What every separator looks like, and what it counts."""

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from orienteer.exact.cut import Cut
from orienteer.exact.flow import adjacency, spread
from orienteer.exact.model import Ints, Model
from orienteer.model.numbers import Array

LEAST = 1e-3
"""A cut that is broken by less than this is not worth its row."""


@dataclass
class Tally:
    """What a separator did so far; `hits` are the calls that found a cut."""

    calls: int = 0
    hits: int = 0
    cuts: int = 0
    seconds: float = 0.0


class Point:
    """A solution of a linear program: x of the links where it is positive, y of all nodes."""

    def __init__(self, model: Model, links: Ints, x: Array, y: Array, least: float = 1e-9):
        """Links with x up to `least` are left out."""
        kept = x > least
        self.model, self.y = model, y
        self.links, self.x = links[kept], x[kept]

    @cached_property
    def pairs(self) -> tuple[Ints, Ints, Array]:
        """(low, high, weight): x by pairs of nodes, low < high; of arcs the sum of both directions.

        With these sums as edges, a cut of a set of nodes has the value that it has with arcs.
        """
        tail, head = self.model.tail[self.links], self.model.head[self.links]
        low, high = np.minimum(tail, head), np.maximum(tail, head)
        key, place = np.unique(low * self.model.size + high, return_inverse=True)
        weight: Array = np.bincount(place, self.x, minlength=len(key)).astype(np.float64)
        return key // self.model.size, key % self.model.size, weight

    @cached_property
    def graph(self) -> tuple[Ints, Ints, Ints, Array]:
        """The pairs in the form of `flow.max_flow`: first, neighbour, twin, capacity."""
        low, high, weight = self.pairs
        return *adjacency(self.model.size, low, high), spread(self.model.size, low, high, weight)


class Separator(ABC):
    """Finds cuts of one family; subclasses set `family` and define `find`."""

    family: ClassVar[str]

    def __init__(self, model: Model):
        self.model = model
        self.tally = Tally()

    def __call__(self, point: Point, beat: float) -> list[Cut]:
        """Cuts that the point breaks and every route of at least `beat` units of prize keeps."""
        began = time.perf_counter()
        cuts = self.find(point, beat)
        self.tally.calls += 1
        self.tally.hits += bool(cuts)
        self.tally.cuts += len(cuts)
        self.tally.seconds += time.perf_counter() - began
        return cuts

    @abstractmethod
    def find(self, point: Point, beat: float) -> list[Cut]:
        """The cuts that a call returns; `__call__` counts them."""
