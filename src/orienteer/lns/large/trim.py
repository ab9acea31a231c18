"""Making a route that is too long fit: stops that bring least for what they cost go first."""

from orienteer.kernel import lean
from orienteer.lns.large.anneal import detour, take_out
from orienteer.lns.route import Ground, Route, unlink

RISE = 1.1
"""The factor by which the price rises from one look at all stops to the next."""


@lean
def trim(ground: Ground, route: Route, budget: float, price: float) -> None:
    """Drops stops that do not pay at a price of cost, which rises until the route is within the budget.

    Where no stop saves anything alone, as of two at the same place, the one with the least prize goes. A route that has
    no stops left may still be too long.
    """
    last = len(ground.prizes) - 1
    while route.total[0] > budget and route.after[0] != last:
        node = least = route.after[0]
        saves = False
        while node != last and route.total[0] > budget:
            following = route.after[node]
            saved = detour(ground, route.before[node], node, following)
            if ground.prizes[node] <= price * saved:
                take_out(ground, route, node)
                unlink(route, node)
            elif ground.prizes[node] < ground.prizes[least] or route.before[least] < 0:
                least = node
            saves = saves or saved > 0
            node = following
        if not saves and route.before[least] >= 0:
            take_out(ground, route, least)
            unlink(route, least)
        price *= RISE
