"""Labels that cover nothing: each is put where there is room beside its spot, or left out."""

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Box: TypeAlias = tuple[float, float, float, float]
"""left, low, right, high, in points of 1/72 inch, as everything here."""

MARGIN = 1.2
"""The room that is left free around a label."""

TURNS = (0, 16, 8, 24, 4, 28, 12, 20, 2, 30, 14, 18, 6, 26, 10, 22, *range(1, 32, 2))
SIDES = [(math.cos(turn * math.pi / 16), math.sin(turn * math.pi / 16)) for turn in TURNS]
"""Where a label may stand around its spot, the best first: right, left, above, below, then between them."""

GAPS = (0.0, 3.0, 6.0, 9.0)
"""How much farther than need be a label may stand from its spot, the nearest first."""


class Clutter:
    """What labels must not cover, on a page of a given size: discs, lines, and labels that were put down before."""

    def __init__(self, page: Box):
        self.page = page
        self.centres, self.radii = np.empty((0, 2)), np.empty(0)
        self.froms, self.tos = np.empty((0, 2)), np.empty((0, 2))
        self.boxes = np.empty((0, 4))

    def add_discs(self, centres: Array, radii: Array) -> None:
        """Takes note of (k, 2) centres with (k,) radii."""
        self.centres = np.concatenate((self.centres, centres))
        self.radii = np.concatenate((self.radii, radii))

    def add_path(self, points: Array) -> None:
        """Takes note of the lines from each of (k, 2) points to the next."""
        self.froms = np.concatenate((self.froms, points[:-1]))
        self.tos = np.concatenate((self.tos, points[1:]))

    def add_box(self, box: Box) -> None:
        """Takes note of a box, such as that of a label."""
        self.boxes = np.concatenate((self.boxes, [box]))

    def is_free(self, box: Box) -> bool:
        """Whether a box lies on the page and covers nothing, with some room around it."""
        left, low, right, high = box[0] - MARGIN, box[1] - MARGIN, box[2] + MARGIN, box[3] + MARGIN
        if left < self.page[0] or low < self.page[1] or right > self.page[2] or high > self.page[3]:
            return False
        wide = np.minimum(right, self.boxes[:, 2]) - np.maximum(left, self.boxes[:, 0])
        tall = np.minimum(high, self.boxes[:, 3]) - np.maximum(low, self.boxes[:, 1])
        if ((wide > 0) & (tall > 0)).any():
            return False
        nearest = np.clip(self.centres, (left, low), (right, high))
        if (np.hypot(*(self.centres - nearest).T) < self.radii).any():
            return False
        return not _cross(self.froms, self.tos, (left, low, right, high)).any()


@dataclass(frozen=True)
class Label:
    """A text of a given size that wants a place beside its spot."""

    spot: Sequence[float] | Array
    gap: float
    """How far from the spot the text begins at least: the radius of what is drawn there."""
    size: tuple[float, float]
    """Width and height."""


def place_labels(labels: Sequence[Label], clutter: Clutter) -> list[Box | None]:
    """The box of each label, put down in the clutter; None where there is no room.

    Those that have the fewest places to go choose first, before others take them; of equal ones the first.
    """
    free = [[box for box in _around(label) if clutter.is_free(box)] for label in labels]
    boxes: list[Box | None] = [None] * len(labels)
    for index in sorted(range(len(labels)), key=lambda index: len(free[index])):
        for box in free[index]:
            if clutter.is_free(box):
                clutter.add_box(box)
                boxes[index] = box
                break
    return boxes


def text_size(text: str, height: float) -> tuple[float, float]:
    """Width and height of a line of text in a font of this size, as matplotlib will draw it."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that the font lacks are told of when the picture is saved
        wide, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(size=height), ismath=False)
    return float(wide), 0.95 * height


def _around(label: Label) -> Iterator[Box]:
    """Boxes around a label's spot, the best place first."""
    wide, tall = label.size
    for more in GAPS:
        for dx, dy in SIDES:
            left = float(label.spot[0]) + dx * (label.gap + MARGIN + more) - wide * (1 - dx) / 2
            low = float(label.spot[1]) + dy * (label.gap + MARGIN + more) - tall * (1 - dy) / 2
            yield left, low, left + wide, low + tall


def _cross(froms: Array, tos: Array, box: Box) -> npt.NDArray[np.bool_]:
    """(k,) whether each line passes through a box: whether a part of it lies between all four sides (Liang, Barsky)."""
    enter, leave = np.zeros(len(froms)), np.ones(len(froms))
    step = tos - froms
    for axis, (low, high) in enumerate(((box[0], box[2]), (box[1], box[3]))):
        still = step[:, axis] == 0
        along = np.where(still, 1.0, step[:, axis])
        one, other = (low - froms[:, axis]) / along, (high - froms[:, axis]) / along
        inside = (froms[:, axis] >= low) & (froms[:, axis] <= high)
        enter = np.maximum(enter, np.where(still, np.where(inside, 0.0, 2.0), np.minimum(one, other)))
        leave = np.minimum(leave, np.where(still, np.where(inside, 1.0, -1.0), np.maximum(one, other)))
    return enter <= leave
