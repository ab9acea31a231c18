"""The queues of a recorded search: kernels that take paths out of them and merge children into them.

A search keeps all candidates in one table, (row, 4) int64 as in `Candidates`: first the slots of every queue, then
places for the children of the paths that are being expanded. Numbers of paths stay on the GPU.
"""

import torch
import triton
import triton.language as tl

from orienteer.beam.candidates import MOST_GROUPS, MOST_SPOTS, bits_for_score

USED, FIRST, BUSY, TOKENS = (tl.constexpr(place) for place in range(4))
"""Places of `counters`: paths in the log, the first path of this step, instances with paths, tokens of this step."""
COUNTERS = 4
EMPTY = tl.constexpr(int(torch.tensor(-torch.inf, dtype=torch.float64).view(torch.int64)))
"""The score of a place without a path: the bits of minus infinity."""
_SIZES = ("levels", "slots", "width", "nodes", "first_child")
"""Arguments whose values differ between searches: or Triton compiles kernels anew for multiples of 16."""
SPOT_BITS, GROUP_BITS = (tl.constexpr(bits_for_score(most)) for most in (MOST_SPOTS, MOST_GROUPS))


@triton.jit
def begin_step(counters):  # type: ignore[no-untyped-def]
    """The next step begins where the log ends."""
    tl.store(counters + FIRST, tl.load(counters + USED))
    tl.store(counters + BUSY, 0)
    tl.store(counters + TOKENS, 0)


@triton.jit
def is_known(own, spent, row, holder, stamp, cost, slots, there):  # type: ignore[no-untyped-def]
    """Whether a logged path of the row with the same stamp costs no more: one slot of `holder` is looked up."""
    number = tl.load(holder + row * slots + (own & (slots - 1)), mask=there, other=-1)
    held = there & (number >= 0)
    same = tl.load(stamp + number, mask=held, other=0) == own
    return held & same & (tl.load(cost + number, mask=held, other=0.0) <= spent)


