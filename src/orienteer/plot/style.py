"""One look for all pictures: colours, line styles, markers, hatches, and the sizes of texts.

Nothing is told by colour alone: routes differ by line and marker too, methods by marker, the parts of a timetable by
hatch. The colours of routes stay apart in grey and for people who do not tell red from green.
"""

from typing import TYPE_CHECKING, TypeAlias

from orienteer.model.show import ROUTES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Line: TypeAlias = str | tuple[int, tuple[float, ...]]
"""A line style of matplotlib: its name, or an offset with the lengths of dashes and gaps."""

INK, FAINT, GRID = ROUTES[0], "#7c8894", "#dfe4ea"
"""Texts; scale bars, axes and their numbers; frames and grids."""
VISITED, SKIPPED, START, END = "#2a9d8f", "#d7dce2", "#e63946", "#f4a261"
ACCENT = "#f3b61f"
"""What is new in a frame, and where a search reads."""
OPEN = "#dbe5ef"
"""Opening hours."""

LINES: tuple[Line, ...] = (
    "solid",
    (0, (7, 1.8)),
    (0, (2.2, 1.2)),
    (0, (7, 1.6, 1.6, 1.6)),
    (0, (11, 3)),
    (0, (1, 1)),
)
MARKERS = ("o", "s", "D", "p", "^", "v")
"""The line and the marker of each route, in the order of `ROUTES`."""
SHARES = {"s": 0.8, "D": 0.68}
"""What is taken of the area of a marker whose corners would stand out beyond a circle."""

SERIES = (
    *ROUTES,
    *("#8b1a4a", "#2a9d8f", "#7d5fb2", "#c2708f", "#6b7785", "#000000", "#a8430f", "#1b5e3b", "#3f8fd1", "#9a8500"),
    *("#54278f", "#b15928", "#00695c", "#5c6bc0"),
)
SIGNS = ("o", "s", "D", "^", "v", "P", "X", "<", ">", "p", "d", "h")
"""The colour and the marker of each method in a chart."""

WAIT_HATCH = "////"
LEVELS = "cividis_r"
"""The colour map of prizes: the more, the darker, also in grey."""

TITLE, TEXT, LABEL, NUMBER = 12.0, 10.0, 8.0, 6.5
"""Heights of titles, of legends and axes, of names, and of numbers in markers, in points of 1/72 inch."""
THIN, LEG, BOLD = 1.0, 1.6, 2.4
"""Widths of lines, in points: of long routes and frames, of legs, of what matters most."""
DPI = 150
"""Dots an inch of pictures in files."""


def route_colour(number: int) -> str:
    """The colour of a route, counted from 0."""
    return ROUTES[number % len(ROUTES)]


def route_line(number: int) -> Line:
    """The line style of a route: again the first only where the colour is the first too."""
    return LINES[number % len(LINES)]


def route_marker(number: int) -> str:
    """The marker of a route's stops."""
    return MARKERS[number % len(MARKERS)]


def marker_share(number: int) -> float:
    """What to take of the area of a route's marker, so that markers of one prize look alike in size."""
    return SHARES.get(route_marker(number), 1.0)


def readable_on(colour: str) -> str:
    """White, or ink where the colour is so light that white could not be read on it."""
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 0.6 else "white"


def set_axes(axes: "Axes", title: str = "", across: str = "", up: str = "") -> None:
    """Gives a chart its title, its axes' labels and the common look."""
    heading = axes.set_title(title, fontsize=TITLE, loc="left", color=INK)
    heading.set_parse_math(False)
    axes.set_xlabel(across, fontsize=TEXT, color=INK)
    axes.set_ylabel(up, fontsize=TEXT, color=INK)
    axes.tick_params(labelsize=LABEL, color=FAINT, labelcolor=INK, which="both")
    axes.grid(color=GRID, linewidth=THIN / 2)
    axes.set_axisbelow(True)
    for side in axes.spines.values():
        side.set_color(GRID)
