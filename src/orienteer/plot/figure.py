"""Figures and their files; matplotlib, of the extra `plot`, is imported only here and where something is drawn."""

import functools
import importlib.util
import io
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orienteer.model.errors import MissingExtra
from orienteer.plot.style import DPI

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")
"""The kinds of file that hold a picture."""

NOTEBOOK_DPI = 80
"""Dots an inch of a figure in a notebook, which has little room."""


def check_picture(path: str | Path) -> None:
    """Raises an error if no picture can be written to this file: its suffix is unknown, or matplotlib is missing."""
    if kind_of(path) not in SUFFIXES:
        raise ValueError(f"a picture must be one of {', '.join(SUFFIXES)}, got {str(path)!r}")
    check_matplotlib()


def check_matplotlib() -> None:
    """Raises `MissingExtra` if matplotlib is missing."""
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtra("a picture", "plot")


def kind_of(path: str | Path) -> str:
    """The suffix of a file, in small letters."""
    return Path(path).suffix.lower()


def new_figure(wide: float, high: float) -> "Figure":
    """An empty figure, `wide` by `high` inches, or `MissingExtra`."""
    try:
        return _figure_class()(figsize=(wide, high), layout="constrained", facecolor="white")
    except ImportError as error:
        raise MissingExtra("a picture", "plot") from error


def save_figure(figure: "Figure", path: str | Path) -> None:
    """Writes a figure, without date and random identifiers, so that equal pictures are equal files."""
    import matplotlib

    dateless: dict[str, Any] = (
        {} if kind_of(path) == ".png" else {"Date" if kind_of(path) == ".svg" else "CreationDate": None}
    )
    with matplotlib.rc_context({"svg.hashsalt": "orienteer"}), one_line_about_letters(path):
        figure.savefig(path, dpi=DPI, metadata=dateless)


@contextmanager
def one_line_about_letters(path: str | Path) -> Iterator[None]:
    """A context in which a font that lacks letters is told of in one line, not in a warning for each letter."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        if "Glyph" not in str(warning.message):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    if any("Glyph" in str(warning.message) for warning in caught):
        logging.getLogger("orienteer").warning("%s: the font has no sign for some letters of the names", path)


@functools.cache
def _figure_class() -> "type[Figure]":
    """The class of figures that show themselves in a notebook; pyplot, which would show them again, is not used."""
    from matplotlib.figure import Figure

    class Picture(Figure):  # type: ignore[misc]  # the hints of matplotlib are not read
        def _repr_png_(self) -> bytes:
            picture = io.BytesIO()
            self.savefig(picture, format="png", dpi=NOTEBOOK_DPI)
            return picture.getvalue()

    return Picture
