"""Edge-biased attention as GPU kernels: neither biases nor weights between tokens ever reach memory.

Tokens of all states lie one after the other, without padding. The bias of head h is
    sum_k w[h, k] f_k(c_ij) + w[h, k + 5] f_k(c_ji),  f = (c, exp(-8c), exp(-32c), exp(-hops c), exp(-hops c / 4)).
A program is one warp with one head of one state. It walks over small blocks of queries and keys, as many as the state
has: no warp waits for another, and a small state costs little. With four warps a backward pass took 20 times longer.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

_KERNELS = 10
_FORWARD = {"ROWS": 16, "COLUMNS": 32, "num_warps": 1}
_BACKWARD = {"ROWS": 16, "COLUMNS": 32, "num_warps": 1}
"""Sizes of blocks: the fastest of those tried on an H200."""


def fused_attention(
    parts: Tensor, edges: Tensor, hops: Tensor, alike: Tensor, first: Tensor, count: Tensor, bias: Tensor, total: int
) -> Tensor:
    """(token, head, size) attention of `parts`, the (token, 3, head, size) queries, keys and values.

    A state's tokens are `count` (state,) int32 ones from `first` (state,) int64 on. `edges` are (state, width, width)
    costs in float16, of which only the first `count` rows and columns are read; `hops` (state,) float32; `alike`
    (state,) int32 is 1 where costs there and back are known to be the same; `bias` (head, 10). Tokens
    from `total` on belong to no state: they get zeros.
    """
    return _Attention.apply(parts, edges, hops, alike, first, count, bias, total)  # type: ignore[no-untyped-call]


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
        total: int,
    ) -> Tensor:
        tokens, _, heads, size = parts.shape
        states, width = edges.shape[:2]
        parts, weight = parts.contiguous(), bias.float().contiguous()
        out = torch.empty(tokens, heads, size, dtype=parts.dtype, device=parts.device)
        out[total:].zero_()
        norm = torch.empty(tokens, heads, dtype=torch.float32, device=parts.device)
        _forward_kernel[(states * heads,)](
            parts, edges, hops, alike, first, count, weight, out, norm, width, size**-0.5, heads, size, **_FORWARD
        )
        ctx.save_for_backward(parts, edges, hops, alike, first, count, weight, out, norm)
        ctx.bias_dtype, ctx.total = bias.dtype, total
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        parts, edges, hops, alike, first, count, weight, out, norm = ctx.saved_tensors
        heads, size = parts.shape[2:]
        states, width = edges.shape[:2]
        grad = grads[0].contiguous()
        grad_parts = torch.empty_like(parts)
        grad_parts[ctx.total :].zero_()
        grad_bias = torch.empty(states, heads, _KERNELS, dtype=torch.float32, device=parts.device)
        given = (parts, edges, hops, alike, first, count, weight, out, norm, grad, grad_parts)
        _query_kernel[(states * heads,)](*given, grad_bias, width, size**-0.5, heads, size, **_BACKWARD)
        _key_kernel[(states * heads,)](*given, width, size**-0.5, heads, size, **_BACKWARD)
        return grad_parts, None, None, None, None, None, grad_bias.sum(0).to(ctx.bias_dtype), None


@triton.jit
def _one_way(cost, reach, w, other, more):  # type: ignore[no-untyped-def]
    """A block of the bias from the costs in one direction, with weights `w` and, `more` times, `other`."""
    wide = tl.exp(-8.0 * cost)
    near = tl.exp(-0.25 * reach * cost)
    wide2, near2 = wide * wide, near * near
    total = (tl.load(w) + more * tl.load(other)) * cost + (tl.load(w + 1) + more * tl.load(other + 1)) * wide
    total += (tl.load(w + 2) + more * tl.load(other + 2)) * (wide2 * wide2)
    total += (tl.load(w + 3) + more * tl.load(other + 3)) * (near2 * near2)
    return total + (tl.load(w + 4) + more * tl.load(other + 4)) * near


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
    HEADS: tl.constexpr, SIZE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    state = (tl.program_id(0) // HEADS).to(tl.int64)
    head = tl.program_id(0) % HEADS
    there, begin, reach = tl.load(count + state), tl.load(first + state), tl.load(hops + state)
    same = tl.load(alike + state)
    slot = tl.arange(0, SIZE)
    step: tl.constexpr = 3 * HEADS * SIZE
    base = parts + begin * step + head * SIZE + slot[None, :]
    costs = edges + state * width * width
    w = weight + head * 10
    for top in range(0, there, ROWS):
        row = top + tl.arange(0, ROWS)
        here = row[:, None] < there
        query = tl.load(base + row[:, None] * step, mask=here, other=0.0)
        most = tl.full((ROWS,), -1e30, tl.float32)
        total = tl.zeros((ROWS,), tl.float32)
        mixed = tl.zeros((ROWS, SIZE), tl.float32)
        for left in range(0, there, COLUMNS):
            column = left + tl.arange(0, COLUMNS)
            inside = column[:, None] < there
            key = tl.load(base + HEADS * SIZE + column[:, None] * step, mask=inside, other=0.0)
            value = tl.load(base + 2 * HEADS * SIZE + column[:, None] * step, mask=inside, other=0.0)
            leg = _block(costs, row, column, width, there)
            logits = tl.dot(query, tl.trans(key)) * scale + _one_way(leg, reach, w, w + 5, same)
            if same == 0:
                logits += _one_way(_block_back(costs, row, column, width, there), reach, w + 5, w, 0)
            logits = tl.where(column[None, :] < there, logits, -1e30)
            higher = tl.maximum(most, tl.max(logits, 1))
            fade = tl.exp(most - higher)
            chance = tl.exp(logits - higher[:, None])
            total = total * fade + tl.sum(chance, 1)
            mixed = mixed * fade[:, None] + tl.dot(chance.to(value.dtype), value)
            most = higher
        target = out + ((begin + row[:, None]) * HEADS + head) * SIZE + slot[None, :]
        tl.store(target, (mixed / total[:, None]).to(out.dtype.element_ty), mask=here)
        tl.store(norm + (begin + row) * HEADS + head, most + tl.log(total), mask=row < there)


@triton.jit
def _query_kernel(  # type: ignore[no-untyped-def]
    parts, edges, hops, alike, first, count, weight, out, norm, grad_out, grad_parts, grad_bias, width, scale,
    HEADS: tl.constexpr, SIZE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Gradients of queries and of the bias's weights."""
    state = (tl.program_id(0) // HEADS).to(tl.int64)
    head = tl.program_id(0) % HEADS
    there, begin, reach = tl.load(count + state), tl.load(first + state), tl.load(hops + state)
    same = tl.load(alike + state)
    slot = tl.arange(0, SIZE)
    step: tl.constexpr = 3 * HEADS * SIZE
    base = parts + begin * step + head * SIZE + slot[None, :]
    costs = edges + state * width * width
    w = weight + head * 10
    w0, w1, w2, w3, w4 = 0.0, 0.0, 0.0, 0.0, 0.0
    w5, w6, w7, w8, w9 = 0.0, 0.0, 0.0, 0.0, 0.0
    for top in range(0, there, ROWS):
        row = top + tl.arange(0, ROWS)
        here = row[:, None] < there
        query = tl.load(base + row[:, None] * step, mask=here, other=0.0)
        place = (begin + row) * HEADS + head
        grad = tl.load(grad_out + place[:, None] * SIZE + slot[None, :], mask=here, other=0.0)
        mixed = tl.load(out + place[:, None] * SIZE + slot[None, :], mask=here, other=0.0)
        level = tl.load(norm + place, mask=row < there, other=0.0)
        own = tl.sum(grad.to(tl.float32) * mixed.to(tl.float32), 1)
        grad_query = tl.zeros((ROWS, SIZE), tl.float32)
        for left in range(0, there, COLUMNS):
            column = left + tl.arange(0, COLUMNS)
            inside = column[:, None] < there
            key = tl.load(base + HEADS * SIZE + column[:, None] * step, mask=inside, other=0.0)
            value = tl.load(base + 2 * HEADS * SIZE + column[:, None] * step, mask=inside, other=0.0)
            leg = _block(costs, row, column, width, there)
            logits = tl.dot(query, tl.trans(key)) * scale + _one_way(leg, reach, w, w + 5, same)
            if same == 0:
                logits += _one_way(_block_back(costs, row, column, width, there), reach, w + 5, w, 0)
            chance = tl.where(here & (column[None, :] < there), tl.exp(logits - level[:, None]), 0.0)
            grad_logits = chance * (tl.dot(grad, tl.trans(value)) - own[:, None])
            grad_query += tl.dot(grad_logits.to(key.dtype), key)
            wide = tl.exp(-8.0 * leg)
            near = tl.exp(-0.25 * reach * leg)
            wide2, near2 = wide * wide, near * near
            w0 += tl.sum(grad_logits * leg)
            w1 += tl.sum(grad_logits * wide)
            w2 += tl.sum(grad_logits * wide2 * wide2)
            w3 += tl.sum(grad_logits * near2 * near2)
            w4 += tl.sum(grad_logits * near)
            if same == 0:
                back = _block_back(costs, row, column, width, there)
                wide = tl.exp(-8.0 * back)
                near = tl.exp(-0.25 * reach * back)
                wide2, near2 = wide * wide, near * near
                w5 += tl.sum(grad_logits * back)
                w6 += tl.sum(grad_logits * wide)
                w7 += tl.sum(grad_logits * wide2 * wide2)
                w8 += tl.sum(grad_logits * near2 * near2)
                w9 += tl.sum(grad_logits * near)
        target = grad_parts + (begin + row[:, None]) * step + head * SIZE + slot[None, :]
        tl.store(target, (grad_query * scale).to(grad_parts.dtype.element_ty), mask=here)
    if same == 1:
        w5, w6, w7, w8, w9 = w0, w1, w2, w3, w4
    spot = grad_bias + (state * HEADS + head) * 10
    tl.store(spot, w0)
    tl.store(spot + 1, w1)
    tl.store(spot + 2, w2)
    tl.store(spot + 3, w3)
    tl.store(spot + 4, w4)
    tl.store(spot + 5, w5)
    tl.store(spot + 6, w6)
    tl.store(spot + 7, w7)
    tl.store(spot + 8, w8)
    tl.store(spot + 9, w9)


@triton.jit
def _key_kernel(  # type: ignore[no-untyped-def]
    parts, edges, hops, alike, first, count, weight, out, norm, grad_out, grad_parts, width, scale,
    HEADS: tl.constexpr, SIZE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Gradients of keys and values; blocks lie on their side, with keys as rows."""
    state = (tl.program_id(0) // HEADS).to(tl.int64)
    head = tl.program_id(0) % HEADS
    there, begin, reach = tl.load(count + state), tl.load(first + state), tl.load(hops + state)
    same = tl.load(alike + state)
    slot = tl.arange(0, SIZE)
    step: tl.constexpr = 3 * HEADS * SIZE
    base = parts + begin * step + head * SIZE + slot[None, :]
    costs = edges + state * width * width
    w = weight + head * 10
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
            grad = tl.load(grad_out + place[:, None] * SIZE + slot[None, :], mask=inside, other=0.0)
            mixed = tl.load(out + place[:, None] * SIZE + slot[None, :], mask=inside, other=0.0)
            level = tl.load(norm + place, mask=column < there, other=0.0)
            own = tl.sum(grad.to(tl.float32) * mixed.to(tl.float32), 1)
            back = _block(costs, row, column, width, there)  # a row is where a query looks
            if same == 1:
                logits = tl.dot(key, tl.trans(query)) * scale + _one_way(back, reach, w, w + 5, 1)
            else:
                leg = _block_back(costs, row, column, width, there)
                logits = tl.dot(key, tl.trans(query)) * scale + _one_way(back, reach, w + 5, w, 0)
                logits += _one_way(leg, reach, w, w, 0)
            chance = tl.where(here & (column[None, :] < there), tl.exp(logits - level[None, :]), 0.0)
            grad_value += tl.dot(chance.to(grad.dtype), grad)
            grad_logits = chance * (tl.dot(value, tl.trans(grad)) - own[None, :])
            grad_key += tl.dot(grad_logits.to(query.dtype), query)
        target = grad_parts + (begin + row[:, None]) * step + HEADS * SIZE + head * SIZE + slot[None, :]
        tl.store(target, (grad_key * scale).to(grad_parts.dtype.element_ty), mask=here)
        tl.store(target + HEADS * SIZE, grad_value.to(grad_parts.dtype.element_ty), mask=here)
