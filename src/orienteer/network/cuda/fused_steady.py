"""The kernels of a recorded pass that other passes do not share: what tokens are made of, and what the heads say.

Arrays have fixed sizes, for the most paths that a step may have; programs beyond the paths that are there end at once.
Tokens of all paths lie one after the other, in no particular order of paths.
"""

import triton
import triton.language as tl

from orienteer.beam.backend.cuda.fused_queues import FIRST, TOKENS, USED
from orienteer.network import columns
from orienteer.network.cuda.fused_layer import normalised

_NODE_FEATURES, _GLOBAL_FEATURES, _BASE_FEATURES = (
    tl.constexpr(len(names)) for names in (columns.NODE_FEATURES, columns.GLOBAL_FEATURES, columns.BASE_FEATURES)
)
_PRIZE, _CURRENT, _END, _CHOICE = map(tl.constexpr, (columns.PRIZE, columns.CURRENT, columns.END, columns.CHOICE))
_LEG, _HOME, _DETOUR = map(tl.constexpr, (columns.LEG, columns.HOME, columns.DETOUR))
_HOPS, _COUNT, _WAY_HOME = map(tl.constexpr, (columns.GLOBAL_HOPS, columns.GLOBAL_COUNT, columns.GLOBAL_WAY_HOME))
_BASE_COUNT, _BASE_STEPS, _BASE_MEAN = map(tl.constexpr, (columns.BASE_COUNT, columns.BASE_STEPS, columns.BASE_MEAN))
_FAR, _CLOSEST, _LEAST_LEFT = map(tl.constexpr, (columns.FAR, columns.CLOSEST, columns.LEAST_LEFT))


@triton.jit
def lay_out(  # type: ignore[no-untyped-def]
    counters, trail, instance, cost, visited, ways, costs, to_end, prizes, budget, divisor, start, end, symmetric,
    node_of, owner, features, choices, count, first, now, unit, opened, factor, way_home, alike, action, nodes,
    ROOM: tl.constexpr,
):  # fmt: skip
    """The tokens of one path: its last node, the end, and the nodes that may still be visited."""
    state = tl.program_id(0).to(tl.int64)
    path = tl.load(counters + FIRST) + state
    if path >= tl.load(counters + USED):
        tl.store(count + state, 0)
    else:
        way, row = tl.load(trail + path), tl.load(instance + path)
        here, final = tl.where(way < 0, tl.load(start + row), way % nodes), tl.load(end + row)
        node = tl.arange(0, ROOM)
        inside = node < nodes
        tl.store(action + state * nodes + node, tl.full((ROOM,), float("-inf"), tl.float32), mask=inside)
        new = inside & (tl.load(visited + path * nodes + node, mask=inside, other=1) == 0)
        limit, spent, bound = tl.load(divisor + row), tl.load(cost + path), tl.load(budget + row)
        place = (row * nodes + here) * nodes + node
        never = float("inf")
        home = tl.load(to_end + row * nodes + node, mask=inside, other=never)
        open_ = new & (spent + tl.load(ways + place, mask=inside, other=never) + home <= bound)
        leg = tl.load(costs + place, mask=inside, other=never)
        choice = new & (spent + leg + home <= bound)
        kept = open_ | (node == here) | (node == final)
        there = tl.sum(kept.to(tl.int32), 0)
        begin = tl.atomic_add(counters + TOKENS, there.to(tl.int64))
        token = begin + tl.cumsum(kept.to(tl.int32), 0) - 1

        many = tl.sum(open_.to(tl.int32), 0).to(tl.float32)
        prize = tl.load(prizes + row * nodes + node, mask=open_, other=0.0).to(tl.float32)
        worth = tl.sum(prize, 0)
        mean = tl.where(worth > 0, worth / tl.maximum(many, 1.0), 1.0)
        left = tl.maximum(limit - spent, limit * _LEAST_LEFT)
        leg_share = tl.minimum(leg / left, _FAR).to(tl.float32)
        home_share = tl.minimum(home / left, _FAR).to(tl.float32)
        current, last = node == here, node == final
        tl.store(node_of + token, node, mask=kept)
        tl.store(owner + token, (state + node * 0).to(tl.int32), mask=kept)
        tl.store(choices + token, choice.to(tl.uint8), mask=kept)
        spot = features + token * _NODE_FEATURES
        tl.store(spot + _PRIZE, prize / mean, mask=kept)
        tl.store(spot + _CURRENT, current.to(tl.float32), mask=kept)
        tl.store(spot + _END, last.to(tl.float32), mask=kept)
        tl.store(spot + _CHOICE, choice.to(tl.float32), mask=kept)
        tl.store(spot + _LEG, tl.where(current, 0.0, leg_share), mask=kept)
        tl.store(spot + _HOME, tl.where(last, 0.0, home_share), mask=kept)
        tl.store(spot + _DETOUR, tl.where(open_, leg_share + home_share, 0.0), mask=kept)
        tl.store(count + state, there)
        tl.store(first + state, begin)
        tl.store(now + state, tl.sum(tl.where(current, token, 0), 0))
        tl.store(unit + state, mean)
        tl.store(opened + state, many)
        tl.store(factor + state, (limit / left).to(tl.float32))
        tl.store(way_home + state, tl.minimum(tl.load(to_end + row * nodes + here) / left, _FAR).to(tl.float32))
        tl.store(alike + state, tl.load(symmetric + row).to(tl.int32))


