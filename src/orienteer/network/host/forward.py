"""The policy network's forward pass for one partial path after the other.

`orienteer.network.policy_network` says what is computed, and `arranged` in what order weights lie. A path's tokens go
through all layers while they are in the processor's cache.
"""

import math
from typing import NamedTuple

import numpy as np

from orienteer.kernel import NO, YES, ZERO, Bools, Floats, Ints, Singles, kernel
from orienteer.kernel.lanes import LANES, ROWS, add_scaled, load, plus, spread, store, times, total
from orienteer.network.columns import (
    BASE_COUNT,
    BASE_MEAN,
    BASE_STEPS,
    CHOICE,
    CURRENT,
    EDGE_FUNCTIONS,
    FAR,
    LEAST_LEFT,
    PRIZE,
)
from orienteer.network.config import LONGEST
from orienteer.network.host.arrange import Shape
from orienteer.network.host.inputs import list_nodes, tell_costs, tell_nodes, tell_state
from orienteer.network.host.layers import ANY, F0, F1, attend, dense, norm
from orienteer.network.host.paths import PartialPaths


class Tables(NamedTuple):
    """Where in `room` the tables of a path's tokens begin."""

    inputs: int
    """Features."""
    functions: int
    """Functions of the costs between tokens (see `tell_state`)."""
    stream: int
    """The tokens' vectors, to which layers add."""
    normed: int
    """The tokens' vectors, normalised."""
    parts: int
    """Queries, keys and values."""
    mixed: int
    """What the heads of an attention read."""
    inner: int
    """The inner vectors of a feed-forward part."""
    logits: int
    end: int
    """Where all tables end."""


def lay_out(shape: Shape, count: int, width: int, twice: bool) -> Tables:
    """Tables of `count` tokens in rows of `width`; with `twice` there are functions of costs in both directions."""
    functions = shape.inputs * width
    stream = functions + (6 if twice else 3) * count * width
    normed = stream + shape.hidden_rows * width
    parts = normed + shape.hidden_rows * width
    mixed = parts + 3 * shape.heads * shape.size * width
    inner = mixed + shape.heads * shape.size * width
    logits = inner + shape.inner_rows * width
    return Tables(ZERO, functions, stream, normed, parts, mixed, inner, logits, logits + (count + ROWS) * LANES)


_lay_out = kernel(lay_out)


@kernel
def look(
    paths: PartialPaths,
    ways: Floats,
    weights: Singles,
    shape: Shape,
    beta: np.float32,
    to_cost: bool,
    node: Ints,
    opened: Bools,
    room: Singles,
    action: Singles,
    value: Singles,
) -> None:
    """Writes (path, node) action values of the choices, and (path,) values.

    `node` and `opened` are memory with a place for every node, `room` memory for the tables of all tokens.
    """
    for path in range(len(value)):
        row = paths.instance[path]
        alike, divisor = paths.symmetric[row], paths.divisor[row]
        left = max(divisor - paths.cost[path], divisor * LEAST_LEFT)
        count = list_nodes(paths, ways, path, node, opened)
        width = (count + LANES - 1) // LANES * LANES
        tables = _lay_out(shape, count, width, not alike)
        many, unit = tell_nodes(paths, path, node, opened, count, width, left, room, tables.inputs)
        share = np.float32(divisor / left)
        hops = tell_costs(paths.relative, row, node, count, width, share, alike, room, tables.functions)
        way_home = np.float32(min(paths.to_end[row, paths.last[path]] / left, FAR))
        stops, steps, factor = many, min(hops, many), F1
        if to_cost:  # costs in units of a tour of typical steps, whatever is left of the limit
            unit = -F1 / hops
            stops = steps = many + F1
            factor = hops / steps
            hops = steps
        tell_state(room, tables.inputs, tables.functions, count, width, alike, factor, hops, many, way_home)
        at = _through_layers(weights, shape, room, tables, alike, count, width)
        value[path] = unit * _to_go(weights, at, shape, room, tables, opened, count, width, stops, steps, to_cost)
        _tell_choices(room, tables, node, count, width, value[path], abs(unit) * beta, action, path)


