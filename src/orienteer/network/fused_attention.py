"""Edge-biased attention as one GPU kernel a pass: neither biases nor weights between tokens ever reach memory.

Tokens of all states lie one after the other, without padding. The bias of head h is
    sum_k w[h, k] f_k(c_ij) + w[h, k + 5] f_k(c_ji),  f = (c, exp(-8c), exp(-32c), exp(-hops c), exp(-hops c / 4)).
Forwards, a program takes some queries of a state through all heads, so that f is worked out once; backwards, it takes
one head of a state through all queries, so that gradients of keys and values add up in registers.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

_KERNELS = 10


def fused_attention(parts: Tensor, edges: Tensor, hops: Tensor, first: Tensor, count: Tensor, bias: Tensor) -> Tensor:
    """(token, head, size) attention of `parts`, the (token, 3, head, size) queries, keys and values.

    A state's tokens are `count` (state,) int32 ones from `first` (state,) int64 on. `edges` are (state, width, width)
    costs in float16, of which only the first `count` rows and columns are read; `hops` (state,) float32; `bias`
    (head, 10).
    """
    return _Attention.apply(parts, edges, hops, first, count, bias)  # type: ignore[no-untyped-call]


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, parts: Tensor, edges: Tensor, hops: Tensor, first: Tensor, count: Tensor, bias: Tensor
    ) -> Tensor:
        tokens, _, heads, size = parts.shape
        states, width = edges.shape[:2]
        parts, weight = parts.contiguous(), bias.float().contiguous()
        out = torch.empty(tokens, heads, size, dtype=parts.dtype, device=parts.device)
        norm = torch.empty(tokens, heads, dtype=torch.float32, device=parts.device)
        columns, rows = _blocks(width, 2048)
        _forward_kernel[(states, triton.cdiv(width, rows))](
            parts, edges, hops, first, count, weight, out, norm, width, size**-0.5, heads, size, columns, rows
        )
        ctx.save_for_backward(parts, edges, hops, first, count, weight, out, norm)
        ctx.bias_dtype = bias.dtype
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        parts, edges, hops, first, count, weight, out, norm = ctx.saved_tensors
        heads, size = parts.shape[2:]
        states, width = edges.shape[:2]
        grad_parts = torch.empty_like(parts)
        grad_bias = torch.empty(states, heads, _KERNELS, dtype=torch.float32, device=parts.device)
        _backward_kernel[(states * heads,)](
            parts, edges, hops, first, count, weight, out, norm, grads[0].contiguous(), grad_parts, grad_bias,
            width, size**-0.5, heads, size, *_blocks(width, 2048),
        )  # fmt: skip
        return grad_parts, None, None, None, None, grad_bias.sum(0).to(ctx.bias_dtype)


def _blocks(width: int, cells: int) -> tuple[int, int]:
    """Columns and rows of a block: all tokens, and as many queries as keep it small."""
    columns = max(16, triton.next_power_of_2(width))
    return columns, max(16, min(columns, cells // columns))


@triton.jit
def _forward_kernel(  # type: ignore[no-untyped-def]
    parts, edges, hops, first, count, weight, out, norm, width, scale,
    HEADS: tl.constexpr, SIZE: tl.constexpr, COLUMNS: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    state = tl.program_id(0).to(tl.int64)
    there = tl.load(count + state)
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    if tl.program_id(1) * ROWS < there:
        begin = tl.load(first + state)
        reach = tl.load(hops + state)
        column, slot = tl.arange(0, COLUMNS), tl.arange(0, SIZE)
        step: tl.constexpr = 3 * HEADS * SIZE
        here, inside = row[:, None] < there, column[:, None] < there
        costs = edges + state * width * width
        both = here & (column[None, :] < there)
        leg = tl.load(costs + row[:, None] * width + column[None, :], mask=both, other=0.0).to(tl.float32)
        back = tl.load(costs + column[None, :] * width + row[:, None], mask=both, other=0.0).to(tl.float32)
        wide = tl.exp(-8.0 * leg)
        near = tl.exp(-0.25 * reach * leg)
        wide4, near4 = wide * wide * wide * wide, near * near * near * near
        wide_back = tl.exp(-8.0 * back)
        near_back = tl.exp(-0.25 * reach * back)
        wide4_back = wide_back * wide_back * wide_back * wide_back
        near4_back = near_back * near_back * near_back * near_back
        for head in range(HEADS):
            base = parts + begin * step + head * SIZE
            query = tl.load(base + row[:, None] * step + slot[None, :], mask=here, other=0.0)
            key = tl.load(base + HEADS * SIZE + column[:, None] * step + slot[None, :], mask=inside, other=0.0)
            value = tl.load(base + 2 * HEADS * SIZE + column[:, None] * step + slot[None, :], mask=inside, other=0.0)
            w = weight + head * 10
            logits = tl.dot(query, tl.trans(key)) * scale
            logits += tl.load(w) * leg + tl.load(w + 1) * wide + tl.load(w + 2) * wide4
            logits += tl.load(w + 3) * near4 + tl.load(w + 4) * near
            logits += tl.load(w + 5) * back + tl.load(w + 6) * wide_back + tl.load(w + 7) * wide4_back
            logits += tl.load(w + 8) * near4_back + tl.load(w + 9) * near_back
            logits = tl.where(column[None, :] < there, logits, -1e30)
            most = tl.max(logits, 1)
            chance = tl.exp(logits - most[:, None])
            total = tl.sum(chance, 1)
            mixed = tl.dot(chance.to(value.dtype), value) / total[:, None]
            target = out + ((begin + row[:, None]) * HEADS + head) * SIZE + slot[None, :]
            tl.store(target, mixed.to(value.dtype), mask=here)
            tl.store(norm + (begin + row) * HEADS + head, most + tl.log(total), mask=row < there)


@triton.jit
def _backward_kernel(  # type: ignore[no-untyped-def]
    parts, edges, hops, first, count, weight, out, norm, grad_out, grad_parts, grad_bias, width, scale,
    HEADS: tl.constexpr, SIZE: tl.constexpr, COLUMNS: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    state = (tl.program_id(0) // HEADS).to(tl.int64)
    head = tl.program_id(0) % HEADS
    there = tl.load(count + state)
    begin = tl.load(first + state)
    reach = tl.load(hops + state)
    column, slot, block = tl.arange(0, COLUMNS), tl.arange(0, SIZE), tl.arange(0, ROWS)
    step: tl.constexpr = 3 * HEADS * SIZE
    base = parts + begin * step + head * SIZE
    inside = column[:, None] < there
    key = tl.load(base + HEADS * SIZE + column[:, None] * step + slot[None, :], mask=inside, other=0.0)
    value = tl.load(base + 2 * HEADS * SIZE + column[:, None] * step + slot[None, :], mask=inside, other=0.0)
    costs = edges + state * width * width
    w = weight + head * 10
    grad_key = tl.zeros((COLUMNS, SIZE), tl.float32)
    grad_value = tl.zeros((COLUMNS, SIZE), tl.float32)
    w0, w1, w2, w3, w4 = 0.0, 0.0, 0.0, 0.0, 0.0
    w5, w6, w7, w8, w9 = 0.0, 0.0, 0.0, 0.0, 0.0
    for top in range(0, there, ROWS):
        row = top + block
        here = row[:, None] < there
        query = tl.load(base + row[:, None] * step + slot[None, :], mask=here, other=0.0)
        both = here & (column[None, :] < there)
        leg = tl.load(costs + row[:, None] * width + column[None, :], mask=both, other=0.0).to(tl.float32)
        back = tl.load(costs + column[None, :] * width + row[:, None], mask=both, other=0.0).to(tl.float32)
        wide = tl.exp(-8.0 * leg)
        near = tl.exp(-0.25 * reach * leg)
        wide4, near4 = wide * wide * wide * wide, near * near * near * near
        wide_back = tl.exp(-8.0 * back)
        near_back = tl.exp(-0.25 * reach * back)
        wide4_back = wide_back * wide_back * wide_back * wide_back
        near4_back = near_back * near_back * near_back * near_back
        logits = tl.dot(query, tl.trans(key)) * scale
        logits += tl.load(w) * leg + tl.load(w + 1) * wide + tl.load(w + 2) * wide4
        logits += tl.load(w + 3) * near4 + tl.load(w + 4) * near
        logits += tl.load(w + 5) * back + tl.load(w + 6) * wide_back + tl.load(w + 7) * wide4_back
        logits += tl.load(w + 8) * near4_back + tl.load(w + 9) * near_back
        total = tl.load(norm + (begin + row) * HEADS + head, mask=row < there, other=0.0)
        chance = tl.where(both, tl.exp(logits - total[:, None]), 0.0)
        place = ((begin + row[:, None]) * HEADS + head) * SIZE + slot[None, :]
        grad = tl.load(grad_out + place, mask=here, other=0.0)
        mixed = tl.load(out + place, mask=here, other=0.0)
        grad_value += tl.dot(tl.trans(chance.to(grad.dtype)), grad)
        inner = tl.sum(grad.to(tl.float32) * mixed.to(tl.float32), 1)
        grad_logits = chance * (tl.dot(grad, tl.trans(value)) - inner[:, None])
        low = grad_logits.to(query.dtype)
        grad_query = tl.dot(low, key) * scale
        grad_key += tl.dot(tl.trans(low), query) * scale
        target = grad_parts + (begin + row[:, None]) * step + head * SIZE + slot[None, :]
        tl.store(target, grad_query.to(query.dtype), mask=here)
        w0 += tl.sum(grad_logits * leg)
        w1 += tl.sum(grad_logits * wide)
        w2 += tl.sum(grad_logits * wide4)
        w3 += tl.sum(grad_logits * near4)
        w4 += tl.sum(grad_logits * near)
        w5 += tl.sum(grad_logits * back)
        w6 += tl.sum(grad_logits * wide_back)
        w7 += tl.sum(grad_logits * wide4_back)
        w8 += tl.sum(grad_logits * near4_back)
        w9 += tl.sum(grad_logits * near_back)
    target = grad_parts + (begin + column[:, None]) * step + head * SIZE + slot[None, :]
    tl.store(target + HEADS * SIZE, grad_key.to(key.dtype), mask=inside)
    tl.store(target + 2 * HEADS * SIZE, grad_value.to(key.dtype), mask=inside)
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
