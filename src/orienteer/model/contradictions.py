"""Rules of a problem that contradict each other, told by name before any search begins."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from orienteer.model.clock import written_time
from orienteer.model.errors import InvalidInstance
from orienteer.model.numbers import TOLERANCE
from orienteer.model.reach import Reach
from orienteer.model.show import printable

if TYPE_CHECKING:
    from orienteer.model.instance import Instance


MOST_IN_GROUP = 6
"""How many nodes of a group a message names, the others counted as one."""


def check_contradictions(instance: "Instance") -> None:
    """Nothing, or an `InvalidInstance` where no plan can keep the rules, as far as that is seen at once."""
    _check_ends(instance)
    _check_routes(instance, instance.reach)
    _check_required(instance, instance.reach)
    _check_groups(instance)
    _check_budgets(instance)


def called(instance: "Instance", node: int) -> str:
    """A node as messages call it: its number and, where it has one, its name."""
    return f"node {node}" if instance.names is None else f"node {node} ({instance.names[node]})"


def other_end(instance: "Instance", place: str, node: int, wish: int) -> str:
    """The words for a route that begins or stops, as `place` says, at another node than it should."""
    verb = "begins" if place == "start" else "stops"
    wanted = called(instance, wish).removeprefix("node ")
    return f"the route {verb} at {called(instance, node)}, not at the {place} {wanted}"


def at_most_one(instance: "Instance", group: Sequence[int]) -> str:
    """The rule of a group in words, with the names of its nodes, which people know it by."""
    known = [str(node) if instance.names is None else printable(instance.names[node]) for node in group]
    if len(known) > MOST_IN_GROUP:
        known[MOST_IN_GROUP - 1 :] = [f"{len(known) - MOST_IN_GROUP + 1} others"]
    kind = "nodes " if instance.names is None else ""
    return f"at most one of {kind}{', '.join(known[:-1])} and {known[-1]} may be visited"


def _check_ends(instance: "Instance") -> None:
    if instance.windows is None:
        return
    for node in sorted(instance.ends):
        if instance.windows[node] is not None:
            raise InvalidInstance(
                f"windows[{node}] is for a start or an end; a route's own opens and limit say when it begins and ends"
            )


def _check_routes(instance: "Instance", reach: Reach) -> None:
    for place, route in enumerate(instance.each_route):
        if route.end is None or reach.fits[place, route.start]:
            continue
        which = f"routes[{place}].limit" if len(instance.each_route) > 1 else "limit"
        raise InvalidInstance(
            f"{which} {route.limit:g} is below {reach.after[place, route.start]:g}, "
            f"the cheapest way from start {route.start} to end {route.end}"
        )


def _check_required(instance: "Instance", reach: Reach) -> None:
    for node in instance.required:
        if reach.fits[:, node].any():
            continue
        who = f"required {called(instance, node)}"
        if np.isinf(reach.arrive[:, node]).all():
            raise InvalidInstance(f"{who} cannot be visited: there is no way to it")
        if np.isinf(reach.begin[:, node]).all():
            soonest, windows = float(reach.arrive[:, node].min()), instance.windows and instance.windows[node]
            closes = windows[-1][1] if windows else np.inf
            times = written_time(instance, closes), written_time(instance, soonest)
            raise InvalidInstance(
                f"{who} cannot be visited: it closes at {times[0]}, and no route can be there before {times[1]}"
            )
        over = [
            begin + after - route.opens - route.limit
            for begin, after, route in zip(reach.begin[:, node], reach.after[:, node], instance.each_route, strict=True)
        ]
        if np.isinf(over).all():
            raise InvalidInstance(f"{who} cannot be visited: every route finds it closed, or no way to its own end")
        raise InvalidInstance(f"{who} cannot be visited: every route would exceed its limit, by {min(over):g} at least")


def _check_groups(instance: "Instance") -> None:
    required = set(instance.required)
    for group in instance.groups:
        both = sorted(required.intersection(group))
        if len(both) > 1:
            names = " and ".join(called(instance, node) for node in both[:2])
            raise InvalidInstance(f"groups: {at_most_one(instance, group)}, but {names} are required")


def _check_budgets(instance: "Instance") -> None:
    always = sorted(instance.ends.union(instance.required))
    for budget in instance.budgets:
        needed = float(budget.weights[always].sum())
        if needed > budget.most * (1 + TOLERANCE):
            raise InvalidInstance(
                f"budget {budget.name!r} allows {budget.most:g}, but starts, ends and required nodes need {needed:g}"
            )