@kernel
def _through_layers(
    weights: Singles, shape: Shape, room: Singles, tables: Tables, alike: bool, count: int, width: int
) -> int:
    """Writes the normed vectors of a path's tokens after the last layer; returns where the heads' weights begin."""
    hidden, rows, joined = shape.hidden, shape.hidden_rows, shape.heads * shape.size
    stream, normed, parts, mixed, inner = tables.stream, tables.normed, tables.parts, tables.mixed, tables.inner
    for entry in range(rows):
        for place in range(stream + entry * width, stream + (entry + 1) * width):
            room[place] = weights[entry]
    at = rows
    dense(weights, at, rows, shape.inputs, room, tables.inputs, stream, width, YES, ANY)
    at += rows * shape.inputs
    for _ in range(shape.layers):
        norm(weights, at, hidden, room, stream, normed, width)
        at += 2 * hidden
        dense(weights, at, 3 * joined, hidden, room, normed, parts, width, NO, ANY)
        at += 3 * joined * hidden
        attend(
            weights, at, shape.heads, shape.size, room, parts, tables.functions, tables.logits, mixed,
            alike, count, width,
        )  # fmt: skip
        at += 3 * shape.heads * EDGE_FUNCTIONS
        dense(weights, at, rows, joined, room, mixed, stream, width, YES, ANY)
        at += rows * joined
        norm(weights, at, hidden, room, stream, normed, width)
        at += 2 * hidden
        dense(weights, at, shape.inner_rows, hidden, room, normed, inner, width, NO, F0)
        at += shape.inner_rows * hidden
        dense(weights, at, rows, shape.inner, room, inner, stream, width, YES, ANY)
        at += rows * shape.inner
    norm(weights, at, hidden, room, stream, normed, width)
    return at + 2 * hidden


@kernel
def _to_go(
    weights: Singles,
    at: int,
    shape: Shape,
    room: Singles,
    tables: Tables,
    opened: Bools,
    count: int,
    width: int,
    stops: np.float32,
    steps: np.float32,
    to_cost: bool,
) -> np.float32:
    """The prize to go in units of the mean prize, or the cost to go in typical steps.

    Writes two rows of logits: of being the next node and of being visited later.
    """
    hidden, rows, size = shape.hidden, shape.answers // 2, shape.seen
    logits, vectors = tables.logits, tables.normed
    seen, answers = tables.parts, tables.mixed  # whose tables are no longer needed
    here = ZERO
    for token in range(width):
        if room[tables.inputs + CURRENT * width + token] > F0:
            here = token
        room[logits + token] = F1 / np.float32(count) if token < count else F0
    for entry in range(hidden):
        mean, vector = spread(F0), vectors + entry * width
        for left in range(0, width, LANES):
            mean = plus(mean, times(load(room, logits + left), load(room, vector + left)))
        room[seen + entry] = total(mean)
        room[seen + hidden + entry] = room[vector + here]
    room[seen + 2 * hidden + BASE_COUNT] = np.log1p(stops)
    room[seen + 2 * hidden + BASE_STEPS] = np.log1p(steps)
    room[seen + 2 * hidden + BASE_MEAN] = np.log1p(np.sqrt(stops * steps))
    room[seen + size - 1] = F1
    for row in range(0, 2 * rows, LANES):
        answer = spread(F0)
        for entry in range(size):
            answer = add_scaled(answer, room[seen + entry], load(weights, at + entry * 2 * rows + row))
        store(room, answers + row, answer)
    at += 2 * rows * size
    for left in range(0, width, LANES):
        follow, visit = spread(F0), spread(weights[at + hidden])
        for entry in range(hidden):
            vector = load(room, vectors + entry * width + left)
            follow = add_scaled(follow, room[answers + entry], vector)
            visit = add_scaled(visit, weights[at + entry], vector)
        store(room, logits + left, follow)
        store(room, logits + width + left, visit)
    at += hidden + 1
    expected, more = F0, weights[at + hidden]
    for token in range(count):
        later = room[logits + width + token]
        if not to_cost:
            expected += room[tables.inputs + PRIZE * width + token] / (F1 + np.exp(-later))
        elif token == here or opened[token]:
            expected += np.exp(min(later, np.float32(LONGEST)))
    for entry in range(hidden):
        inner = room[answers + rows + entry]
        more += weights[at + entry] * inner * np.float32(0.5 + 0.5 * math.erf(inner * math.sqrt(0.5)))
    return expected + more * np.sqrt(steps)


@kernel
def _tell_choices(
    room: Singles,
    tables: Tables,
    node: Ints,
    count: int,
    width: int,
    value: np.float32,
    beta: np.float32,
    action: Singles,
    path: int,
) -> None:
    """Writes the action values of a path's choices: the value, and `beta` times the logarithm of their chances."""
    choice, logits = tables.inputs + CHOICE * width, tables.logits
    most, chances = ANY, F0
    for token in range(count):
        if room[choice + token] > F0:
            most = max(most, room[logits + token])
    for token in range(count):
        if room[choice + token] > F0:
            chances += np.exp(room[logits + token] - most)
    level = most + np.log(chances)
    for token in range(count):
        if room[choice + token] > F0:
            action[path, node[token]] = value + beta * (room[logits + token] - level)
