"""The parts of a Transformer layer for the tokens of one state, by loops over lanes (see `orienteer.kernel.lanes`).

A table holds the tokens' vectors, a row for each entry. Rows are `width` numbers long, the number of tokens rounded up
to a multiple of LANES; what stands beyond the last token is finite and means nothing. All tables lie in one flat array,
`room`, and all weights in another: both are named by the place where they begin. That keeps the compiler's work small.
"""

import numpy as np

from orienteer.kernel import Singles, kernel
from orienteer.kernel.lanes import (
    LANES,
    ROWS,
    add_products,
    add_scaled,
    exp,
    larger,
    larger_rows,
    load,
    load_rows,
    minus,
    over,
    plus,
    root,
    spread,
    spread_rows,
    store,
    store_rows,
    times,
    times_rows,
)
from orienteer.network.columns import EDGE_FUNCTIONS, FASTER

assert FASTER == 4, "the loops square twice"


ANY = np.float32(-3e38)
"""Less than any result of the network."""
F0, F1 = np.float32(0.0), np.float32(1.0)
"""0 and 1 in single precision."""
NORM_EPSILON = np.float32(1e-5)
FAINT = np.float32(-60.0)
"""Differences of logits are cut off here, lest products become too small for fast arithmetic."""


@kernel
def dense(
    weights: Singles,
    at: int,
    rows: int,
    size: int,
    room: Singles,
    source: int,
    target: int,
    width: int,
    keep: bool,
    least: np.float32,
) -> None:
    """Writes the product of (rows, size) weights and a table; with `keep` it is added to what the target holds.

    Results below `least` become `least`: 0 makes a rectifier. The number of rows is a multiple of ROWS.
    """
    low = spread(least)
    for left in range(0, width, LANES):
        for row in range(0, rows, ROWS):
            place, factors = target + row * width + left, at + row * size
            sums = load_rows(room, place, width) if keep else spread_rows(F0)
            for entry in range(size):
                sums = add_products(sums, weights, factors + entry, size, load(room, source + entry * width + left))
            store_rows(room, place, width, larger_rows(sums, low))


@kernel
def norm(weights: Singles, at: int, size: int, room: Singles, source: int, target: int, width: int) -> None:
    """Writes vectors of `size` entries, normalised; weights are scales and shifts."""
    share = spread(F1 / np.float32(size))
    for left in range(0, width, LANES):
        mean = square = spread(F0)
        for entry in range(size):
            mean = plus(mean, load(room, source + entry * width + left))
        mean = times(mean, share)
        for entry in range(size):
            apart = minus(load(room, source + entry * width + left), mean)
            square = plus(square, times(apart, apart))
        spacing = over(spread(F1), root(plus(times(square, share), spread(NORM_EPSILON))))
        for entry in range(size):
            apart = times(minus(load(room, source + entry * width + left), mean), spacing)
            result = add_scaled(spread(weights[at + size + entry]), weights[at + entry], apart)
            store(room, target + entry * width + left, result)


@kernel
def attend(
    weights: Singles,
    at: int,
    heads: int,
    size: int,
    room: Singles,
    parts: int,
    functions: int,
    logits: int,
    target: int,
    alike: bool,
    count: int,
    width: int,
) -> None:
    """Writes what each head reads.

    `parts` are queries, keys and values, a table of (3, head, size) rows; queries are divided by the root of a head's
    size, which is a multiple of ROWS. `functions` are (way, 3, token, width) functions of the cost from or to the
    token, one way where costs are `alike` in both directions (see `tell_state`). Weights are (3, head,
    EDGE_FUNCTIONS): of both directions together, of the cost there, of the cost back. `count` is the number of tokens.
    At `logits` there is room for LANES numbers for each token, and for ROWS tokens more.
    """
    table, block, each = heads * size * width, count * width, heads * EDGE_FUNCTIONS
    for head in range(heads):
        first = head * size * width
        there = at + head * EDGE_FUNCTIONS
        if not alike:
            there += each
        for left in range(0, width, LANES):
            for token in range(count):
                place = functions + token * width + left
                bias = _mixture(weights, there, room, place, block, spread(F0))
                if not alike:
                    bias = _mixture(weights, there + each, room, place + 3 * block, block, bias)
                store(room, logits + token * LANES, bias)
            for token in range(0, count, ROWS):
                place = logits + token * LANES
                sums = load_rows(room, place, LANES)
                for entry in range(size):
                    query = parts + first + entry * width
                    sums = add_products(sums, room, query + table + token, 1, load(room, query + left))
                store_rows(room, place, LANES, sums)
            most, total = spread(ANY), spread(F0)
            for token in range(count):
                most = larger(most, load(room, logits + token * LANES))
            for token in range(count):
                chance = exp(minus(load(room, logits + token * LANES), most), FAINT)
                total = plus(total, chance)
                store(room, logits + token * LANES, chance)
            share = over(spread(F1), total)
            for row in range(0, size, ROWS):
                value = parts + 2 * table + first + row * width
                sums = spread_rows(F0)
                for token in range(count):
                    sums = add_products(sums, room, value + token, width, load(room, logits + token * LANES))
                store_rows(room, target + first + row * width + left, width, times_rows(sums, share))


@kernel
def _mixture(weights: Singles, at: int, room: Singles, place: int, block: int, bias):  # type: ignore[no-untyped-def]
    """The bias and what the costs in one direction add to it; their three functions lie a `block` apart."""
    wide, near = load(room, place + block), load(room, place + 2 * block)
    wide_2, near_2 = times(wide, wide), times(near, near)
    bias = add_scaled(bias, weights[at], load(room, place))
    bias = add_scaled(bias, weights[at + 1], wide)
    bias = add_scaled(bias, weights[at + 2], times(wide_2, wide_2))
    bias = add_scaled(bias, weights[at + 3], times(near_2, near_2))
    return add_scaled(bias, weights[at + 4], near)
