"""The policy network's tensors as its forward pass on a CPU reads them: one flat array, in the order of reading.

Rows of matrices are filled up with zeros to a multiple of ROWS, those of the last heads to a multiple of WIDEST.
"""

from typing import NamedTuple

import numpy as np

from orienteer.kernel import Singles
from orienteer.kernel.lanes import ROWS, WIDEST
from orienteer.network.columns import BASE_FEATURES, EDGE_FUNCTIONS, EDGE_WEIGHTS, GLOBAL_FEATURES, NODE_FEATURES
from orienteer.network.config import PolicyConfig
from orienteer.network.weights import Tensors

INPUTS = len(NODE_FEATURES) + len(GLOBAL_FEATURES)


class Shape(NamedTuple):
    """Sizes of the network."""

    layers: int
    heads: int
    hidden: int
    """Entries of a token's vector."""
    hidden_rows: int
    """`hidden` rounded up to a multiple of ROWS."""
    size: int
    """Entries of a head's vectors, a multiple of ROWS."""
    inner: int
    """Entries of a feed-forward part's inner vectors."""
    inner_rows: int
    """`inner` rounded up to a multiple of ROWS."""
    inputs: int
    """Features of a token."""
    seen: int
    """Entries of what the last heads see of a state: its mean vector, its current node's, its sizes, and 1."""
    answers: int
    """Entries of what the last heads compute: in the first half the vector that a next node's is multiplied with, in
    the second the value's inner vector."""


def shape_of(config: PolicyConfig) -> Shape:
    """The sizes of a network."""
    hidden, inner = config.hidden, config.widen * config.hidden
    return Shape(
        layers=config.layers,
        heads=config.heads,
        hidden=hidden,
        hidden_rows=rounded(hidden),
        size=rounded(hidden // config.heads),
        inner=inner,
        inner_rows=rounded(inner),
        inputs=INPUTS,
        seen=2 * hidden + len(BASE_FEATURES) + 1,
        answers=2 * rounded(hidden, WIDEST),
    )


def rounded(number: int, multiple: int = ROWS) -> int:
    """The `number` rounded up to a multiple of `multiple`."""
    return -(-number // multiple) * multiple


def tensor_shapes(config: PolicyConfig) -> dict[str, tuple[int, ...]]:
    """The shapes of the network's tensors by name."""
    hidden, inner = config.hidden, config.widen * config.hidden
    shapes: dict[str, tuple[int, ...]] = {"enter.weight": (hidden, INPUTS), "enter.bias": (hidden,)}
    for layer in range(config.layers):
        name = f"layers.{layer}"
        shapes |= {
            f"{name}.attention.bias": (config.heads, EDGE_WEIGHTS),
            f"{name}.attention.project.weight": (3 * hidden, hidden),
            f"{name}.attention.join.weight": (hidden, hidden),
            f"{name}.norm_attention.weight": (hidden,),
            f"{name}.norm_attention.bias": (hidden,),
            f"{name}.norm_feed.weight": (hidden,),
            f"{name}.norm_feed.bias": (hidden,),
            f"{name}.widen.weight": (inner, hidden),
            f"{name}.narrow.weight": (hidden, inner),
        }
    return shapes | {
        "final.weight": (hidden,),
        "final.bias": (hidden,),
        "heads.weight": (2, hidden),
        "heads.bias": (2,),
        "query.weight": (hidden, hidden),
        "value.0.weight": (hidden, 2 * hidden + len(BASE_FEATURES)),
        "value.0.bias": (hidden,),
        "value.2.weight": (1, hidden),
        "value.2.bias": (1,),
    }


def arranged(config: PolicyConfig, tensors: Tensors) -> Singles:
    """All weights in the order in which the loops read them, with zeros in rows that fill up the last ROWS."""
    shape, size = shape_of(config), config.hidden // config.heads
    parts = [_filled(tensors["enter.bias"], 0), _filled(tensors["enter.weight"], 0)]
    scales = np.array([size**-0.5, 1.0, 1.0], dtype=np.float32)[:, None, None, None]  # queries are scaled ahead
    for layer in range(config.layers):
        name = f"layers.{layer}"
        project = tensors[f"{name}.attention.project.weight"].reshape(3, config.heads, size, config.hidden)
        bias = tensors[f"{name}.attention.bias"]
        there, back = bias[:, :EDGE_FUNCTIONS], bias[:, EDGE_FUNCTIONS:]
        join = tensors[f"{name}.attention.join.weight"].reshape(config.hidden, config.heads, size)
        parts += [
            tensors[f"{name}.norm_attention.weight"],
            tensors[f"{name}.norm_attention.bias"],
            _filled(project * scales, 2),
            np.stack((there + back, there, back)),
            _filled(_filled(join, 2), 0),
            tensors[f"{name}.norm_feed.weight"],
            tensors[f"{name}.norm_feed.bias"],
            _filled(tensors[f"{name}.widen.weight"], 0),
            _filled(tensors[f"{name}.narrow.weight"], 0),
        ]
    query = np.zeros((config.hidden, shape.seen), dtype=np.float32)
    query[:, config.hidden : 2 * config.hidden] = tensors["query.weight"] * config.hidden**-0.5
    query[:, -1] = tensors["heads.weight"][0]  # without its shift, which is the same for all choices
    value = np.concatenate((tensors["value.0.weight"], tensors["value.0.bias"][:, None]), axis=1)
    parts += [
        tensors["final.weight"],
        tensors["final.bias"],
        np.concatenate((_filled(query, 0, WIDEST), _filled(value, 0, WIDEST))).T,
        tensors["heads.weight"][1],
        tensors["heads.bias"][1:],
        tensors["value.2.weight"],
        tensors["value.2.bias"],
    ]
    return np.concatenate([one.ravel() for one in parts]).astype(np.float32)


def _filled(weights: Singles, axis: int, multiple: int = ROWS) -> Singles:
    """The weights with zeros at the end of an axis, so that its length is a multiple of `multiple`."""
    more = [(0, 0)] * weights.ndim
    more[axis] = (0, -weights.shape[axis] % multiple)
    return np.pad(weights, more)
