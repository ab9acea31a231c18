"""Edge-biased attention as GPU kernels: neither biases nor weights between tokens ever reach memory.

Tokens of all states lie one after the other, without padding. The bias of head h is
    sum_k w[h, k] f_k(c_ij) + w[h, k + 5] f_k(c_ji),
with the five functions of the cost that `columns.EDGE_FUNCTIONS` tells of.
Blocks are small, and loads are not pipelined: loops are a few rounds long. Going forwards, a program has some queries
of one state with all heads, whose biases are mixtures of the same functions; going backwards, a small state with all
heads, or one head of a large one.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.nn import functional

from orienteer.network.columns import EDGE_FUNCTIONS, EDGE_WEIGHTS, FASTER, LIMIT_RATE, STEP_RATE

_FUNCTIONS, _WEIGHTS = tl.constexpr(EDGE_FUNCTIONS), tl.constexpr(EDGE_WEIGHTS)
_LIMIT_RATE, _STEP_RATE = tl.constexpr(-LIMIT_RATE), tl.constexpr(-STEP_RATE)
assert FASTER == 4, "kernels square twice"
_FORWARD = {"ROWS": 16, "COLUMNS": 32, "num_warps": 4, "num_stages": 1}
_BACKWARD = {"ROWS": 64, "COLUMNS": 32, "num_warps": 4, "num_stages": 1}
_SMALL_BACKWARD = {"ROWS": 16, "COLUMNS": 16, "num_warps": 4, "num_stages": 1}
"""Sizes of blocks: the fastest of those tried on an H200."""
LEAST = 16
"""Fewest entries of a head's vectors: smaller blocks cannot be multiplied."""
SMALL = 112
"""Tokens up to which a state goes through the kernel for small states in the backward pass."""
_CLEARING = 64
"""Programs that clear what lies behind the tokens, at most."""
_CLEARED = 1024
"""Numbers that such a program clears at a time."""


def fused_attention(
    parts: Tensor, edges: Tensor, hops: Tensor, alike: Tensor, first: Tensor, count: Tensor, bias: Tensor
) -> Tensor:
    """(token, head, size) attention of `parts`, the (token, 3, head, size) queries, keys and values.

    Heads of fewer than 16 values are filled up with zeros, since blocks of fewer cannot be multiplied.

    A state's tokens are `count` (state,) int32 ones from `first` (state,) int64 on. `edges` are (state, width, width)
    costs in float16, of which only the first `count` rows and columns are read; `hops` (state,) float32; `alike`
    (state,) int32 is 1 where costs there and back are known to be the same; `bias` (head,
    EDGE_WEIGHTS). Tokens behind the last state's get zeros.
    """
    size = parts.shape[-1]
    filled = functional.pad(parts, (0, max(0, LEAST - size)))
    out = _Attention.apply(filled, edges, hops, alike, first, count, bias, size**-0.5)  # type: ignore[no-untyped-call]
    return out[..., :size]


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        parts: Tensor,
        edges: Tensor,
        hops: Tensor,
        alike: Tensor,
        first: Tensor,
        count: Tensor,
        bias: Tensor,
        scale: float,
    ) -> Tensor:
        tokens, _, heads, size = parts.shape
        states, width = edges.shape[:2]
        parts, weight = parts.contiguous(), bias.float().contiguous()
        out = new_table(parts[:, 0], first, count)
        norm = torch.empty(tokens, heads, dtype=torch.float32, device=parts.device)
        _forward_kernel[(states, triton.cdiv(width, _FORWARD["ROWS"]))](
            parts, edges, hops, alike, first, count, weight, out, norm, width, scale, heads, size, True, **_FORWARD
        )
        ctx.save_for_backward(parts, edges, hops, alike, first, count, weight, out, norm)
        ctx.bias_dtype, ctx.scale = bias.dtype, scale
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        parts, edges, hops, alike, first, count, weight, out, norm = ctx.saved_tensors
        heads, size = parts.shape[2:]
        states, width = edges.shape[:2]
        grad = grads[0].contiguous()
        grad_parts = new_table(parts, first, count)
        grad_bias = torch.empty(states, heads, EDGE_WEIGHTS, dtype=torch.float32, device=parts.device)
        sums, own = (torch.empty(shape, dtype=torch.float32, device=parts.device) for shape in (grad.shape, norm.shape))
        _backward_kernel[(states * heads,)](
            parts, edges, hops, alike, first, count, weight, out, norm, grad, grad_parts, sums, own, grad_bias,
            width, ctx.scale, SMALL, heads, size, **_BACKWARD,
        )  # fmt: skip
        _small_backward_kernel[(states,)](
            parts, edges, hops, alike, first, count, weight, out, norm, grad, grad_parts, sums, own, grad_bias,
            width, ctx.scale, SMALL, heads, size, **_SMALL_BACKWARD,
        )  # fmt: skip
        return grad_parts, None, None, None, None, None, grad_bias.sum(0).to(ctx.bias_dtype), None


