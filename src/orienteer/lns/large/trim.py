"""Making a route that is too long fit: stops that bring least for what they cost go first."""

from orienteer.kernel import lean
from orienteer.lns.large.anneal import detour, take_out
from orienteer.lns.route import Ground, Route, unlink

RISE = 1.1
"""The factor by which the price rises from one look at all stops to the next."""


@lean
def trim(ground: Ground, route: Route, budget: float, price: float) -> None:
    """Drops stops that do not pay at a price of cost, which rises until the route is within the budget.

    A route that has no stops left may still be too long.
    """
    last = len(ground.prizes) - 1
    while route.total[0] > budget and route.after[0] != last:
        node = route.after[0]
        while node != last and route.total[0] > budget:
            following = route.after[node]
            if ground.prizes[node] <= price * detour(ground, route.before[node], node, following):
                take_out(ground, route, node)
                unlink(route, node)
            node = following
        price *= RISE
