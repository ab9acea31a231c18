"""Adding to a residual stream and normalising it, as one GPU kernel each way.

The stream stays in float32; what is added and what comes out may be bfloat16.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

_ROWS = 16
PROGRAMS = 1056
"""Programs of a backward pass, each with a sum of its own for the gradients of scale and shift: eight for every
multiprocessor of an H200."""


def fused_add_norm(
    stream: Tensor,
    more: Tensor,
    scale: Tensor,
    shift: Tensor,
    epsilon: float,
    dtype: torch.dtype,
    programs: int = PROGRAMS,
) -> tuple[Tensor, Tensor]:
    """(token, size) stream + more in float32, and its layer normalisation in `dtype`.

    At most `programs` programs share the backward pass.
    """
    return _AddNorm.apply(stream, more, scale, shift, epsilon, dtype, programs)  # type: ignore[no-untyped-call]


class _AddNorm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        stream: Tensor,
        more: Tensor,
        scale: Tensor,
        shift: Tensor,
        epsilon: float,
        dtype: torch.dtype,
        programs: int,
    ) -> tuple[Tensor, Tensor]:
        tokens, size = stream.shape
        stream, more = stream.contiguous(), more.contiguous()
        total = torch.empty_like(stream)
        normed = torch.empty(tokens, size, dtype=dtype, device=stream.device)
        mean = torch.empty(tokens, dtype=torch.float32, device=stream.device)
        deviation = torch.empty_like(mean)
        _forward_kernel[(triton.cdiv(tokens, _ROWS),)](
            stream, more, scale, shift, total, normed, mean, deviation, tokens, epsilon,
            size, triton.next_power_of_2(size), _ROWS, num_warps=4,
        )  # fmt: skip
        ctx.save_for_backward(total, scale, mean, deviation)
        ctx.more_dtype, ctx.programs = more.dtype, programs
        return total, normed

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        total, scale, mean, deviation = ctx.saved_tensors
        tokens, size = total.shape
        grad_stream = torch.empty_like(total)
        grad_more = torch.empty(tokens, size, dtype=ctx.more_dtype, device=total.device)
        programs = min(ctx.programs, triton.cdiv(tokens, _ROWS))
        sums = torch.empty(2, programs, size, dtype=torch.float32, device=total.device)
        _backward_kernel[(programs,)](
            total, scale, mean, deviation, grads[0].contiguous(), grads[1].contiguous(), grad_stream, grad_more, sums,
            tokens, programs, size, triton.next_power_of_2(size), _ROWS, num_warps=4,
        )  # fmt: skip
        grad_scale, grad_shift = sums.sum(1).to(scale.dtype)
        return grad_stream, grad_more, grad_scale, grad_shift, None, None, None


@triton.jit
def _forward_kernel(  # type: ignore[no-untyped-def]
    stream, more, scale, shift, total, normed, mean, deviation, tokens, epsilon,
    SIZE: tl.constexpr, COLUMNS: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, COLUMNS)
    there = (row[:, None] < tokens) & (column[None, :] < SIZE)
    place = row[:, None] * SIZE + column[None, :]
    value = tl.load(stream + place, mask=there, other=0.0) + tl.load(more + place, mask=there, other=0.0).to(tl.float32)
    tl.store(total + place, value, mask=there)
    centre = tl.sum(value, 1) / SIZE
    off = tl.where(there, value - centre[:, None], 0.0)
    inverse = 1.0 / tl.sqrt(tl.sum(off * off, 1) / SIZE + epsilon)
    factor = tl.load(scale + column, mask=column < SIZE, other=0.0)
    offset = tl.load(shift + column, mask=column < SIZE, other=0.0)
    result = off * inverse[:, None] * factor[None, :] + offset[None, :]
    tl.store(normed + place, result.to(normed.dtype.element_ty), mask=there)
    tl.store(mean + row, centre, mask=row < tokens)
    tl.store(deviation + row, inverse, mask=row < tokens)


@triton.jit
def _backward_kernel(  # type: ignore[no-untyped-def]
    total, scale, mean, deviation, grad_total, grad_normed, grad_stream, grad_more, sums, tokens, programs,
    SIZE: tl.constexpr, COLUMNS: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    column = tl.arange(0, COLUMNS)
    factor = tl.load(scale + column, mask=column < SIZE, other=0.0)
    grad_scale = tl.zeros((COLUMNS,), tl.float32)
    grad_shift = tl.zeros((COLUMNS,), tl.float32)
    for top in range(tl.program_id(0) * ROWS, tokens, programs * ROWS):
        row = (top + tl.arange(0, ROWS)).to(tl.int64)
        there = (row[:, None] < tokens) & (column[None, :] < SIZE)
        place = row[:, None] * SIZE + column[None, :]
        centre = tl.load(mean + row, mask=row < tokens, other=0.0)
        inverse = tl.load(deviation + row, mask=row < tokens, other=0.0)
        even = (tl.load(total + place, mask=there, other=0.0) - centre[:, None]) * inverse[:, None]
        even = tl.where(there, even, 0.0)
        grad = tl.load(grad_normed + place, mask=there, other=0.0).to(tl.float32)
        grad_scale += tl.sum(grad * even, 0)
        grad_shift += tl.sum(grad, 0)
        scaled = grad * factor[None, :]
        along = tl.sum(scaled * even, 1) / SIZE
        level = tl.sum(scaled, 1) / SIZE
        result = (scaled - level[:, None] - even * along[:, None]) * inverse[:, None]
        result += tl.load(grad_total + place, mask=there, other=0.0)
        tl.store(grad_stream + place, result, mask=there)
        tl.store(grad_more + place, result.to(grad_more.dtype.element_ty), mask=there)
    spot = tl.program_id(0) * SIZE + column
    tl.store(sums + spot, grad_scale, mask=column < SIZE)
    tl.store(sums + programs * SIZE + spot, grad_shift, mask=column < SIZE)
