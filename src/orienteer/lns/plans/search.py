"""The search for plans: its settings in the problem's units, its pieces of work, its best plan."""

import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from orienteer.kernel import Floats, Ints, seed_state
from orienteer.lns.phases import Phase, starts
from orienteer.lns.plans.anneal import Best, Moves, anneal
from orienteer.lns.plans.detours import new_detours
from orienteer.lns.plans.orders import Orders, new_orders, new_saved, refresh
from orienteer.lns.plans.pool import Pool
from orienteer.lns.plans.recreate import new_candidates
from orienteer.model.instance import Instance
from orienteer.model.plan import Plan
from orienteer.model.plan_view import PlanView
from orienteer.search.run import Run

EXPONENTS = np.linspace(0.5, 1.5, 9)
"""The powers to which worth is raised before it is divided by costs; each recreation draws one."""
LOOK, MANY = 16, 500
"""Beside how many of its nearest visited places a place is tried where there are many places and no windows."""
BONUS = 20.0
"""What a required place is worth in the search besides its prize, in largest prizes."""

COOL = 0.5
"""How far the temperature has fallen when routes are good enough for the pool."""
SNAPSHOTS = 4
"""How many plans of a piece of work the pool then gets."""

NextPiece = Callable[[Run, float, float], tuple[int, float, float]]
"""Says how many steps to do next, and how far the temperature has fallen before and after them."""


@dataclass(frozen=True)
class PlanMoves:
    """What a step of the search for plans does; temperatures and prices are relative to the instance."""

    hot: float = 1.5
    """Temperature at the start, in mean prizes."""
    cold: float = 0.05
    """Temperature at the end, in mean prizes."""
    slack_price: float = 3.0
    """What an unused limit of all routes is worth when plans are compared, in mean prizes."""
    floor: float = 0.05
    """Added to insertion costs before worth is divided by them, as a share of a typical leg."""
    remove: int = 30
    """The most stops removed in a step."""
    longest: int = 20
    """The most stops of a string that is removed."""
    strings: int = 3
    """The most strings, each from another route, removed in a step."""
    spare: float = 0.3
    """The probability that a string leaves a stop inside it."""
    fewest: int = 15
    """The fewest candidates for insertion besides the stops removed."""
    most: int = 45
    """The most candidates for insertion besides the stops removed."""
    ratio_share: float = 0.6
    """The probability that routes are recreated by worth over cost; otherwise in random order or by worth."""
    noise: float = 0.25
    """The random factor on worth, where it is divided by costs, is between 1 - noise and 1 + noise."""
    pool: bool = False
    """Whether routes of different plans are put together; not where groups or budgets tie routes to each other."""
    tails_share: float = 0.5
    """The probability that two ruined routes exchange what comes behind their ruins, if both then are in time."""
    look: int = 0
    """Beside how many of its nearest visited places a place is tried; 0 tries it everywhere."""
    plain: bool = False
    """Whether only detours are looked at, and no clocks: right without windows, and where `look` is 0."""
    starts: int = 16
    """The most searches from empty routes, of which the best plan is then improved; with little time it is one."""
    start_steps: int = 1000
    """Steps for each place that such a search should have at least."""
    starts_share: float = 0.6
    """The share of the allowance that these searches have."""
    cooled: float = 0.4
    """How far the temperature has fallen when the best plan is improved."""
    big_share: float = 0.15
    """The probability of a large ruin."""
    big: int = 2
    """The factor on the numbers of stops and strings in a large ruin."""


def moves_for(instance: Instance) -> PlanMoves:
    """Settings that were best on random problems of the kind.

    Without windows, or with budgets and groups, good plans lie far apart: larger ruins and a higher temperature lead
    from one to the other. Windows alone hold routes together: the temperature may fall further, and a search settles
    ten times as soon. Many short searches, each from empty routes, find better plans than a few long ones, and several
    routes of different plans may make a better one.
    """
    if instance.windows is None:
        many = instance.size > MANY
        return PlanMoves(cold=0.15, big=4, remove=20, longest=10, look=LOOK if many else 0, plain=not many)
    if instance.budgets or instance.groups:
        return PlanMoves(cold=0.15, big=4, remove=20, longest=10, starts=1)
    return PlanMoves(start_steps=100, pool=len(instance.each_route) > 1)