def attend(
    parts: Tensor,
    edges: Tensor,
    hops: Tensor,
    alike: Tensor,
    first: Tensor,
    count: Tensor,
    bias: Tensor,
    out: Tensor,
    scale: float,
    heads: int,
    size: int,
) -> None:
    """Launches the kernel of `fused_attention` for a pass without gradients, which writes `out`."""
    states, width = edges.shape[:2]
    _forward_kernel[(states, triton.cdiv(width, _FORWARD["ROWS"]))](
        parts, edges, hops, alike, first, count, bias, out, hops, width, scale, heads, size, False, **_FORWARD
    )


def new_table(like: Tensor, first: Tensor, count: Tensor) -> Tensor:
    """A table of the shape and type of `like`, a row for each token: only zeros behind the last state are set."""
    table = torch.empty(like.shape, dtype=like.dtype, device=like.device)
    programs = min(_CLEARING, triton.cdiv(table.numel(), _CLEARED))
    _clear_tail_kernel[(programs,)](table, first, count, len(first), table.numel(), table[0].numel(), _CLEARED)
    return table


@triton.jit(do_not_specialize=["states"])  # or Triton compiles it anew for 1 and for multiples of 16
def _clear_tail_kernel(table, first, count, states, size, each, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    begin = (tl.load(first + states - 1) + tl.load(count + states - 1)) * each
    stride = tl.num_programs(0) * BLOCK
    for low in range(begin + tl.program_id(0) * BLOCK, size, stride):
        place = low + tl.arange(0, BLOCK)
        tl.store(table + place, tl.zeros((BLOCK,), table.dtype.element_ty), mask=place < size)


@triton.jit
def _bias(cost, reach, w0, w1, w2, w3, w4):  # type: ignore[no-untyped-def]
    """A block of the bias from the costs in one direction."""
    wide = tl.exp(cost * _LIMIT_RATE)
    near = tl.exp(reach * _STEP_RATE * cost)
    wide2, near2 = wide * wide, near * near
    return w0 * cost + w1 * wide + w2 * (wide2 * wide2) + w3 * (near2 * near2) + w4 * near


@triton.jit
def _sums(grad, cost, reach, AXIS: tl.constexpr):  # type: ignore[no-untyped-def]
    """What the gradients of a block of logits add to those of the five weights of one direction."""
    wide = tl.exp(cost * _LIMIT_RATE)
    near = tl.exp(reach * _STEP_RATE * cost)
    wide2, near2 = wide * wide, near * near
    s0, s1, s2 = tl.sum(grad * cost, AXIS), tl.sum(grad * wide, AXIS), tl.sum(grad * (wide2 * wide2), AXIS)
    return s0, s1, s2, tl.sum(grad * (near2 * near2), AXIS), tl.sum(grad * near, AXIS)


@triton.jit
def _store_sums(spot, g0, g1, g2, g3, g4, AXIS: tl.constexpr):  # type: ignore[no-untyped-def]
    tl.store(spot, tl.sum(g0, AXIS))
    tl.store(spot + 1, tl.sum(g1, AXIS))
    tl.store(spot + 2, tl.sum(g2, AXIS))
    tl.store(spot + 3, tl.sum(g3, AXIS))
    tl.store(spot + 4, tl.sum(g4, AXIS))


@triton.jit
def _weights(w, other, more):  # type: ignore[no-untyped-def]
    """The five weights of one direction and, `more` times, those of the other: read once, not in every block."""
    w0, w1 = tl.load(w) + more * tl.load(other), tl.load(w + 1) + more * tl.load(other + 1)
    w2, w3 = tl.load(w + 2) + more * tl.load(other + 2), tl.load(w + 3) + more * tl.load(other + 3)
    return w0, w1, w2, w3, tl.load(w + 4) + more * tl.load(other + 4)


@triton.jit
def _block(costs, row, column, width, there):  # type: ignore[no-untyped-def]
    """A block of costs from rows to columns, in float32."""
    both = (row[:, None] < there) & (column[None, :] < there)
    return tl.load(costs + row[:, None] * width + column[None, :], mask=both, other=0.0).to(tl.float32)


@triton.jit
def _block_back(costs, row, column, width, there):  # type: ignore[no-untyped-def]
    """A block of costs from columns to rows, in float32."""
    both = (row[:, None] < there) & (column[None, :] < there)
    return tl.load(costs + column[None, :] * width + row[:, None], mask=both, other=0.0).to(tl.float32)


@triton.jit
def _forward_kernel(  # type: ignore[no-untyped-def]
    parts, edges, hops, alike, first, count, weight, out, norm, width, scale,
    HEADS: tl.constexpr, SIZE: tl.constexpr, LEARNS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """ROWS queries of one state, all heads at once: the heads share the functions of the costs."""
    state = tl.program_id(0).to(tl.int64)
    top = tl.program_id(1) * ROWS
    there = tl.load(count + state)
    if top < there:
        begin, reach, same = tl.load(first + state), tl.load(hops + state), tl.load(alike + state)
        slot, head = tl.arange(0, SIZE)[None, None, :], tl.arange(0, HEADS)
        step: tl.constexpr = 3 * HEADS * SIZE
        base = parts + begin * step + head[:, None, None] * SIZE + slot
        costs = edges + state * width * width
        w = (weight + head * _WEIGHTS)[:, None, None]
        a0, a1, a2, a3, a4 = _weights(w, w + _FUNCTIONS, same)
        b0, b1, b2, b3, b4 = _weights(w + _FUNCTIONS, w, 0)
        row = top + tl.arange(0, ROWS)
        here = row[None, :, None] < there
        query = tl.load(base + row[None, :, None] * step, mask=here, other=0.0)  # (head, row, size)
        most = tl.full((HEADS, ROWS), -1e30, tl.float32)
        total = tl.zeros((HEADS, ROWS), tl.float32)
        mixed = tl.zeros((HEADS, ROWS, SIZE), tl.float32)
        for left in range(0, there, COLUMNS):
            column = left + tl.arange(0, COLUMNS)
            inside = column[None, :, None] < there
            key = tl.load(base + HEADS * SIZE + column[None, :, None] * step, mask=inside, other=0.0)
            value = tl.load(base + 2 * HEADS * SIZE + column[None, :, None] * step, mask=inside, other=0.0)
            leg = _block(costs, row, column, width, there)
            logits = tl.dot(query, tl.permute(key, (0, 2, 1))) * scale + _bias(leg, reach, a0, a1, a2, a3, a4)
            if same == 0:
                logits += _bias(_block_back(costs, row, column, width, there), reach, b0, b1, b2, b3, b4)
            logits = tl.where(column[None, None, :] < there, logits, -1e30)
            higher = tl.maximum(most, tl.max(logits, 2))
            fade = tl.exp(most - higher)
            chance = tl.exp(logits - higher[:, :, None])
            total = total * fade + tl.sum(chance, 2)
            mixed = mixed * fade[:, :, None] + tl.dot(chance.to(value.dtype), value)
            most = higher
        place = (begin + row[None, :]) * HEADS + head[:, None]
        target = out + place[:, :, None] * SIZE + slot
        tl.store(target, (mixed / total[:, :, None]).to(out.dtype.element_ty), mask=here)
        if LEARNS:
            tl.store(norm + place, most + tl.log(total), mask=row[None, :] < there)


@triton.jit
def _backward_kernel(  # type: ignore[no-untyped-def]
    parts, edges, hops, alike, first, count, weight, out, norm, grad_out, grad_parts, sums, own,
    grad_bias, width, scale, limit,
    HEADS: tl.constexpr, SIZE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """All gradients of one head of one state. Blocks lie on their side, with keys as rows and queries as columns.

    Gradients of keys and values add up in registers, those of queries in `sums`, which this program alone touches.
    """
    state = (tl.program_id(0) // HEADS).to(tl.int64)
    head = tl.program_id(0) % HEADS
    there, begin, reach = tl.load(count + state), tl.load(first + state), tl.load(hops + state)
    if there <= limit:
        return
    same = tl.load(alike + state)
    slot = tl.arange(0, SIZE)
    step: tl.constexpr = 3 * HEADS * SIZE
    base = parts + begin * step + head * SIZE + slot[None, :]
    costs = edges + state * width * width
    w = weight + head * _WEIGHTS
    a0, a1, a2, a3, a4 = _weights(w, w + _FUNCTIONS, same)
    b0, b1, b2, b3, b4 = _weights(w + _FUNCTIONS, w, 0)
    g0, g1, g2 = tl.zeros((ROWS,), tl.float32), tl.zeros((ROWS,), tl.float32), tl.zeros((ROWS,), tl.float32)
    g3, g4, g5 = tl.zeros((ROWS,), tl.float32), tl.zeros((ROWS,), tl.float32), tl.zeros((ROWS,), tl.float32)
    g6, g7, g8 = tl.zeros((ROWS,), tl.float32), tl.zeros((ROWS,), tl.float32), tl.zeros((ROWS,), tl.float32)
    g9 = tl.zeros((ROWS,), tl.float32)
    for left in range(0, there, COLUMNS):
        column = left + tl.arange(0, COLUMNS)
        inside = column[:, None] < there
        place = (begin + column) * HEADS + head
        spot = place[:, None] * SIZE + slot[None, :]
        grad = tl.load(grad_out + spot, mask=inside, other=0.0).to(tl.float32)
        mixed = tl.load(out + spot, mask=inside, other=0.0).to(tl.float32)
        tl.store(own + place, tl.sum(grad * mixed, 1), mask=column < there)
    tl.debug_barrier()  # what one thread has written another may read
    for top in range(0, there, ROWS):
        row = top + tl.arange(0, ROWS)
        here = row[:, None] < there
        key = tl.load(base + HEADS * SIZE + row[:, None] * step, mask=here, other=0.0)
        value = tl.load(base + 2 * HEADS * SIZE + row[:, None] * step, mask=here, other=0.0)
        grad_key = tl.zeros((ROWS, SIZE), tl.float32)
        grad_value = tl.zeros((ROWS, SIZE), tl.float32)
        for left in range(0, there, COLUMNS):
            column = left + tl.arange(0, COLUMNS)
            inside = column[:, None] < there
            query = tl.load(base + column[:, None] * step, mask=inside, other=0.0)
            place = (begin + column) * HEADS + head
            spot = place[:, None] * SIZE + slot[None, :]
            grad = tl.load(grad_out + spot, mask=inside, other=0.0)
            level = tl.load(norm + place, mask=column < there, other=0.0)
            part = tl.load(own + place, mask=column < there, other=0.0)
            leg = _block_back(costs, row, column, width, there)  # from a query to where it looks
            logits = tl.dot(key, tl.trans(query)) * scale + _bias(leg, reach, a0, a1, a2, a3, a4)
            if same == 0:
                logits += _bias(_block(costs, row, column, width, there), reach, b0, b1, b2, b3, b4)
            chance = tl.where(here & (column[None, :] < there), tl.exp(logits - level[None, :]), 0.0)
            grad_value += tl.dot(chance.to(grad.dtype), grad)
            grad_logits = chance * (tl.dot(value, tl.trans(grad)) - part[None, :])
            rounded = grad_logits.to(query.dtype)
            grad_key += tl.dot(rounded, query)
            grad_query = tl.dot(tl.trans(rounded), key)
            if top > 0:
                grad_query += tl.load(sums + spot, mask=inside, other=0.0)
            tl.store(sums + spot, grad_query, mask=inside)
            s0, s1, s2, s3, s4 = _sums(grad_logits, leg, reach, 1)
            g0, g1, g2, g3, g4 = g0 + s0, g1 + s1, g2 + s2, g3 + s3, g4 + s4
            if same == 0:
                back = _block(costs, row, column, width, there)
                s0, s1, s2, s3, s4 = _sums(grad_logits, back, reach, 1)
                g5, g6, g7, g8, g9 = g5 + s0, g6 + s1, g7 + s2, g8 + s3, g9 + s4
        target = grad_parts + (begin + row[:, None]) * step + HEADS * SIZE + head * SIZE + slot[None, :]
        tl.store(target, (grad_key * scale).to(grad_parts.dtype.element_ty), mask=here)
        tl.store(target + HEADS * SIZE, grad_value.to(grad_parts.dtype.element_ty), mask=here)
        tl.debug_barrier()  # what one thread has added to `sums` another may read
    for left in range(0, there, COLUMNS):
        column = left + tl.arange(0, COLUMNS)
        inside = column[:, None] < there
        spot = ((begin + column) * HEADS + head)[:, None] * SIZE + slot[None, :]
        grad_query = tl.load(sums + spot, mask=inside, other=0.0) * scale
        target = grad_parts + (begin + column[:, None]) * step + head * SIZE + slot[None, :]
        tl.store(target, grad_query.to(grad_parts.dtype.element_ty), mask=inside)
    if same == 1:
        g5, g6, g7, g8, g9 = g0, g1, g2, g3, g4
    spot = grad_bias + (state * HEADS + head) * _WEIGHTS
    _store_sums(spot, g0, g1, g2, g3, g4, 0)
    _store_sums(spot + _FUNCTIONS, g5, g6, g7, g8, g9, 0)


@triton.jit
def _small_backward_kernel(  # type: ignore[no-untyped-def]
    parts, edges, hops, alike, first, count, weight, out, norm, grad_out, grad_parts, sums, own,
    grad_bias, width, scale, limit,
    HEADS: tl.constexpr, SIZE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """All gradients of one small state: its heads share the functions of the costs."""
    state = tl.program_id(0).to(tl.int64)
    there, begin, reach = tl.load(count + state), tl.load(first + state), tl.load(hops + state)
    if there > limit:
        return
    same = tl.load(alike + state)
    slot, head = tl.arange(0, SIZE)[None, None, :], tl.arange(0, HEADS)
    step: tl.constexpr = 3 * HEADS * SIZE
    base = parts + begin * step + head[:, None, None] * SIZE + slot
    costs = edges + state * width * width
    w = (weight + head * _WEIGHTS)[:, None, None]
    a0, a1, a2, a3, a4 = _weights(w, w + _FUNCTIONS, same)
    b0, b1, b2, b3, b4 = _weights(w + _FUNCTIONS, w, 0)
    g0, g1 = tl.zeros((HEADS, ROWS), tl.float32), tl.zeros((HEADS, ROWS), tl.float32)
    g2, g3 = tl.zeros((HEADS, ROWS), tl.float32), tl.zeros((HEADS, ROWS), tl.float32)
    g4, g5 = tl.zeros((HEADS, ROWS), tl.float32), tl.zeros((HEADS, ROWS), tl.float32)
    g6, g7 = tl.zeros((HEADS, ROWS), tl.float32), tl.zeros((HEADS, ROWS), tl.float32)
    g8, g9 = tl.zeros((HEADS, ROWS), tl.float32), tl.zeros((HEADS, ROWS), tl.float32)
    for left in range(0, there, COLUMNS):
        column = left + tl.arange(0, COLUMNS)
        inside = column[None, :, None] < there
        place = (begin + column[None, :]) * HEADS + head[:, None]
        spot = place[:, :, None] * SIZE + slot
        grad = tl.load(grad_out + spot, mask=inside, other=0.0).to(tl.float32)
        mixed = tl.load(out + spot, mask=inside, other=0.0).to(tl.float32)
        tl.store(own + place, tl.sum(grad * mixed, 2), mask=column[None, :] < there)
    tl.debug_barrier()
    for top in range(0, there, ROWS):
        row = top + tl.arange(0, ROWS)
        here = row[None, :, None] < there
        key = tl.load(base + HEADS * SIZE + row[None, :, None] * step, mask=here, other=0.0)
        value = tl.load(base + 2 * HEADS * SIZE + row[None, :, None] * step, mask=here, other=0.0)
        grad_key = tl.zeros((HEADS, ROWS, SIZE), tl.float32)
        grad_value = tl.zeros((HEADS, ROWS, SIZE), tl.float32)
        for left in range(0, there, COLUMNS):
            column = left + tl.arange(0, COLUMNS)
            inside = column[None, :, None] < there
            query = tl.load(base + column[None, :, None] * step, mask=inside, other=0.0)
            place = (begin + column[None, :]) * HEADS + head[:, None]
            spot = place[:, :, None] * SIZE + slot
            grad = tl.load(grad_out + spot, mask=inside, other=0.0)
            level = tl.load(norm + place, mask=column[None, :] < there, other=0.0)
            part = tl.load(own + place, mask=column[None, :] < there, other=0.0)
            leg = _block_back(costs, row, column, width, there)
            logits = tl.dot(key, tl.permute(query, (0, 2, 1))) * scale + _bias(leg, reach, a0, a1, a2, a3, a4)
            if same == 0:
                logits += _bias(_block(costs, row, column, width, there), reach, b0, b1, b2, b3, b4)
            chance = tl.where(here & (column[None, None, :] < there), tl.exp(logits - level[:, None, :]), 0.0)
            grad_value += tl.dot(chance.to(grad.dtype), grad)
            grad_logits = chance * (tl.dot(value, tl.permute(grad, (0, 2, 1))) - part[:, None, :])
            rounded = grad_logits.to(query.dtype)
            grad_key += tl.dot(rounded, query)
            grad_query = tl.dot(tl.permute(rounded, (0, 2, 1)), key)
            if top > 0:
                grad_query += tl.load(sums + spot, mask=inside, other=0.0)
            tl.store(sums + spot, grad_query, mask=inside)
            s0, s1, s2, s3, s4 = _sums(grad_logits, leg[None], reach, 2)
            g0, g1, g2, g3, g4 = g0 + s0, g1 + s1, g2 + s2, g3 + s3, g4 + s4
            if same == 0:
                back = _block(costs, row, column, width, there)
                s0, s1, s2, s3, s4 = _sums(grad_logits, back[None], reach, 2)
                g5, g6, g7, g8, g9 = g5 + s0, g6 + s1, g7 + s2, g8 + s3, g9 + s4
        target = grad_parts + (begin + row[None, :, None]) * step + HEADS * SIZE + head[:, None, None] * SIZE + slot
        tl.store(target, (grad_key * scale).to(grad_parts.dtype.element_ty), mask=here)
        tl.store(target + HEADS * SIZE, grad_value.to(grad_parts.dtype.element_ty), mask=here)
        tl.debug_barrier()
    for left in range(0, there, COLUMNS):
        column = left + tl.arange(0, COLUMNS)
        inside = column[None, :, None] < there
        spot = ((begin + column[None, :]) * HEADS + head[:, None])[:, :, None] * SIZE + slot
        grad_query = tl.load(sums + spot, mask=inside, other=0.0) * scale
        target = grad_parts + (begin + column[None, :, None]) * step + head[:, None, None] * SIZE + slot
        tl.store(target, grad_query.to(grad_parts.dtype.element_ty), mask=inside)
    if same == 1:
        g5, g6, g7, g8, g9 = g0, g1, g2, g3, g4
    spot = grad_bias + (state * HEADS + head) * _WEIGHTS
    _store_sums(spot, g0, g1, g2, g3, g4, 1)
    _store_sums(spot + _FUNCTIONS, g5, g6, g7, g8, g9, 1)
