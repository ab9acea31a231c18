"""Stretches of routes exchanged for stretches of logged paths, as GPU kernels; `host/exchange.py` says how.

Many routes go through rounds together. In each, one kernel surveys the routes, one looks for the best exchange of each
route in a block of paths, and one makes the exchanges; routes that nothing improves drop out.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from orienteer.beam.backend.protocol import Over
from orienteer.beam.paths import SortedPaths
from orienteer.beam.problems import Problems
from orienteer.beam.recombine import ROUNDS, SAVING

MOST_ROUTES = 2**15
"""Routes of a launch: the second axis of a grid holds fewer than 2**16 programs."""
PATHS = 128
"""Paths that a program looks at."""
AT_ONCE = 2**22
"""Places of the routes that go through rounds together: each place needs dozens of bytes."""


def walk(problems: Problems, paths: SortedPaths, directions: int, base: Tensor) -> tuple[Tensor, Tensor]:
    """(route, node + 1) the routes along the `base` paths, then straight to their other ends; (route,) their sizes."""
    route = torch.zeros(len(base), problems.nodes + 1, dtype=torch.int64, device=base.device)
    size = torch.empty_like(base)
    if len(base):
        row = torch.searchsorted(paths.first, base, right=True) - 1
        _walk_kernel[(len(base),)](
            route, size, base, row, directions, paths.parent, paths.last, problems.start, problems.end, route.shape[1],
            num_warps=1,
        )  # fmt: skip
    return route, size


def fused_exchange(
    problems: Problems, paths: SortedPaths, directions: int, row: Tensor, route: Tensor, size: Tensor, over: Over
) -> tuple[Tensor, Tensor]:
    """(route,) the prizes of the stops and the costs after all exchanges, which change `route` and `size`.

    Args:
        row: (route,) the first row of each route's instance.
        route: (route, node + 1) nodes, of which the first `size` (route,) count.
        over: Whether to end early; asked before every round.
    """
    at_once = min(max(1, AT_ONCE // problems.nodes), MOST_ROUTES)
    parts = [slice(at, at + at_once) for at in range(0, len(route), at_once)]
    results = [_rounds(problems, paths, directions, row[part], route[part], size[part], over) for part in parts]
    return torch.cat([prize for prize, _ in results]), torch.cat([cost for _, cost in results])


def _rounds(
    problems: Problems, paths: SortedPaths, directions: int, row: Tensor, route: Tensor, size: Tensor, over: Over
) -> tuple[Tensor, Tensor]:
    budget = problems.safe_budget
    prize, cost = torch.empty_like(budget[row]), torch.empty_like(budget[row])
    begin, ahead, end = paths.first[row], paths.first[row + 1], paths.first[row + directions]
    blocks = triton.cdiv(int((end - begin).max()), PATHS)
    symmetric = problems.symmetric.to(torch.int32)
    left = torch.arange(len(route), device=route.device)  # which routes may still get better
    for turn in range(ROUNDS + 1):
        own = row[left]
        current, length = route[left], size[left]
        place, spent, won, passed = _surveyed(problems, paths, own, current, length)
        last = (length - 1)[:, None]
        prize[left], cost[left] = won.gather(1, last)[:, 0], spent.gather(1, last)[:, 0]
        if turn == ROUNDS or over():
            break
        shape = (len(left), blocks)
        gain, total = (torch.empty(shape, dtype=torch.float64, device=route.device) for _ in range(2))
        move = torch.empty(3, *shape, dtype=torch.int64, device=route.device)
        _scan_kernel[shape[::-1]](
            gain, total, move, len(left) * blocks, own, begin[left], ahead[left], end[left],
            paths.parent, paths.last, paths.cost, paths.prize, paths.stops, problems.costs, problems.prizes, budget,
            symmetric, current, length, place, spent, won, passed, SAVING, current.shape[1], problems.nodes,
            paths.stops.shape[1], PATHS=PATHS, num_warps=4,
        )  # fmt: skip
        best = gain.amax(1, keepdim=True)
        block = total.masked_fill(gain < best, torch.inf).argmin(1, keepdim=True)  # the first of equals
        path, origin, closing = (one.gather(1, block)[:, 0] for one in move)
        found = (path >= 0).nonzero().squeeze(1)
        if not len(found):
            break
        changed, new_size = torch.zeros_like(current[found]), torch.empty_like(found)
        _put_in_kernel[(len(found),)](
            changed, new_size, found, current, length, place, path, origin, closing, ahead[left],
            paths.parent, paths.last, current.shape[1], problems.nodes,
            ROOM=triton.next_power_of_2(current.shape[1]), num_warps=1,
        )  # fmt: skip
        left = left[found]
        route[left], size[left] = changed, new_size
    return prize, cost


def _surveyed(
    problems: Problems, paths: SortedPaths, row: Tensor, route: Tensor, size: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(route, node) each stop's place, and (route, place, ...) cost, prize and set of stops up to each place."""
    count, room = route.shape
    place = torch.full((count, problems.nodes), -1, device=route.device)
    spent, won = (torch.zeros(count, room, dtype=torch.float64, device=route.device) for _ in range(2))
    passed = torch.zeros(count, room, paths.stops.shape[1], dtype=torch.int64, device=route.device)
    _survey_kernel[(count,)](
        place, spent, won, passed, row, route, size, problems.costs, problems.prizes, room, problems.nodes,
        paths.stops.shape[1], num_warps=1,
    )  # fmt: skip
    return place, spent, won, passed