def improve_plan(run: Run, seed: int, config: PlanMoves, next_piece: NextPiece, began: float) -> None:
    """Ruins and recreates the run's best plan, or empty routes, until the run ends."""
    view = run.instance.plan_view
    places = len(view.nodes)
    orders = new_orders(view)
    if run.plan is not None:
        load(view, orders, run.plan)
    elif not len(run.instance.required) and np.isfinite(orders.begin[:, 1]).all():  # idle routes are in time
        _offer(run, view, orders.node, orders.size)
    if not places:
        return
    worth = _worth(view)
    _count_all(view, orders, worth)
    powers = _powers(worth)
    moves = in_units(view, config)
    best = Best(orders.node.copy(), orders.size.copy(), np.array([-math.inf, math.inf, 0.0]))
    if run.plan is not None:
        best.total[0] = orders.total[0]
        best.total[1] = run.plan.cost
    candidates, detours, saved = new_candidates(view), new_detours(view), new_saved(view)
    state, pace, known = seed_state(seed), 0.0, 0.0
    pool = Pool(view, worth)
    needed = int(view.required.sum())
    phases, now, planned = _phases(config, 1), 0, False
    while True:
        steps, begin, end = next_piece(run, began, pace)
        if pace and not planned:  # the first piece has told how long a step takes
            planned = True
            phases = _phases(config, _starts(run, config, pace, places))
        if begin < phases[now].begins:  # nothing says how long the search may take, and a new cycle begins
            now = 0
        while now + 1 < len(phases) and begin >= phases[now].ends:
            now += 1
            _clear(view, orders)
            if not phases[now].afresh and run.plan is not None:
                if config.pool:
                    _combine(run, view, orders, pool)
                load(view, orders, run.plan)
            _count_all(view, orders, worth)
            if orders.total[0] > best.total[0] and run.plan is not None:  # from the pool
                best.total[0], best.total[1] = orders.total[0], run.plan.cost
            detours.known[:] = candidates.known[:] = -1
        phase = phases[now]
        cool = config.pool and phase.at(end) >= COOL
        started = time.perf_counter()
        for some, since, until in _parts(steps, phase.at(begin), phase.at(end), SNAPSHOTS if cool else 1):
            anneal(
                view,
                orders,
                best,
                moves,
                worth,
                powers,
                candidates,
                detours,
                saved,
                needed,
                some,
                since,
                until,
                state,
            )
            if cool:
                pool.add(orders.node, orders.size)
        pace = (time.perf_counter() - started) / steps
        if best.total[2] > known:
            known = best.total[2]
            run.steps += steps
            _offer(run, view, best.node, best.size)
            steps = 0
        if run.step(steps):
            if config.pool and run.plan is not None:
                _clear(view, orders)
                _combine(run, view, orders, pool)
            return


def _parts(steps: int, begin: float, end: float, count: int) -> list[tuple[int, float, float]]:
    """A piece of work in up to `count` parts: the steps of each, and how far the temperature has fallen around it."""
    cuts = sorted({steps * part // count for part in range(count + 1)})
    fall = (end - begin) / steps
    return [(cut - last, begin + fall * last, begin + fall * cut) for last, cut in itertools.pairwise(cuts)]


def load(view: PlanView, orders: Orders, plan: Plan) -> None:
    """Puts a plan into orders that visit no place; places out of reach do not occur in plans that pass the check."""
    for route, tour in enumerate(plan.routes):
        _fill(view, orders, route, view.numbers(tour.nodes, route))


def _fill(view: PlanView, orders: Orders, route: int, numbers: Ints) -> None:
    """Puts a route, its ends included, into an order that visits no place."""
    orders.size[route] = len(numbers)
    orders.node[route, : len(numbers)] = numbers
    orders.route[numbers[1:-1]] = route
    refresh(view, orders, route)


def _starts(run: Run, config: PlanMoves, pace: float, places: int) -> int:
    """How many searches from empty routes the allowance is good for; `pace` is the seconds that a step takes."""
    now = run.now()
    steps = min(run.stop.steps_left(now), run.stop.seconds_left(now) / pace)
    if math.isinf(steps):
        return 1
    return max(1, min(config.starts, int(config.starts_share * steps / (config.start_steps * places))))


def _phases(config: PlanMoves, count: int) -> list[Phase]:
    """Several searches from empty routes, of which the best plan is then improved."""
    phases = starts(count, config.starts_share)
    begins = config.starts_share
    while begins < 1:
        ends = 1.0 if begins > 0.8 else begins + 0.5 * (1 - begins)
        phases.append(Phase(begins, ends, config.cooled, False))
        begins = ends
    return phases


def _combine(run: Run, view: PlanView, orders: Orders, pool: Pool) -> None:
    """Offers the best choice of the pool's routes and the best plan's; orders visit no place before and after."""
    assert run.plan is not None
    load(view, orders, run.plan)
    choice = pool.best_choice(pool.add(orders.node, orders.size))
    _clear(view, orders)
    for route, nodes in enumerate(choice):
        _fill(view, orders, route, np.array([orders.node[route, 0], *nodes, orders.node[route, 1]]))
    rows, last = np.arange(view.routes), orders.size - 1
    if (orders.begin[rows, last] <= orders.latest[rows, last]).all():  # fewer stops may take longer on crooked costs
        _offer(run, view, orders.node, orders.size)
    _clear(view, orders)


def _clear(view: PlanView, orders: Orders) -> None:
    """Takes all places out of the orders."""
    orders.route[:] = -1
    orders.size[:] = 2
    orders.node[:, 1] = orders.node[:, 0] + 1
    orders.taken[:] = 0
    for route in range(view.routes):
        refresh(view, orders, route)


def in_units(view: PlanView, config: PlanMoves) -> Moves:
    """The settings in the problem's units of prize and cost."""
    mean = float(view.prizes.mean()) or 1.0
    return Moves(
        hot=config.hot * mean,
        cold=config.cold * mean,
        slack_price=config.slack_price * mean / view.routes,
        floor=config.floor * typical_leg(view),
        remove=config.remove,
        longest=config.longest,
        strings=config.strings,
        spare=config.spare,
        fewest=config.fewest,
        most=config.most,
        ratio_share=config.ratio_share,
        noise=config.noise,
        tails_share=config.tails_share,
        look=config.look,
        big_share=config.big_share,
        big=config.big,
        plain=config.plain,
    )


def typical_leg(view: PlanView) -> float:
    """The median cost from a place to its fifth nearest, visits included."""
    if view.near.shape[1] == 0:
        return 1.0
    fifth = view.near[:, min(4, view.near.shape[1] - 1)]
    return float(np.median(view.costs[np.arange(len(fifth)), fifth])) or 1.0


def _worth(view: PlanView) -> Floats:
    bonus = BONUS * (float(view.prizes.max()) or 1.0)
    return view.prizes + np.where(view.required, bonus, 0.0)


def _powers(worth: Floats) -> Floats:
    relative = worth / (worth.max() or 1.0)  # powers of the largest floats would overflow
    return np.array([relative**exponent for exponent in EXPONENTS])


def _count_all(view: PlanView, orders: Orders, worth: Floats) -> None:
    """Puts the totals of loaded orders right."""
    visited = np.flatnonzero(orders.route[: len(view.nodes)] >= 0)
    orders.total[:] = worth[visited].sum(), view.required[visited].sum()
    orders.used[:] = view.weights[visited].sum(axis=0)
    for node in visited.tolist():
        orders.taken[view.group[view.group_first[node] : view.group_first[node + 1]]] += 1


def _offer(run: Run, view: PlanView, node: Ints, size: Ints) -> None:
    run.offer_plan([view.route(node[route, : size[route]], route) for route in range(view.routes)])
