"""Edge-biased attention for passes without gradients, of networks with four heads.

A program has some queries of one state and all four heads, one after the other: they share the functions of the costs,
which are computed once and stay in registers. `fused_attention` has the kernels for training, and for other networks.
"""

import triton
import triton.language as tl
from torch import Tensor

from orienteer.network.columns import EDGE_FUNCTIONS, EDGE_WEIGHTS, FASTER, LIMIT_RATE, STEP_RATE

HEADS = 4
_SETTINGS = {"ROWS": 32, "COLUMNS": 16, "num_warps": 2, "num_stages": 2}
"""Sizes of blocks: the fastest of those tried on an H200."""
_FUNCTIONS, _WEIGHTS = tl.constexpr(EDGE_FUNCTIONS), tl.constexpr(EDGE_WEIGHTS)
_LOG2_E = tl.constexpr(1.4426950408889634)
"""Exponentials are powers of two: that is what a GPU computes."""
_LIMIT_RATE, _STEP_RATE = tl.constexpr(-LIMIT_RATE), tl.constexpr(-STEP_RATE)
_HIGHEST = tl.constexpr(100.0)
"""The highest logit, in powers of two: sums of its exponentials stay finite. Without a search for the highest of each
row, blocks of columns need not wait for one another. Logits of the shipped networks stay below 40."""
assert FASTER == 4, "the kernel squares twice"


def attend(
    parts: Tensor,
    edges: Tensor,
    hops: Tensor,
    first: Tensor,
    count: Tensor,
    bias: Tensor,
    out: Tensor,
    scale: float,
    symmetric: bool,
) -> None:
    """Launches the kernel, which writes `out`, (token, 4 size); the arguments are those of `fused_attention`.

    `symmetric` says that all costs are the same in both directions.
    """
    states, width = edges.shape[:2]
    _attend_kernel[(states, triton.cdiv(width, _SETTINGS["ROWS"]))](
        parts, edges, hops, first, count, bias, out, width, scale, out.shape[1] // HEADS, symmetric, **_SETTINGS
    )


@triton.jit
def _functions(cost, reach):  # type: ignore[no-untyped-def]
    """The functions of costs that biases are mixtures of, but for the first, the cost itself."""
    wide = tl.exp2(cost * (_LIMIT_RATE * _LOG2_E))
    near = tl.exp2(cost * (reach * _STEP_RATE * _LOG2_E))
    wide2, near2 = wide * wide, near * near
    return wide, wide2 * wide2, near2 * near2, near


@triton.jit
def _mixture(c, f1, f2, f3, f4, w, other, BOTH: tl.constexpr):  # type: ignore[no-untyped-def]
    """A head's mixture of the functions; with BOTH, by the sum of the weights of both directions."""
    w0, w1, w2, w3, w4 = tl.load(w), tl.load(w + 1), tl.load(w + 2), tl.load(w + 3), tl.load(w + 4)
    if BOTH:
        w0, w1, w2 = w0 + tl.load(other), w1 + tl.load(other + 1), w2 + tl.load(other + 2)
        w3, w4 = w3 + tl.load(other + 3), w4 + tl.load(other + 4)
    return (w0 * _LOG2_E) * c + (w1 * _LOG2_E) * f1 + (w2 * _LOG2_E) * f2 + (w3 * _LOG2_E) * f3 + (w4 * _LOG2_E) * f4


@triton.jit
def _head(  # type: ignore[no-untyped-def]
    base, query, column, inside, c, f1, f2, f3, f4, d, g1, g2, g3, g4, w, scale, mixed, total,
    SIZE: tl.constexpr, ALIKE: tl.constexpr,
):  # fmt: skip
    """Adds what one head reads in a block of columns; `base` points to the head's queries."""
    step: tl.constexpr = 3 * 4 * SIZE
    key = tl.load(base + 4 * SIZE + column[:, None] * step, mask=inside[:, None], other=0.0)
    value = tl.load(base + 8 * SIZE + column[:, None] * step, mask=inside[:, None], other=0.0)
    logits = tl.dot(query, tl.trans(key)) * scale + _mixture(c, f1, f2, f3, f4, w, w + _FUNCTIONS, ALIKE)
    if not ALIKE:
        logits += _mixture(d, g1, g2, g3, g4, w + _FUNCTIONS, w, False)
    chance = tl.where(inside[None, :], tl.exp2(tl.minimum(logits, _HIGHEST)), 0.0)
    return tl.dot(chance.to(value.dtype), value, mixed), total + tl.sum(chance, 1)


