"""A plan as tables of plain text."""

import unicodedata
from collections.abc import Sequence

from orienteer.model.clock import DECIMALS, written_time
from orienteer.model.instance import Instance
from orienteer.model.plan import Plan
from orienteer.model.result import Result
from orienteer.model.rules import Route
from orienteer.model.show import STATUS, place_name, route_name
from orienteer.model.tour import Visit

LONGEST, FIRST, LAST = 400, 10, 5
"""A table of a route with more than LONGEST stops shows the FIRST and the LAST of them."""


def plan_table(instance: Instance, plan: Plan) -> str:
    """The table of a plan's route; of several routes one a route, under a line that sums it up."""
    timetables = plan.stops(instance)
    if len(plan.routes) == 1:
        return _route_table(instance, instance.each_route[0], timetables[0])
    return "\n\n".join(
        f"{route_line(instance, plan, number)}\n{_route_table(instance, instance.each_route[number], stops)}"
        for number, stops in enumerate(timetables)
    )


def route_line(instance: Instance, plan: Plan, number: int) -> str:
    """One line on one of several routes: its number, counted from 1, its name, prize, cost and stops."""
    tour, route = plan.routes[number], instance.each_route[number]
    stops = len(set(tour.nodes) - instance.ends)
    totals = (
        f"prize {tour.prize:.6g}, cost {tour.cost:.6g} of {route.limit:.6g}, {stops} stop{'' if stops == 1 else 's'}"
    )
    return f"{route_name(instance, number)}: {totals}"


def _route_table(instance: Instance, route: Route, stops: Sequence[Visit]) -> str:
    """A line for each stop: its number, place and prize, the leg to it, then its costs, or its times where these count.

    Costs are the cost up to the stop and the unused limit. Times are arrival, wait, beginning and departure. Of routes
    that nobody would read on a screen the middle is left out.
    """
    hidden = len(stops) - FIRST - LAST if len(stops) > LONGEST else 0
    stops = [*stops[:FIRST], *stops[-LAST:]] if hidden else stops
    columns = {
        "stop": [str(stop.place) for stop in stops],
        "place": [place_name(instance, stop.node) for stop in stops],
        "prize": _written([stop.prize for stop in stops]),
    }
    columns |= _times(instance, stops) if is_timed(instance) else _costs(route, stops)
    lines = layout(tuple(columns), list(zip(*columns.values(), strict=True)), left=(1,)).splitlines()
    if hidden:
        lines.insert(1 + FIRST, f"... {hidden:,} more stops, which --out writes to a file")
    return "\n".join(lines)


def is_timed(instance: Instance) -> bool:
    """Whether arrival and departure tell more than the cost so far: there are visit times, windows or a clock."""
    opens = any(route.opens for route in instance.each_route)
    return opens or instance.clock is not None or bool({"service", "windows"} & instance.features)


def _costs(route: Route, stops: Sequence[Visit]) -> dict[str, list[str]]:
    costs = {
        "leg": [stop.leg for stop in stops],
        "cost": [stop.cost for stop in stops],
        "slack": [max(0.0, route.limit - stop.cost) for stop in stops],
    }
    return _alike(costs)


def _times(instance: Instance, stops: Sequence[Visit]) -> dict[str, list[str]]:
    numbers = {key: [getattr(stop, key) for stop in stops] for key in ("leg", "arrive", "wait", "begin", "leave")}
    if instance.clock is None:
        return _alike(numbers)
    spans = _alike({key: numbers[key] for key in ("leg", "wait")}, DECIMALS[instance.clock])
    clock = {key: [written_time(instance, time) for time in times] for key, times in numbers.items()}
    return clock | spans


def _alike(columns: dict[str, list[float]], most: int = 5) -> dict[str, list[str]]:
    """The columns as texts, all with the same number of decimals, at most `most`."""
    written = iter(_written([value for values in columns.values() for value in values], most))
    return {key: [next(written) for _ in values] for key, values in columns.items()}


def totals(instance: Instance, plan: Plan) -> str:
    """One line: prize, cost, unused limit, and how many places are visited of those that are no start and no end."""
    places = f"{len(plan.visited - instance.ends)} of {instance.size - len(instance.ends)} places"
    prize = f"prize {plan.prize:.6g} of {instance.prizes.sum():.6g}"
    if len(plan.routes) > 1:
        return f"{prize}, cost {plan.cost:.6g}, {len(plan.routes)} routes, {places}"
    limit = instance.each_route[0].limit
    return f"{prize}, cost {plan.cost:.6g} of {limit:.6g}, slack {max(0.0, limit - plan.cost):.4g}, {places}"


def no_plan(result: Result) -> str:
    """One line that says that there is no plan."""
    if result.status == "infeasible":
        return "no plan keeps all rules of this problem: that is proven"
    wish = "a longer search may find one, and --prove may show that there is none"
    return f"no plan was found that keeps all rules of this problem; {wish}"


def bound_line(result: Result) -> str:
    """One line: no route can collect more than the bound, and how far below it the result is."""
    return f"bound {result.bound:.6g}, gap {100 * result.gap:.2g} %"


def origin(result: Result) -> str:
    """One line: which solver found the route, how it ended, how long it took."""
    choice = f" ({result.settings['choice']})" if "choice" in result.settings else ""
    ending = STATUS[result.status]
    return f"{result.solver}{choice}: {ending} in {result.seconds:.3g} s, {result.steps:,} steps, seed {result.seed}"


def layout(heads: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = ()) -> str:
    """A text table of rows under heads; the columns whose numbers are in `left` are aligned left, others right."""
    lines = [tuple(heads), *(tuple(row) for row in rows)]
    widths = [max(_width(line[column]) for line in lines) for column in range(len(heads))]
    return "\n".join(
        "  ".join(
            text + " " * (width - _width(text)) if column in left else " " * (width - _width(text)) + text
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def _written(values: Sequence[float], most: int = 5) -> list[str]:
    """The numbers as texts, with the fewest decimals that show all exactly; at most five digits of the largest."""
    allowed = max(0, min(most, 5 - len(str(int(max(values))))))
    decimals = next((count for count in range(allowed) if all(_exact(value, count) for value in values)), allowed)
    return [f"{value:.{decimals}f}" for value in values]


def _exact(value: float, decimals: int) -> bool:
    return abs(round(value, decimals) - value) <= 1e-9 * max(1.0, abs(value))


def _width(text: str) -> int:
    """How many columns a text takes on a terminal: wide letters take two, combining marks none."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )
