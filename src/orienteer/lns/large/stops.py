"""Whether a route of a large problem visits few of its places."""

from orienteer.construct.insertion import construct
from orienteer.construct.tsili import desirability
from orienteer.lns.large.search import is_large
from orienteer.model.distances import Distances
from orienteer.model.instance import Instance

FEW = 0.125
"""A route visits few places if the greedy one visits at most this share of those within reach."""


def visits_few(instance: Instance) -> bool:
    """Whether routes of a large problem with a table of costs have few stops; no compiled loop is needed to know."""
    if isinstance(instance.costs, Distances) or not is_large(instance):
        return False
    routes = construct(instance, 1, lambda leg, fits: desirability(instance.prizes, leg, fits).argmax(axis=1))
    return bool(routes) and len(routes[0]) <= FEW * instance.reachable.sum()