@triton.jit(do_not_specialize=_SIZES)
def pop(  # type: ignore[no-untyped-def]
    table, worst, filled, holder, counters, trail, cost, stamp, score, instance, begin, many, lag, levels, slots, width,
    LEVELS: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """Logs the new paths of one instance's cheapest queue that has any, and empties the queue.

    Left out are paths whose score is more than `lag` below the best of the queue.
    """
    row = tl.program_id(0).to(tl.int64)
    level = tl.arange(0, LEVELS)
    full = tl.load(filled + row * levels + level, mask=level < levels, other=0)
    lowest = tl.min(tl.where(full != 0, level, LEVELS), 0)
    if lowest == LEVELS:
        tl.store(many + row, 0)
    else:
        tl.atomic_add(counters + BUSY, 1)
        group = row * levels + lowest
        slot = tl.arange(0, WIDTH)
        place = table + (group * width + slot) * 4
        inside = slot < width
        bits = tl.load(place, mask=inside, other=EMPTY)
        there = bits != EMPTY
        spent = tl.load(place + 1, mask=there, other=0).to(tl.float64, bitcast=True)
        own = tl.load(place + 2, mask=there, other=0)
        way = tl.load(place + 3, mask=there, other=0)
        points = bits.to(tl.float64, bitcast=True)
        worth = there & ~(points < tl.max(points, 0) - tl.load(lag + row))
        new = worth & ~is_known(own, spent, row, holder, stamp, cost, slots, worth)
        count = tl.sum(new.to(tl.int64), 0)
        first = tl.atomic_add(counters + USED, count)
        number = first + tl.cumsum(new.to(tl.int64), 0) - 1
        tl.store(trail + number, way, mask=new)
        tl.store(cost + number, spent, mask=new)
        tl.store(stamp + number, own, mask=new)
        tl.store(score + number, points, mask=new)
        tl.store(instance + number, row + slot * 0, mask=new)
        tl.atomic_max(holder + row * slots + (own & (slots - 1)), number, mask=new)
        tl.store(begin + row, first)
        tl.store(many + row, count)
        tl.store(place, tl.full((WIDTH,), EMPTY, tl.int64), mask=inside)
        tl.store(worst + group, float("-inf"))
        tl.store(filled + group, 0)


@triton.jit(do_not_specialize=_SIZES)
def enter_paths(  # type: ignore[no-untyped-def]
    counters, trail, instance, prize, cost, visited, costs, to_end, straight, prizes, budget, start,
    closing_prize, closing_cost, closing_node, nodes, ROOM: tl.constexpr,
):  # fmt: skip
    """Logs what one path has visited and won, and notes the best way to close the path with one more node.

    The best way has the most prize, of equals the least cost, of equals the first node; minus infinity where none fits.
    """
    state = tl.program_id(0).to(tl.int64)
    path = tl.load(counters + FIRST) + state
    if path < tl.load(counters + USED):
        way, row = tl.load(trail + path), tl.load(instance + path)
        root = way < 0
        parent = tl.where(root, path, way // nodes)
        last = tl.where(root, tl.load(start + row), way % nodes)
        node = tl.arange(0, ROOM)
        inside = node < nodes
        been = tl.load(visited + parent * nodes + node, mask=inside, other=1)
        been = tl.where(node == last, 1, been.to(tl.int32)).to(tl.uint8)
        tl.store(visited + path * nodes + node, been, mask=inside)
        won = tl.load(prize + parent) + tl.where(root, 0.0, tl.load(prizes + row * nodes + last))
        tl.store(prize + path, won)
        never = float("inf")
        leg = tl.load(costs + (row * nodes + last) * nodes + node, mask=inside, other=never)
        arrival = tl.load(cost + path) + leg
        limit = tl.load(budget + row)
        rest = tl.load(to_end + row * nodes + node, mask=inside, other=never)
        total = arrival + tl.load(straight + row * nodes + node, mask=inside, other=never)
        closes = (arrival + rest <= limit) & (been == 0) & (total <= limit)
        more = won + tl.load(prizes + row * nodes + node, mask=inside, other=0.0)
        best = tl.max(tl.where(closes, more, -never), 0)
        equal = closes & (more >= best)
        least = tl.min(tl.where(equal, total, never), 0)
        tl.store(closing_prize + state, best)
        tl.store(closing_cost + state, least)
        tl.store(closing_node + state, tl.min(tl.where(equal & (total <= least), node, ROOM), 0).to(tl.int64))


@triton.jit(do_not_specialize=_SIZES)
def choose_children(  # type: ignore[no-untyped-def]
    counters, action, value, trust, trail, instance, prize, cost, stamp, score, costs, start, last_keys, both_keys,
    tau, table, level_of, worst, holder, levels, slots, nodes, first_child,
    ROOM: tl.constexpr, BRANCH: tl.constexpr, CHOICES: tl.constexpr,
):  # fmt: skip
    """The best children of one path, as candidates of the table, with their levels: -1 for one that need not wait."""
    state = tl.program_id(0).to(tl.int64)
    path = tl.load(counters + FIRST) + state
    if path < tl.load(counters + USED):
        way, row = tl.load(trail + path), tl.load(instance + path)
        root = way < 0
        last = tl.where(root, tl.load(start + row), way % nodes)
        node = tl.arange(0, ROOM)
        won, told = tl.load(prize + path), tl.load(value + state).to(tl.float64)
        total = won + tl.load(action + state * nodes + node, mask=node < nodes, other=float("-inf")).to(tl.float64)
        doubt = tl.where(root, 0.0, 1 - tl.load(trust + row))
        total = tl.where(doubt > 0, total + doubt * (tl.load(score + path) - won - told), total)
        rank = tl.arange(0, CHOICES)
        chosen, points = rank * 0, tl.full((CHOICES,), float("-inf"), tl.float64)
        for place in tl.static_range(BRANCH):
            best = tl.max(total, 0)
            taken = tl.min(tl.where(total == best, node, ROOM), 0)
            chosen = tl.where(rank == place, taken, chosen)
            points = tl.where(rank == place, best, points)
            total = tl.where(node == taken, float("-inf"), total)
        there = points > float("-inf")
        spent = tl.load(cost + path) + tl.load(costs + (row * nodes + last) * nodes + chosen, mask=there, other=0.0)
        names = tl.where(root, 0, tl.load(stamp + path) - tl.load(last_keys + last))
        own = names + tl.load(both_keys + chosen, mask=there, other=0)
        level = tl.ceil(spent / tl.load(tau + row)).to(tl.int32)
        able = there & (points >= tl.load(worst + row * levels + level, mask=there, other=float("inf")))
        able = able & ~is_known(own, spent, row, holder, stamp, cost, slots, able)
        child = state * BRANCH + rank
        room = rank < BRANCH
        tl.store(level_of + child, tl.where(able, level, -1), mask=room)
        place = table + (first_child + child) * 4
        tl.store(place, points.to(tl.int64, bitcast=True), mask=able & room)
        tl.store(place + 1, spent.to(tl.int64, bitcast=True), mask=able & room)
        tl.store(place + 2, own, mask=able & room)
        tl.store(place + 3, path * nodes + chosen, mask=able & room)


@triton.jit
def deal(  # type: ignore[no-untyped-def]
    counters, begin, many, closing_prize, closing_cost, closing_node, best_prize, best_cost, best_parent, best_last,
    level_of, order, BRANCH: tl.constexpr, WIDTH: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Takes one instance's best closed route into the incumbents, and orders its new children by level."""
    row = tl.program_id(0).to(tl.int64)
    count = tl.load(many + row)
    if count > 0:
        first = tl.load(begin + row)
        state = first - tl.load(counters + FIRST)
        slot = tl.arange(0, WIDTH)
        there = slot < count
        closing = tl.load(closing_prize + state + slot, mask=there, other=float("-inf"))
        total = tl.load(closing_cost + state + slot, mask=there, other=float("inf"))
        most = tl.max(closing, 0)
        equal = there & (closing == most)
        least = tl.min(tl.where(equal, total, float("inf")), 0)
        winner = tl.min(tl.where(equal & (total == least), slot, WIDTH), 0)
        known, paid = tl.load(best_prize + row), tl.load(best_cost + row)
        if (most > float("-inf")) & ((most > known) | ((most == known) & (least < paid))):
            tl.store(best_prize + row, most)
            tl.store(best_cost + row, least)
            tl.store(best_parent + row, first + winner)
            tl.store(best_last + row, tl.load(closing_node + state + winner))
        child, children = state * BRANCH, count * BRANCH
        step = tl.arange(0, TILE)
        for top in range(0, children, TILE):
            own = top + step
            level = tl.load(level_of + child + own, mask=own < children, other=-1)
            place = tl.zeros((TILE,), tl.int64)
            for left in range(0, children, TILE):
                other = left + step
                beside = tl.load(level_of + child + other, mask=other < children, other=-1)[None, :]
                sooner = (beside < level[:, None]) | ((beside == level[:, None]) & (other[None, :] < own[:, None]))
                place += tl.sum(((beside >= 0) & sooner).to(tl.int64), 1)
            tl.store(order + child + place, child + own, mask=level >= 0)


@triton.jit
def rank_of(score, BITS: tl.constexpr):  # type: ignore[no-untyped-def]
    """Numbers that fall as scores rise, of which `BITS` bits count: to nine digits or more."""
    bits = score.to(tl.int64, bitcast=True)
    rising = bits ^ ((bits >> 63) & 0x7FFFFFFFFFFFFFFF)
    return ~rising >> (64 - BITS)


@triton.jit
def _at(item, total, group, width, order, child, first_child):  # type: ignore[no-untyped-def]
    """Rows of the table: the slots of the queue, then the children that are to be merged."""
    new = tl.load(order + child + item - width, mask=(item >= width) & (item < total), other=0)
    return tl.where(item < width, group * width + item, first_child + new)


@triton.jit(do_not_specialize=_SIZES)
def merge(  # type: ignore[no-untyped-def]
    counters, begin, many, level_of, order, table, worst, filled, dropped, adjusted, place_of, price, levels, nodes,
    width, first_child, BRANCH: tl.constexpr, WIDTH: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Merges the new children of one instance that belong into one level with those that wait there.

    Of paths with the same stamp the cheapest stays. A path's rank falls by `price` for each better path with the same
    last node. The `width` best stay, from best to worst.
    """
    row = tl.program_id(0).to(tl.int64)
    level = tl.program_id(1)
    children = tl.load(many + row) * BRANCH
    child = (tl.load(begin + row) - tl.load(counters + FIRST)) * BRANCH
    step = tl.arange(0, TILE)
    before = tl.zeros((TILE,), tl.int64)
    here = tl.zeros((TILE,), tl.int64)
    for top in range(0, children, TILE):
        other = tl.load(level_of + child + top + step, mask=top + step < children, other=-1)
        before += ((other >= 0) & (other < level)).to(tl.int64)
        here += (other == level).to(tl.int64)
    count = tl.sum(here, 0)
    if count > 0:
        child += tl.sum(before, 0)
        group = row * levels + level
        total = width + count
        for top in range(0, total, TILE):
            item = top + step
            at = _at(item, total, group, width, order, child, first_child)
            inside = item < total
            there = inside & (tl.load(table + at * 4, mask=inside, other=EMPTY) != EMPTY)
            spent = tl.load(table + at * 4 + 1, mask=there, other=0)[:, None]  # bits of costs sort as the costs do
            own = tl.load(table + at * 4 + 2, mask=there, other=0)[:, None]
            twins = tl.zeros((TILE,), tl.int32)
            for left in range(0, total, TILE):
                other = left + step
                beside = _at(other, total, group, width, order, child, first_child)
                real = other < total
                real = real & (tl.load(table + beside * 4, mask=real, other=EMPTY) != EMPTY)
                price_paid = tl.load(table + beside * 4 + 1, mask=real, other=0)[None, :]
                stamps = tl.load(table + beside * 4 + 2, mask=real, other=0)[None, :]
                cheaper = (price_paid < spent) | ((price_paid == spent) & (other[None, :] < item[:, None]))
                twins += tl.sum((real[None, :] & (stamps == own) & cheaper).to(tl.int32), 1)
            tl.store(dropped + at, ((twins > 0) | ~there).to(tl.uint8), mask=inside)
        tl.debug_barrier()  # what one thread has written another may read
        charge = tl.load(price + row)
        for top in range(0, total, TILE):
            item = top + step
            at = _at(item, total, group, width, order, child, first_child)
            inside = item < total
            out = tl.load(dropped + at, mask=inside, other=1) != 0
            score = tl.load(table + at * 4, mask=inside, other=EMPTY).to(tl.float64, bitcast=True)
            rank = rank_of(score, SPOT_BITS)[:, None]
            spent = tl.load(table + at * 4 + 1, mask=~out, other=0)[:, None]
            node = (tl.load(table + at * 4 + 3, mask=~out, other=0) % nodes)[:, None]
            ahead = tl.zeros((TILE,), tl.int32)
            for left in range(0, total, TILE):
                other = left + step
                beside = _at(other, total, group, width, order, child, first_child)
                real = tl.load(dropped + beside, mask=other < total, other=1) == 0
                ranks = tl.load(table + beside * 4, mask=real, other=EMPTY).to(tl.float64, bitcast=True)
                ranks = rank_of(ranks, SPOT_BITS)[None, :]
                paid = tl.load(table + beside * 4 + 1, mask=real, other=0)[None, :]
                spot = (tl.load(table + beside * 4 + 3, mask=real, other=0) % nodes)[None, :]
                sooner = (paid < spent) | ((paid == spent) & (other[None, :] < item[:, None]))
                better = (ranks < rank) | ((ranks == rank) & sooner)
                ahead += tl.sum((real[None, :] & (spot == node) & better).to(tl.int32), 1)
            tl.store(adjusted + at, score - ahead.to(tl.float64) * charge, mask=inside & ~out)
        tl.debug_barrier()
        for top in range(0, total, TILE):
            item = top + step
            at = _at(item, total, group, width, order, child, first_child)
            inside = item < total
            out = tl.load(dropped + at, mask=inside, other=1) != 0
            score = tl.load(adjusted + at, mask=inside & ~out, other=float("-inf"))
            rank = rank_of(score, GROUP_BITS)[:, None]
            spent = tl.load(table + at * 4 + 1, mask=~out, other=0)[:, None]
            place = tl.zeros((TILE,), tl.int32)
            for left in range(0, total, TILE):
                other = left + step
                beside = _at(other, total, group, width, order, child, first_child)
                real = tl.load(dropped + beside, mask=other < total, other=1) == 0
                ranks = rank_of(tl.load(adjusted + beside, mask=real, other=float("-inf")), GROUP_BITS)[None, :]
                paid = tl.load(table + beside * 4 + 1, mask=real, other=0)[None, :]
                sooner = (paid < spent) | ((paid == spent) & (other[None, :] < item[:, None]))
                better = (ranks < rank) | ((ranks == rank) & sooner)
                place += tl.sum((real[None, :] & better).to(tl.int32), 1)
            tl.store(place_of + at, tl.where(out | (place >= width), -1, place), mask=inside)
            tl.store(worst + group + item * 0, score, mask=inside & ~out & (place == width - 1))
        tl.debug_barrier()
        slot = tl.arange(0, WIDTH)
        queue = table + group * width * 4
        within = slot < width
        goes = tl.load(place_of + group * width + slot, mask=within, other=-1).to(tl.int64)
        points = tl.load(queue + slot * 4, mask=within, other=EMPTY)
        paid = tl.load(queue + slot * 4 + 1, mask=within, other=0)
        stamps = tl.load(queue + slot * 4 + 2, mask=within, other=0)
        ways = tl.load(queue + slot * 4 + 3, mask=within, other=0)
        tl.debug_barrier()
        tl.store(queue + slot * 4, tl.full((WIDTH,), EMPTY, tl.int64), mask=within)
        tl.debug_barrier()
        stays = within & (goes >= 0)
        tl.store(queue + goes * 4, points, mask=stays)
        tl.store(queue + goes * 4 + 1, paid, mask=stays)
        tl.store(queue + goes * 4 + 2, stamps, mask=stays)
        tl.store(queue + goes * 4 + 3, ways, mask=stays)
        for top in range(0, count, TILE):
            item = width + top + step
            at = _at(item, total, group, width, order, child, first_child)
            inside = item < total
            to = tl.load(place_of + at, mask=inside, other=-1).to(tl.int64)
            enters = inside & (to >= 0)
            for column in tl.static_range(4):
                number = tl.load(table + at * 4 + column, mask=enters, other=0)
                tl.store(queue + to * 4 + column, number, mask=enters)
        tl.store(filled + group, 1)