@triton.jit
def _attend_kernel(  # type: ignore[no-untyped-def]
    parts, edges, hops, first, count, weight, out, width, scale,
    SIZE: tl.constexpr, ALIKE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """ROWS queries of one state."""
    state = tl.program_id(0).to(tl.int64)
    top = tl.program_id(1) * ROWS
    there = tl.load(count + state)
    if top < there:
        begin, reach = tl.load(first + state), tl.load(hops + state)
        slot = tl.arange(0, SIZE)
        step: tl.constexpr = 3 * 4 * SIZE
        base = parts + begin * step + slot[None, :]
        row = top + tl.arange(0, ROWS)
        here = row[:, None] < there
        own = base + row[:, None] * step
        q0, q1 = tl.load(own, mask=here, other=0.0), tl.load(own + SIZE, mask=here, other=0.0)
        q2, q3 = tl.load(own + 2 * SIZE, mask=here, other=0.0), tl.load(own + 3 * SIZE, mask=here, other=0.0)
        m0, m1 = tl.zeros((ROWS, SIZE), tl.float32), tl.zeros((ROWS, SIZE), tl.float32)
        m2, m3 = tl.zeros((ROWS, SIZE), tl.float32), tl.zeros((ROWS, SIZE), tl.float32)
        t0, t1 = tl.zeros((ROWS,), tl.float32), tl.zeros((ROWS,), tl.float32)
        t2, t3 = tl.zeros((ROWS,), tl.float32), tl.zeros((ROWS,), tl.float32)
        costs = edges + state * width * width
        in_twos = scale * _LOG2_E
        for left in range(0, there, COLUMNS):
            column = left + tl.arange(0, COLUMNS)
            inside = column < there
            both = here & inside[None, :]
            c = tl.load(costs + row[:, None] * width + column[None, :], mask=both, other=0.0).to(tl.float32)
            f1, f2, f3, f4 = _functions(c, reach)
            d, g1, g2, g3, g4 = c, f1, f2, f3, f4
            if not ALIKE:
                d = tl.load(costs + column[None, :] * width + row[:, None], mask=both, other=0.0).to(tl.float32)
                g1, g2, g3, g4 = _functions(d, reach)
            m0, t0 = _head(base, q0, column, inside, c, f1, f2, f3, f4, d, g1, g2, g3, g4, weight,
                           in_twos, m0, t0, SIZE, ALIKE)  # fmt: skip
            m1, t1 = _head(base + SIZE, q1, column, inside, c, f1, f2, f3, f4, d, g1, g2, g3, g4, weight + _WEIGHTS,
                           in_twos, m1, t1, SIZE, ALIKE)  # fmt: skip
            m2, t2 = _head(base + 2 * SIZE, q2, column, inside, c, f1, f2, f3, f4, d, g1, g2, g3, g4,
                           weight + 2 * _WEIGHTS, in_twos, m2, t2, SIZE, ALIKE)  # fmt: skip
            m3, t3 = _head(base + 3 * SIZE, q3, column, inside, c, f1, f2, f3, f4, d, g1, g2, g3, g4,
                           weight + 3 * _WEIGHTS, in_twos, m3, t3, SIZE, ALIKE)  # fmt: skip
        target = out + (begin + row[:, None]) * (4 * SIZE) + slot[None, :]
        kind = out.dtype.element_ty
        tl.store(target, (m0 / t0[:, None]).to(kind), mask=here)
        tl.store(target + SIZE, (m1 / t1[:, None]).to(kind), mask=here)
        tl.store(target + 2 * SIZE, (m2 / t2[:, None]).to(kind), mask=here)
        tl.store(target + 3 * SIZE, (m3 / t3[:, None]).to(kind), mask=here)