@triton.jit
def gather_edges(  # type: ignore[no-untyped-def]
    counters, instance, costs, factor, node_of, count, first, edges, nearest, nodes, width,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Costs from ROWS tokens of one path to all its tokens, and the cost to the nearest other token, at most 1."""
    state = tl.program_id(0).to(tl.int64)
    there = tl.load(count + state)
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    if tl.program_id(1) * ROWS < there:
        begin, scale = tl.load(first + state), tl.load(factor + state)
        own = costs + tl.load(instance + tl.load(counters + FIRST) + state) * nodes * nodes
        leave = tl.load(node_of + begin + row, mask=row < there, other=0)
        close = tl.full((ROWS,), 1.0, tl.float32)
        for left in range(0, there, COLUMNS):
            column = left + tl.arange(0, COLUMNS)
            arrive = tl.load(node_of + begin + column, mask=column < there, other=0)
            both = (row[:, None] < there) & (column[None, :] < there)
            other = both & (row[:, None] != column[None, :])
            cost = tl.load(own + leave[:, None] * nodes + arrive[None, :], mask=other, other=0.0)
            cost = tl.minimum(cost * scale, _FAR)
            close = tl.minimum(close, tl.min(tl.where(other, cost, _FAR), 1))
            tl.store(edges + (state * width + row[:, None]) * width + column[None, :], cost.to(tl.float16), mask=both)
        tl.store(nearest + begin + row, close, mask=row < there)


@triton.jit
def measure(  # type: ignore[no-untyped-def]
    nearest, count, first, opened, way_home, hops_out, overall, base, ROOM: tl.constexpr
):
    """The features of one path as a whole."""
    state = tl.program_id(0).to(tl.int64)
    there = tl.load(count + state)
    if there > 0:
        token = tl.arange(0, ROOM)
        begin = tl.load(first + state)
        total = tl.sum(tl.load(nearest + begin + token, mask=token < there, other=0.0), 0)
        hops = 1 / tl.maximum(total / there.to(tl.float32), _CLOSEST)
        many = tl.load(opened + state)
        steps = tl.minimum(hops, many)
        tl.store(hops_out + state, hops)
        told = overall + state * _GLOBAL_FEATURES
        tl.store(told + _HOPS, tl.log(1 + hops))
        tl.store(told + _COUNT, tl.log(1 + many))
        tl.store(told + _WAY_HOME, tl.load(way_home + state))
        sizes = base + state * _BASE_FEATURES
        tl.store(sizes + _BASE_COUNT, many)
        tl.store(sizes + _BASE_STEPS, steps)
        tl.store(sizes + _BASE_MEAN, tl.sqrt(many * steps))


@triton.jit
def enter(  # type: ignore[no-untyped-def]
    counters, owner, features, overall, widen, shift, scale, offset, project, stream, parts, epsilon,
    SIZE: tl.constexpr, INPUTS: tl.constexpr, ROWS: tl.constexpr, CHUNK: tl.constexpr,
):  # fmt: skip
    """The vectors of ROWS tokens before the first layer, and the first layer's queries, keys and values."""
    tokens = tl.load(counters + TOKENS)
    top = tl.program_id(0).to(tl.int64) * ROWS
    if top < tokens:
        row = top + tl.arange(0, ROWS)
        there = row[:, None] < tokens
        column, some, each = tl.arange(0, SIZE), tl.arange(0, CHUNK), tl.arange(0, INPUTS)[None, :]
        state = tl.load(owner + row, mask=row < tokens, other=0).to(tl.int64)[:, None]
        own = there & (each < _NODE_FEATURES)
        told = tl.load(features + row[:, None] * _NODE_FEATURES + each, mask=own, other=0.0)
        whole = there & (each >= _NODE_FEATURES) & (each < _NODE_FEATURES + _GLOBAL_FEATURES)
        told += tl.load(overall + state * _GLOBAL_FEATURES + each - _NODE_FEATURES, mask=whole, other=0.0)
        weights = tl.load(widen + column[:, None] * INPUTS + each)
        total = tl.dot(told.to(weights.dtype), tl.trans(weights)) + tl.load(shift + column)[None, :]
        tl.store(stream + row[:, None] * SIZE + column[None, :], total, mask=there)
        even = normalised(total, scale, offset, column, epsilon, SIZE).to(parts.dtype.element_ty)
        for first in range(0, 3 * SIZE, CHUNK):
            asked = tl.load(project + (first + some[:, None]) * SIZE + column[None, :])
            part = tl.dot(even, tl.trans(asked)).to(parts.dtype.element_ty)
            tl.store(parts + row[:, None] * (3 * SIZE) + first + some[None, :], part, mask=there)


@triton.jit
def sum_up(hidden, count, first, mean, SIZE: tl.constexpr, ROWS: tl.constexpr):  # type: ignore[no-untyped-def]
    """The mean vector of one path's tokens."""
    state = tl.program_id(0).to(tl.int64)
    there = tl.load(count + state)
    if there > 0:
        begin, slot = tl.load(first + state), tl.arange(0, SIZE)
        total = tl.zeros((SIZE,), tl.float32)
        for top in range(0, there, ROWS):
            row = top + tl.arange(0, ROWS)
            own = hidden + (begin + row[:, None]) * SIZE + slot[None, :]
            total += tl.sum(tl.load(own, mask=row[:, None] < there, other=0.0), 0)
        tl.store(mean + state * SIZE + slot, total / there)


@triton.jit
def ask(  # type: ignore[no-untyped-def]
    counters, hidden, now, mean, base, asking, judging, shift, last, query, more,
    SIZE: tl.constexpr, STATES: tl.constexpr, CHUNK: tl.constexpr,
):  # fmt: skip
    """CHUNK entries of the queries of STATES paths, and what as many entries add to the corrections of their values.

    `judging` is the (SIZE, 2 SIZE + BASE_FEATURES) matrix for mean vector, current vector and sizes.
    """
    paths = tl.load(counters + USED) - tl.load(counters + FIRST)
    top = tl.program_id(0) * STATES
    if top < paths:
        state = (top + tl.arange(0, STATES)).to(tl.int64)
        there = state < paths
        column, some = tl.arange(0, SIZE)[None, :], tl.arange(0, CHUNK)
        at = tl.load(now + state, mask=there, other=0)
        current = tl.load(hidden + at[:, None] * SIZE + column, mask=there[:, None], other=0.0)
        middle = tl.load(mean + state[:, None] * SIZE + column, mask=there[:, None], other=0.0)
        inputs: tl.constexpr = 2 * SIZE + _BASE_FEATURES
        piece = tl.program_id(1)
        out = piece * CHUNK + some
        matrix = tl.load(asking + out[:, None] * SIZE + column)
        wanted = tl.dot(current, tl.trans(matrix), input_precision="tf32x3")
        tl.store(query + state[:, None] * SIZE + out[None, :], wanted, mask=there[:, None])
        matrix = tl.load(judging + out[:, None] * inputs + column)
        inner = tl.dot(middle, tl.trans(matrix), input_precision="tf32x3")
        matrix = tl.load(judging + out[:, None] * inputs + SIZE + column)
        inner += tl.dot(current, tl.trans(matrix), input_precision="tf32x3")
        for place in tl.static_range(_BASE_FEATURES):
            size = tl.log(1 + tl.load(base + state * _BASE_FEATURES + place, mask=there, other=0.0))
            inner += size[:, None] * tl.load(judging + out * inputs + 2 * SIZE + place)[None, :]
        inner += tl.load(shift + out)[None, :]
        inner = 0.5 * inner * (1 + tl.erf(inner * 0.7071067811865476))
        judged = tl.sum(inner * tl.load(last + out)[None, :], 1)
        tl.store(more + state * tl.num_programs(1) + piece, judged, mask=there)


@triton.jit
def answer(  # type: ignore[no-untyped-def]
    hidden, query, more, last_shift, base, heads, heads_shift, features, choices, node_of, count, first, unit, logits,
    action, value, nodes, beta, SIZE: tl.constexpr, PIECES: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """What one path is worth, and each of its choices: V(s) and V(s) + beta log pi(v | s), in prize."""
    state = tl.program_id(0).to(tl.int64)
    there = tl.load(count + state)
    if there > 0:
        begin, slot = tl.load(first + state), tl.arange(0, SIZE)
        asked = tl.load(query + state * SIZE + slot)[None, :]
        next_, visit = tl.load(heads + slot)[None, :], tl.load(heads + SIZE + slot)[None, :]
        next_shift, visit_shift = tl.load(heads_shift), tl.load(heads_shift + 1)
        scale: tl.constexpr = SIZE**-0.5
        most = tl.full((ROWS,), -1e30, tl.float32)
        total = tl.zeros((ROWS,), tl.float32)
        worth = tl.zeros((ROWS,), tl.float32)
        for top in range(0, there, ROWS):
            row = top + tl.arange(0, ROWS)
            inside = row < there
            vectors = tl.load(hidden + (begin + row[:, None]) * SIZE + slot[None, :], mask=inside[:, None], other=0.0)
            logit = tl.sum(vectors * next_, 1) + next_shift + tl.sum(vectors * asked, 1) * scale
            chance = tl.sigmoid(tl.sum(vectors * visit, 1) + visit_shift)
            prize = tl.load(features + (begin + row) * _NODE_FEATURES + _PRIZE, mask=inside, other=0.0)
            worth += chance * prize
            able = tl.load(choices + begin + row, mask=inside, other=0) != 0
            logit = tl.where(able, logit, -1e30)
            tl.store(logits + begin + row, logit, mask=inside)
            higher = tl.maximum(most, logit)
            total = total * tl.exp(most - higher) + tl.where(able, tl.exp(logit - higher), 0.0)
            most = higher
        top_logit = tl.max(most, 0)
        level = top_logit + tl.log(tl.maximum(tl.sum(total * tl.exp(most - top_logit), 0), 1e-30))
        judged = tl.sum(tl.load(more + state * PIECES + tl.arange(0, PIECES)), 0) + tl.load(last_shift)
        steps = tl.load(base + state * _BASE_FEATURES + _BASE_STEPS)
        worth_all = tl.sum(worth, 0) + judged * tl.sqrt(steps)  # errors of a sum of stops grow like its root
        in_prize = tl.load(unit + state)
        tl.store(value + state, worth_all * in_prize)
        tl.debug_barrier()  # what one thread has written another may read
        for top in range(0, there, ROWS):
            row = top + tl.arange(0, ROWS)
            able = tl.load(choices + begin + row, mask=row < there, other=0) != 0
            logit = tl.load(logits + begin + row, mask=able, other=0.0)
            node = tl.load(node_of + begin + row, mask=able, other=0)
            tl.store(action + state * nodes + node, (worth_all + beta * (logit - level)) * in_prize, mask=able)
