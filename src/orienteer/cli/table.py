"""A route as a table of plain text."""

import unicodedata
from collections.abc import Sequence

from orienteer.model.instance import Instance
from orienteer.model.result import Result
from orienteer.model.show import place_name
from orienteer.model.tour import Tour


def route_table(instance: Instance, tour: Tour) -> str:
    """A line for each stop: its number, place, prize, the leg to it, the cost up to it and the unused limit."""
    stops = tour.stops(instance)
    legs, spent = [stop.leg for stop in stops], [stop.cost for stop in stops]
    slack = [max(0.0, instance.limit - cost) for cost in spent]
    count = len(tour)
    costs = _written([*legs, *spent, *slack])  # together, so that all have the same number of decimals
    columns = (
        [str(stop) for stop in range(count)],
        [place_name(instance, node) for node in tour.nodes],
        _written([stop.prize for stop in stops]),
        costs[:count],
        costs[count : 2 * count],
        costs[2 * count :],
    )
    return layout(("stop", "place", "prize", "leg", "cost", "slack"), list(zip(*columns, strict=True)), left=(1,))


def totals(instance: Instance, tour: Tour) -> str:
    """One line: prize, cost, unused limit, and the number of places visited."""
    slack = max(0.0, instance.limit - tour.cost)
    places = len(set(tour.nodes))
    return (
        f"prize {tour.prize:.6g} of {instance.prizes.sum():.6g}, "
        f"cost {tour.cost:.6g} of {instance.limit:.6g}, slack {slack:.4g}, {places} of {instance.size} places"
    )


def bound_line(result: Result) -> str:
    """One line: no route can collect more than the bound, and how far below it the result is."""
    return f"bound {result.bound:.6g}, gap {100 * result.gap:.2g} %"


def origin(result: Result) -> str:
    """One line: which solver found the route, how it ended, how long it took."""
    choice = f" ({result.settings['choice']})" if "choice" in result.settings else ""
    ending = "proven optimal" if result.status == "optimal" else "best found"
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


def _written(values: Sequence[float]) -> list[str]:
    """The numbers as texts, with the fewest decimals that show all exactly; at most five digits of the largest."""
    most = max(0, 5 - len(str(int(max(values)))))
    decimals = next((count for count in range(most) if all(_exact(value, count) for value in values)), most)
    return [f"{value:.{decimals}f}" for value in values]


def _exact(value: float, decimals: int) -> bool:
    return abs(round(value, decimals) - value) <= 1e-9 * max(1.0, abs(value))


def _width(text: str) -> int:
    """How many columns a text takes on a terminal: wide letters take two, combining marks none."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )
