"""Small random problems of every cost family, for tests of every solver."""

import numpy as np
from hypothesis import strategies as st

from orienteer import Instance

FAMILIES = ("euclidean", "manhattan", "asymmetric", "nonmetric", "holes", "ties", "worthless")
"""asymmetric keeps the triangle inequality, nonmetric does not, holes lack arcs, ties are small whole numbers (zero
costs among them), worthless has many prizes of zero."""


def small_instance(family: str, size: int = 6, seed: int = 0, round_trip: bool = True) -> Instance:
    """A random problem of the family: same arguments, same problem."""
    rng = np.random.default_rng([FAMILIES.index(family), size, seed, round_trip])
    costs = _costs(family, size, rng)
    if family == "ties":
        prizes = rng.integers(0, 4, size).astype(float)
    else:
        prizes = rng.integers(1, 101, size) / 100
        if family == "worthless":
            prizes[rng.random(size) < 0.6] = 0.0
    start, end = (int(v) for v in rng.permutation(size)[:2]) if size > 1 else (0, 0)
    if round_trip:
        end = start
    cheapest = shortest(costs)
    if np.isinf(cheapest[start, end]):
        costs[start, end] = 1.0
        cheapest = shortest(costs)
    scale = float(np.median(cheapest[np.isfinite(cheapest)])) or 0.5
    limit = cheapest[start, end] + scale * rng.choice([0.1, 1.0, 1.5, 2.0, 2.5, 3.0, 5.0])
    if family == "ties":
        limit = max(1.0, np.floor(limit))
    return Instance(costs, prizes, max(limit, cheapest[start, end]), start, end)


def all_families(count: int, sizes: tuple[int, ...] = (3, 4, 5, 6, 7)) -> list[Instance]:
    """`count` problems of each family, sizes in turn, with start == end and start != end alternating."""
    return [
        small_instance(family, sizes[seed % len(sizes)], seed, round_trip=seed // len(sizes) % 2 == 0)
        for family in FAMILIES
        for seed in range(count)
    ]


def small_instances(max_size: int = 7, families: tuple[str, ...] = FAMILIES) -> st.SearchStrategy[Instance]:
    """A hypothesis strategy over all families, sizes from one node, start equal to end or not."""
    return st.builds(
        small_instance,
        family=st.sampled_from(families),
        size=st.integers(1, max_size),
        seed=st.integers(0, 10_000),
        round_trip=st.booleans(),
    )


def shuffled(instance: Instance, seed: int = 0) -> Instance:
    """The same problem with its nodes numbered differently."""
    new = np.random.default_rng(seed).permutation(instance.size)  # new[i]: the old number of node i
    old = np.argsort(new)
    return Instance(
        instance.costs[np.ix_(new, new)],
        instance.prizes[new],
        instance.limit,
        int(old[instance.start]),
        int(old[instance.end]),
    )


def shortest(costs: np.ndarray) -> np.ndarray:
    """(n, n) cheapest ways between all pairs, through any nodes."""
    best = costs.copy()
    np.fill_diagonal(best, 0.0)
    for through in range(len(best)):
        best = np.minimum(best, best[:, through, None] + best[None, through])
    return best


def _costs(family: str, size: int, rng: np.random.Generator) -> np.ndarray:
    points = rng.random((size, 2))
    gap = points[:, None] - points[None]
    euclidean = np.sqrt((gap**2).sum(-1))
    if family in ("euclidean", "worthless"):
        return euclidean
    if family == "manhattan":
        return np.abs(gap).sum(-1)
    random = rng.random((size, size))
    np.fill_diagonal(random, 0.0)
    if family == "asymmetric":
        return shortest(random)
    if family == "holes":
        random[rng.random((size, size)) < 0.35] = np.inf
        np.fill_diagonal(random, 0.0)
    if family == "ties":
        return rng.integers(0, 4, (size, size)).astype(float)
    return random
