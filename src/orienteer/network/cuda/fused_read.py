"""What the heads of a network read off the last vectors of a state, as one GPU kernel each way.

Sums over the tokens of a state are sums over rows that lie next to each other; torch would add them up one by one,
wherever they lie.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from orienteer.network.cuda.fused_attention import new_table

_SETTINGS = {"ROWS": 16, "num_warps": 4}


def fused_read(hidden: Tensor, query: Tensor, first: Tensor, count: Tensor) -> tuple[Tensor, Tensor]:
    """(token,) each vector's inner product with its state's query, and (state, size) the mean vector of each state.

    Vectors are (token, size), with a size that is a power of two; those of a state are `count` from `first` on.
    """
    return _Read.apply(hidden, query, first, count)  # type: ignore[no-untyped-call]


class _Read(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, query: Tensor, first: Tensor, count: Tensor) -> tuple[Tensor, Tensor]:
        hidden, query = hidden.contiguous(), query.contiguous()
        pointer, mean = new_table(hidden[:, 0], first, count), torch.empty_like(query)
        _forward_kernel[(len(first),)](hidden, query, first, count, pointer, mean, hidden.shape[1], **_SETTINGS)
        ctx.save_for_backward(hidden, query, first, count)
        return pointer, mean

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        hidden, query, first, count = ctx.saved_tensors
        grad_hidden, grad_query = new_table(hidden, first, count), torch.empty_like(query)
        _backward_kernel[(len(first),)](
            hidden, query, first, count, grads[0].contiguous(), grads[1].contiguous(), grad_hidden, grad_query,
            hidden.shape[1], **_SETTINGS,
        )  # fmt: skip
        return grad_hidden, grad_query, None, None


@triton.jit
def _forward_kernel(  # type: ignore[no-untyped-def]
    hidden, query, first, count, pointer, mean, SIZE: tl.constexpr, ROWS: tl.constexpr
):
    state = tl.program_id(0).to(tl.int64)
    begin, there = tl.load(first + state), tl.load(count + state)
    slot = tl.arange(0, SIZE)
    asked = tl.load(query + state * SIZE + slot)
    total = tl.zeros((SIZE,), tl.float32)
    for top in range(0, there, ROWS):
        row = top + tl.arange(0, ROWS)
        vectors = tl.load(hidden + (begin + row[:, None]) * SIZE + slot[None, :], mask=row[:, None] < there, other=0.0)
        total += tl.sum(vectors, 0)
        tl.store(pointer + begin + row, tl.sum(vectors * asked[None, :], 1), mask=row < there)
    tl.store(mean + state * SIZE + slot, total / there)


@triton.jit
def _backward_kernel(  # type: ignore[no-untyped-def]
    hidden, query, first, count, grad_pointer, grad_mean, grad_hidden, grad_query,
    SIZE: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    state = tl.program_id(0).to(tl.int64)
    begin, there = tl.load(first + state), tl.load(count + state)
    slot = tl.arange(0, SIZE)
    asked = tl.load(query + state * SIZE + slot)
    even = tl.load(grad_mean + state * SIZE + slot) / there
    total = tl.zeros((SIZE,), tl.float32)
    for top in range(0, there, ROWS):
        row = top + tl.arange(0, ROWS)
        place, here = (begin + row[:, None]) * SIZE + slot[None, :], row[:, None] < there
        own = tl.load(grad_pointer + begin + row, mask=row < there, other=0.0)
        total += tl.sum(own[:, None] * tl.load(hidden + place, mask=here, other=0.0), 0)
        tl.store(grad_hidden + place, even[None, :] + own[:, None] * asked[None, :], mask=here)
    tl.store(grad_query + state * SIZE + slot, total)
