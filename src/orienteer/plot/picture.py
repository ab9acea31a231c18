"""Pictures of problems and routes, as in the paper: stars for start and end, node area by prize, arrows."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from orienteer.model.instance import Instance
from orienteer.model.plan import Plan, check_plan
from orienteer.plot.figure import check_picture, new_figure, save_figure
from orienteer.plot.map import Page, draw_map, layout

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Routes: TypeAlias = Sequence[int] | Sequence[Sequence[int]] | Plan
"""The nodes of a route, or of each route of a plan."""


def save_picture(
    instance: Instance,
    path: str | Path,
    nodes: Routes | None = None,
    title: str | None = None,
) -> None:
    """Writes a picture of a problem as PNG, SVG or PDF, by the file's suffix; `nodes` as for `draw`."""
    check_picture(path)
    save_figure(draw(instance, nodes, title), path)


def save_routes(pictures: Sequence[tuple[Instance, Sequence[tuple[str, Sequence[int]]]]], path: str | Path) -> None:
    """Writes several routes side by side: a row for each instance, in it a picture for each title and route."""
    check_picture(path)
    across = max((len(routes) for _, routes in pictures), default=0)
    if not across:
        raise ValueError("pictures must hold at least one route")
    pages = [Page(layout(instance)) for instance, _ in pictures]
    wide = max(page.wide for page in pages) / 72 + 0.3
    high = max(page.high for page in pages) / 72 + 1.1
    figure = new_figure(across * wide, len(pictures) * high)
    for row, (page, (instance, routes)) in enumerate(zip(pages, pictures, strict=True)):
        for column, (title, nodes) in enumerate(routes):
            axes = figure.add_subplot(len(pictures), across, row * across + column + 1)
            draw_map(axes, page, instance, check_plan(instance, [nodes]), title)
    save_figure(figure, path)


def draw(instance: Instance, nodes: Routes | None = None, title: str | None = None) -> "Figure":
    """A matplotlib figure of the problem; `nodes` is a route or a plan to draw in it, which is checked first.

    Several routes, given as a list of lists of nodes or as a `Plan`, have a colour each. As the value of a notebook's
    cell the figure is shown, once.
    """
    plan = None if nodes is None else checked(instance, nodes)
    page = Page(layout(instance))
    figure = new_figure(page.wide / 72 + 0.3, page.high / 72 + 1.2)
    draw_map(figure.add_subplot(), page, instance, plan, title)
    return figure


def checked(instance: Instance, nodes: Any) -> Plan:
    """The plan of one or of several routes, or `InfeasibleTour`."""
    if isinstance(nodes, Plan):
        return check_plan(instance, [tour.nodes for tour in nodes.routes])
    several = len(nodes) > 0 and np.ndim(nodes[0]) > 0
    return check_plan(instance, list(nodes) if several else [nodes])
