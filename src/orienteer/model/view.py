"""Instances in the form that the kernels of the classical solvers read."""

import numpy as np
import numpy.typing as npt

from orienteer.evolution.population import Problem
from orienteer.model.instance import Instance

NEAR = 100
"""The most near nodes listed for each node; of these the visited ones count."""


def kernel_problem(instance: Instance) -> tuple[Problem, npt.NDArray[np.int64]]:
    """The kernels' form of an instance, and the instance's number of each of its nodes."""
    inner = instance.reachable.copy()
    inner[[instance.start, instance.end]] = False
    names = np.array([instance.start, *np.flatnonzero(inner), instance.end], dtype=np.int64)
    costs = np.ascontiguousarray(instance.costs[np.ix_(names, names)])
    costs[costs > instance.budget] = 2 * instance.budget
    np.fill_diagonal(costs, 0.0)
    round_trip = instance.start == instance.end
    prizes = instance.prizes[names]
    if round_trip:
        costs[0, -1] = costs[-1, 0] = 0.0
        prizes[-1] = 0.0
    symmetric = bool(np.array_equal(costs, costs.T))
    near_out = nearest(costs)
    places = {int(name): place for place, name in enumerate(names[:-1])}
    fallback = [places[node] for node in instance.cheapest_route()[:-1]] + [len(names) - 1]
    problem = Problem(
        costs=costs,
        prizes=prizes,
        near_in=near_out if symmetric else nearest(np.ascontiguousarray(costs.T)),
        near_out=near_out,
        fallback=np.array(fallback, dtype=np.int64),
        budget=instance.budget,
        least=1e-10 * instance.budget,
        symmetric=symmetric,
        round_trip=round_trip,
    )
    return problem, names


def nearest(costs: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """(n, k) the nodes cheapest to reach from each node, cheapest first, itself left out."""
    count = min(len(costs) - 1, NEAR)
    near = np.empty((len(costs), count), dtype=np.int64)
    for node, row in enumerate(costs):
        away = row.copy()
        away[node] = np.inf
        few = np.argpartition(away, count)[:count] if count < len(costs) - 1 else np.arange(len(costs))
        near[node] = few[np.argsort(away[few], kind="stable")[:count]]
    return near