@triton.jit
def _walk_kernel(  # type: ignore[no-untyped-def]
    route, size, base, row, directions, parent, last, start, end, room
):
    number = tl.program_id(0).to(tl.int64)
    path = tl.load(base + number)
    own = tl.load(row + number)
    back = own % directions  # the second row of an instance has the paths from the end
    first = own - back
    length, above = path * 0 + 2, tl.load(parent + path)
    ancestor = path
    while above >= 0:
        length += 1
        ancestor = above
        above = tl.load(parent + ancestor)
    out = route + number * room
    tl.store(size + number, length)
    tl.store(out, tl.load(start + first))
    tl.store(out + length - 1, tl.load(end + first))
    spot = tl.where(back > 0, 1, length - 2)
    step = tl.where(back > 0, 1, -1)
    above = tl.load(parent + path)
    while above >= 0:
        tl.store(out + spot, tl.load(last + path))
        spot += step
        path = above
        above = tl.load(parent + path)


@triton.jit
def _survey_kernel(  # type: ignore[no-untyped-def]
    place, spent, won, passed, row, route, size, costs, prizes, room, nodes, words
):
    number = tl.program_id(0).to(tl.int64)
    own, length = tl.load(row + number), tl.load(size + number)
    at = number * room
    cost, prize = tl.load(spent + at), tl.load(won + at)  # zeros
    before = tl.load(route + at)
    spot = length * 0 + 1
    while spot < length:
        node = tl.load(route + at + spot)
        leg = tl.load(costs + (own * nodes + before) * nodes + node)
        cost += tl.where(node == before, 0.0, leg)
        stop = spot < length - 1
        prize += tl.where(stop, tl.load(prizes + own * nodes + node), 0.0)
        tl.store(spent + at + spot, cost)
        tl.store(won + at + spot, prize)
        tl.store(place + number * nodes + node, spot, mask=stop)
        before = node
        spot += 1
    # The sets word by word, so that each is carried along in a register.
    for word in range(words):
        bits = length * 0
        spot = length * 0 + 1
        while spot < length:
            node = tl.load(route + at + spot)
            here = (spot < length - 1) & (node // 64 == word)
            bits = tl.where(here, bits | (tl.full((), 1, tl.int64) << (node % 64)), bits)
            tl.store(passed + (at + spot) * words + word, bits)
            spot += 1


@triton.jit(do_not_specialize=["cells"])  # or Triton compiles it anew for 1 and for multiples of 16
def _scan_kernel(  # type: ignore[no-untyped-def]
    gain_out, total_out, move, cells, row, begins, aheads, ends, parent, last, cost, prize, stops, costs, prizes,
    budget, symmetric, route, size, place, spent, won, passed, saving, room, nodes,
    words, PATHS: tl.constexpr,
):  # fmt: skip
    number, block = tl.program_id(1).to(tl.int64), tl.program_id(0)
    cell = number * tl.num_programs(0) + block
    own, length = tl.load(row + number), tl.load(size + number)
    most = tl.load(budget + own)
    at = number * room
    whole = tl.load(spent + at + length - 1)
    path = tl.load(begins + number) + block * PATHS + tl.arange(0, PATHS)
    there = path < tl.load(ends + number)
    back = path >= tl.load(aheads + number)
    either = tl.load(symmetric + own) + path * 0  # above zero where both directions will do
    above = tl.load(parent + path, mask=there, other=-1)
    node = tl.load(last + path, mask=there, other=0)
    path_cost = tl.load(cost + path, mask=there, other=0.0)
    path_prize = tl.load(prize + path, mask=there, other=0.0)
    far_end, near_end = tl.where(back, 0, length - 1), tl.where(back, length - 1, 0)
    start, end = tl.load(route + at), tl.load(route + at + length - 1)
    legs = tl.where(back, start * nodes + node, node * nodes + end)
    leg = tl.load(costs + own * nodes * nodes + legs, mask=there, other=float("inf"))
    far = tl.load(place + number * nodes + node, mask=there, other=-1)
    worth = path_prize - tl.load(prizes + own * nodes + node, mask=there, other=0.0)
    # What an exchange up to the last node's place, or up to the far end, costs and brings, but for where it begins:
    # before that place (0) or behind it (1).
    on_route = there & (far >= 0)
    spent_far = tl.load(spent + at + far, mask=on_route, other=0.0)
    cost_0, cost_1 = whole - spent_far + path_cost, whole + spent_far + path_cost
    gain_0 = worth - tl.load(won + at + far - 1, mask=on_route, other=0.0)
    gain_1 = worth + tl.load(won + at + far, mask=on_route, other=0.0)
    spent_end = tl.where(back, 0.0, whole)
    end_cost_0, end_cost_1 = whole - spent_end + path_cost + leg, whole + spent_end + path_cost + leg
    all_won = tl.load(won + at + length - 1)
    end_gain_0, end_gain_1 = path_prize - all_won, path_prize + tl.where(back, 0.0, all_won)
    best = tl.zeros((PATHS,), tl.float64)
    least = tl.zeros((PATHS,), tl.float64) + (whole - saving * most)
    origin_found = path * 0 - 1
    closing_found = path * 0
    origin = path
    active = there & (above >= 0)
    while tl.max(active.to(tl.int32), 0) > 0:
        higher = tl.load(parent + origin, mask=active, other=-1)
        from_node = tl.load(last + origin, mask=active, other=0)
        near = tl.load(place + number * nodes + from_node, mask=active, other=-1)
        near = tl.where(higher < 0, near_end, near)
        starts = active & (near >= 0)
        there_cost = tl.load(cost + origin, mask=starts, other=0.0)
        there_prize = tl.load(prize + origin, mask=starts, other=0.0)
        near_spent = tl.load(spent + at + near, mask=starts, other=0.0)
        near_won = tl.load(won + at + near, mask=starts, other=0.0)
        before = tl.load(won + at + near - 1, mask=starts & (near > 0), other=0.0)
        add_cost_0, add_gain_0 = near_spent - there_cost, near_won - there_prize
        add_cost_1, add_gain_1 = -near_spent - there_cost, -before - there_prize
        for closing in tl.static_range(2):
            if closing:
                to = far_end
                ahead = near < to
                total = tl.where(ahead, end_cost_0 + add_cost_0, end_cost_1 + add_cost_1)
                gain = tl.where(ahead, end_gain_0 + add_gain_0, end_gain_1 + add_gain_1)
            else:
                to = far
                ahead = near < to
                total = tl.where(ahead, cost_0 + add_cost_0, cost_1 + add_cost_1)
                gain = tl.where(ahead, gain_0 + add_gain_0, gain_1 + add_gain_1)
            natural = tl.where(back, near > to, ahead)
            fits = starts & (to >= 0) & (near != to) & (natural | (either > 0))
            fits = fits & ((gain > best) | ((gain == best) & (total < least))) & (total <= most)
            if tl.max(fits.to(tl.int32), 0) > 0:
                left, right = tl.minimum(near, to), tl.maximum(near, to)
                for word in range(words):
                    new = tl.load(stops + path * words + word, mask=fits, other=0)
                    new = new ^ tl.load(stops + origin * words + word, mask=fits, other=0)
                    if closing == 0:
                        one = tl.full((PATHS,), 1, tl.int64) << (node % 64)
                        new = tl.where(node // 64 == word, new & ~one, new)
                    gone = tl.load(passed + (at + right - 1) * words + word, mask=fits, other=0)
                    gone = gone & ~tl.load(passed + (at + left) * words + word, mask=fits, other=0)
                    kept = tl.load(passed + (at + length - 1) * words + word) & ~gone
                    fits = fits & ((new & kept) == 0)
                best, least = tl.where(fits, gain, best), tl.where(fits, total, least)
                origin_found = tl.where(fits, origin, origin_found)
                closing_found = tl.where(fits, closing, closing_found)
        origin = tl.where(active, higher, origin)
        active = active & (higher >= 0)
    found = origin_found >= 0
    top = tl.max(tl.where(found, best, float("-inf")), 0)
    cheapest = tl.min(tl.where(found & (best == top), least, float("inf")), 0)
    place_in_block = tl.arange(0, PATHS)
    chosen = tl.min(tl.where(found & (best == top) & (least == cheapest), place_in_block, PATHS), 0)
    is_chosen = place_in_block == chosen
    tl.store(gain_out + cell, top)
    tl.store(total_out + cell, cheapest)
    tl.store(move + cell, tl.where(chosen < PATHS, tl.sum(tl.where(is_chosen, path, 0), 0), -1))
    tl.store(move + cells + cell, tl.sum(tl.where(is_chosen, origin_found, 0), 0))
    tl.store(move + 2 * cells + cell, tl.sum(tl.where(is_chosen, closing_found, 0), 0))


@triton.jit
def _put_in_kernel(  # type: ignore[no-untyped-def]
    out, new_size, found, route, size, place, paths, origins, closings, aheads, parent, last, room, nodes,
    ROOM: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(0).to(tl.int64)
    number = tl.load(found + program)
    path, origin, closing = tl.load(paths + number), tl.load(origins + number), tl.load(closings + number)
    length, back = tl.load(size + number), path >= tl.load(aheads + number)
    marks = place + number * nodes
    near = tl.where(back, length - 1, 0)
    if tl.load(parent + origin) >= 0:
        near = tl.load(marks + tl.load(last + origin))
    far = tl.where(back, 0, length - 1)
    if closing == 0:
        far = tl.load(marks + tl.load(last + path))
        path = tl.load(parent + path)
    left, right = tl.minimum(near, far), tl.maximum(near, far)
    count, ancestor = length * 0, path
    while ancestor != origin:
        count += 1
        ancestor = tl.load(parent + ancestor)
    spot = tl.where(near < far, left + count, left + 1)
    step = tl.where(near < far, -1, 1)
    while path != origin:
        tl.store(out + program * room + spot, tl.load(last + path))
        spot += step
        path = tl.load(parent + path)
    old = tl.arange(0, ROOM)
    node = tl.load(route + number * room + old, mask=old < length, other=0)
    moved = tl.where(old <= left, old, old - right + left + 1 + count)
    tl.store(out + program * room + moved, node, mask=(old <= left) | ((old >= right) & (old < length)))
    tl.store(new_size + program, left + 1 + count + length - right)
