"""Problems of every shape that an `Instance` can take, for round trips through files."""

import math

import numpy as np
from hypothesis import strategies as st

from orienteer import Budget, Instance, InvalidInstance, Route
from orienteer.model.distances import METRICS, TSPLIB_METRICS, pairwise

numbers = st.floats(0, 1e9) | st.floats(0, 1e300) | st.integers(0, 100).map(float)
coordinates = st.floats(-1e6, 1e6) | st.integers(-50, 50).map(float)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@st.composite
def problems(draw: st.DrawFn, names: bool = True, planar: bool | None = None) -> Instance:
    """Free costs, some without a way, or distances of points; any start and end."""
    size = draw(st.integers(1, 5))
    nodes = st.integers(0, size - 1)
    start, end = draw(nodes), draw(nodes)
    coords = None
    if planar or draw(st.booleans()):
        coords = np.array(draw(st.lists(st.tuples(coordinates, coordinates), min_size=size, max_size=size)))
    if coords is not None and (planar or draw(st.booleans())):
        metrics = {**METRICS, **TSPLIB_METRICS} if planar is None else METRICS
        metric = "euclidean" if planar else draw(st.sampled_from(sorted(metrics)))
        costs = pairwise(coords, metrics[metric])
    else:
        free = st.lists(numbers | st.just(math.inf), min_size=size, max_size=size)
        costs = np.array(draw(st.lists(free, min_size=size, max_size=size)))
        costs[start, end] = draw(numbers)
    direct = 0.0 if start == end else float(costs[start, end])
    return Instance(
        costs,
        np.array(draw(st.lists(numbers, min_size=size, max_size=size))),
        max(direct, draw(st.floats(1e-9, 1e9))),
        start,
        end,
        coords,
        draw(st.none() | st.lists(texts, min_size=size, max_size=size, unique=True).map(tuple)) if names else None,
    )


@st.composite
def problems_with_rules(draw: st.DrawFn) -> Instance:
    """Any problem with any of the fields beyond the plain one."""
    plain = draw(problems())
    nodes = st.integers(0, plain.size - 1)
    times = st.floats(-1e6, 1e6)
    some_nodes = st.lists(nodes, max_size=3)
    window = st.tuples(times | st.just(-math.inf), times | st.just(math.inf)).map(lambda pair: tuple(sorted(pair)))
    limits = st.sampled_from([plain.limit, 2 * plain.limit])
    route = st.builds(Route, st.just(plain.start), st.just(plain.end) | st.none(), times, limits, texts)
    amounts = st.lists(st.floats(0, 100), min_size=plain.size, max_size=plain.size)
    budget = st.builds(Budget, texts, amounts, st.floats(100, 1e3))
    changes = {
        "service": draw(st.none() | amounts),
        "required": draw(some_nodes),
        "windows": draw(st.none() | st.dictionaries(nodes, st.lists(window, min_size=1, max_size=3))),
        "routes": draw(st.none() | st.integers(1, 3) | st.lists(route, min_size=1, max_size=3)),
        "groups": draw(st.lists(some_nodes, max_size=2)),
        "budgets": draw(st.lists(budget, max_size=2)),
        "clock": draw(st.sampled_from([None, "minutes", "seconds", "hours"])),
    }
    if changes["service"] is not None:
        for end in (plain.start, plain.end):
            changes["service"][end] = 0.0
    if draw(st.booleans()):
        changes["end"] = None
    for field in ("required", "windows", "groups", "service", "budgets"):  # rules may contradict each other
        try:
            return plain.replace(**changes)
        except InvalidInstance:
            del changes[field]
    return plain.replace(**changes)
