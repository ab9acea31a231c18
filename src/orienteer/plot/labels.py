"""Labels that cover nothing: each is put where there is room, beside its spot or at the end of a line, or left out."""

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

FAR = tuple(range(14, 120, 8))
"""The same for labels that a line leads to, since there is no room beside their spots."""


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

    def is_free(self, box: Box, over_lines: bool = False) -> bool:
        """Whether a box lies on the page and covers nothing, with some room around it; `over_lines`, but for lines."""
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
        return over_lines or not _cross(self.froms, self.tos, (left, low, right, high)).any()

    def is_clear(self, line: Array) -> bool:
        """Whether the line between (2, 2) points crosses no box, and no disc but those on its first point."""
        if any(_cross(line[:1], line[1:], tuple(box)).any() for box in self.boxes):
            return False
        step, away = line[1] - line[0], self.centres - line[0]
        share = np.clip(away @ step / (step @ step or 1.0), 0.0, 1.0)
        near = np.hypot(*(away - share[:, None] * step).T) < self.radii
        return not (near & (np.hypot(*away.T) >= self.radii)).any()


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


def place_far(label: Label, clutter: Clutter) -> tuple[Box, Array] | None:
    """The box of a label away from its spot, put down in the clutter, and the (2, 2) ends of the line that leads to it.

    The line crosses no label and no other disc. Where there is no such place, the label may cover lines; where there
    is none either, its line may cross what it must; None where there is no room at all.
    """
    for over_lines, clear in ((False, True), (True, True), (True, False)):
        for box in _around(label, (*GAPS, *FAR) if over_lines else FAR):
            line = np.array([label.spot, np.clip(label.spot, box[:2], box[2:])], dtype=float)
            if clutter.is_free(box, over_lines) and (not clear or clutter.is_clear(line)):
                clutter.add_box(box)
                return box, line
    return None


def text_size(text: str, height: float) -> tuple[float, float]:
    """Width and height of a line of text in a font of this size, as matplotlib will draw it."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that the font lacks are told of when the picture is saved
        wide, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(size=height), ismath=False)
    return float(wide), 0.95 * height


def _around(label: Label, gaps: Sequence[float] = GAPS) -> Iterator[Box]:
    """Boxes around a label's spot, the best place first."""
    wide, tall = label.size
    for more in gaps:
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
