"""Visit times and a free end, put into the costs of a plain problem: then every solver can work on them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from orienteer.model.numbers import TOLERANCE, frozen
from orienteer.model.rules import Budget, Feature

if TYPE_CHECKING:
    from orienteer.model.instance import Instance

REDUCED: frozenset[Feature] = frozenset({"service", "free end"})
"""What `reduced` takes away."""
ROUNDING = 1e-11
"""Added as a share to a limit that sums in another order are compared with."""


def reduced(instance: "Instance") -> "Instance":
    """A plain problem with the same routes, or the instance itself where it is plain or has rules that no costs hold.

    A leg gets half of the visit at either end, so that costs stay symmetric. A free end becomes one more node, the
    last, which every node reaches at no cost; `lifted` drops it from a route.
    """
    if not instance.features or not instance.features <= REDUCED:
        return instance
    return _plain(instance)


def with_choices(instance: "Instance") -> "Instance":
    """As `reduced`, for a problem with one route, no windows, and required nodes, groups or budgets, which stay.

    Its limit has room for rounding: whether a route fits is for `check_plan` and the instance itself to say.
    """
    plain = _plain(instance)
    extra = plain.size - instance.size
    budgets = tuple(
        Budget(one.name, frozen(np.append(one.weights, np.zeros(extra))), one.most) for one in instance.budgets
    )
    limit = max(instance.limit, instance.limit + instance.slack - TOLERANCE * instance.limit) * (1 + ROUNDING)
    known = {name: getattr(plain, name) for name in ("costs", "prizes", "start", "end", "from_start", "to_end")}
    return type(plain).unchecked(
        **known, limit=limit, required=instance.required, groups=instance.groups, budgets=budgets
    )


def _plain(instance: "Instance") -> "Instance":
    """The plain problem with the instance's visits and free end in its costs, whatever else the instance has."""
    from orienteer.model.instance import Instance  # which imports this module

    costs, prizes = instance.costs, instance.prizes
    half = np.zeros(len(costs)) if instance.service is None else instance.service / 2
    if instance.service is not None:
        costs = costs + (half[:, None] + half[None, :])
    if instance.end is not None:
        return Instance(costs, prizes, instance.limit, instance.start, instance.end)
    size = len(costs)
    table = np.zeros((size + 1, size + 1))
    table[:size, :size] = costs
    table[:size, size] = table[size, :size] = half
    # Walks through the free end, which nobody leaves, would make every node seem near: so these are given, not found.
    from_start = np.append(instance.reach.arrive[0] - instance.each_route[0].opens + half, 0.0)
    return Instance.unchecked(
        costs=frozen(table),
        prizes=frozen(np.append(prizes, 0.0)),
        limit=instance.limit,
        start=instance.start,
        end=size,
        from_start=frozen(from_start),
        to_end=frozen(np.append(half, 0.0)),
    )


def lifted(instance: "Instance", nodes: tuple[int, ...]) -> tuple[int, ...]:
    """A route of the reduced problem as a route of the instance."""
    return nodes[:-1] if instance.end is None and instance.reduced is not instance else nodes


def lowered(instance: "Instance", nodes: Sequence[int]) -> Sequence[int]:
    """A route of the instance as a route of the reduced problem."""
    free = instance.end is None and instance.reduced is not instance
    return [*nodes, instance.size] if free else nodes
