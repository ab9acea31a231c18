"""Plans as callers give them."""

from collections.abc import Sequence
from typing import TypeAlias

from orienteer.model.plan import Plan
from orienteer.model.result import Result
from orienteer.model.tour import Tour

GivenPlan: TypeAlias = Sequence[int] | Sequence[Sequence[int]] | Tour | Plan | Result
"""How callers may give a plan: a route, a list of routes, or what came out of a search."""


def lists_of(given: GivenPlan) -> list[list[int]] | None:
    """The nodes of each route of a plan; None for a result that has no plan."""
    if isinstance(given, Result):
        return None if given.plan is None else lists_of(given.plan)
    if isinstance(given, Plan):
        return [list(tour.nodes) for tour in given.routes]
    if isinstance(given, Tour):
        return [list(given.nodes)]
    if len(given) and isinstance(given[0], Sequence) and not isinstance(given[0], str):
        return [list(nodes) for nodes in given]  # type: ignore[arg-type]
    return [list(given)]  # type: ignore[arg-type]
