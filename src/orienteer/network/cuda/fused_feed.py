"""The feed-forward part of a layer for training on a GPU: its inner vectors are cut off at 0 as they are computed.

They are the largest tensors of a layer; a pass of its own for the maximum with 0, in either direction, would read and
write them once more.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from orienteer.network.cuda.fused import is_power, room_on_chip

_SETTINGS = {"ROWS": 64, "COLUMNS": 128, "num_warps": 4, "num_stages": 2}


def fused_feed(hidden: Tensor, widen: Tensor, narrow: Tensor) -> Tensor:
    """(token, size) max(hidden @ widen.T, 0) @ narrow.T, in the type of `hidden`."""
    return _Feed.apply(hidden, widen, narrow)  # type: ignore[no-untyped-call]


def takes(size: int, inner: int, dtype: torch.dtype, device: torch.device) -> bool:
    """Whether the kernel has layers of that size, and the device room on the chip for their blocks."""
    block = (_SETTINGS["ROWS"] + _SETTINGS["COLUMNS"]) * size * dtype.itemsize
    return 16 <= size <= 256 and is_power(size) and inner % 16 == 0 and block <= room_on_chip(device)


class _Feed(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, widen: Tensor, narrow: Tensor) -> Tensor:
        out, back = widen.to(hidden.dtype), narrow.to(hidden.dtype)
        inner = _product(hidden, out, None)
        ctx.save_for_backward(hidden, inner, out, back)
        ctx.weight_dtype = widen.dtype
        return inner @ back.T

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        hidden, inner, out, back = ctx.saved_tensors
        grad = grads[0].contiguous()
        grad_inner = _product(grad, back.T, inner)
        return (
            grad_inner @ out,
            (grad_inner.T @ hidden).to(ctx.weight_dtype),
            (grad.T @ inner).to(ctx.weight_dtype),
        )


def _product(hidden: Tensor, weights: Tensor, above: Tensor | None) -> Tensor:
    """(token, inner) hidden @ weights.T where `above`, of the same shape, is above 0; by default where itself is."""
    tokens, size = hidden.shape
    inner = len(weights)
    result = torch.empty(tokens, inner, dtype=hidden.dtype, device=hidden.device)
    grid = (triton.cdiv(tokens, _SETTINGS["ROWS"]), triton.cdiv(inner, _SETTINGS["COLUMNS"]))
    _product_kernel[grid](
        hidden.contiguous(), weights, result if above is None else above, result, tokens, inner, *weights.stride(),
        above is None, size, **_SETTINGS,
    )  # fmt: skip
    return result


@triton.jit
def _product_kernel(  # type: ignore[no-untyped-def]
    hidden, weights, above, result, tokens, inner, down, across,
    OWN: tl.constexpr, SIZE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    slot = tl.arange(0, SIZE)
    vectors = tl.load(hidden + row[:, None] * SIZE + slot[None, :], mask=row[:, None] < tokens, other=0.0)
    matrix = tl.load(weights + column[None, :] * down + slot[:, None] * across, mask=column[None, :] < inner, other=0.0)
    product = tl.dot(vectors, matrix, input_precision="ieee")
    place, there = row[:, None] * inner + column[None, :], (row[:, None] < tokens) & (column[None, :] < inner)
    if OWN:
        product = tl.maximum(product, 0.0)
    else:
        product = tl.where(tl.load(above + place, mask=there, other=0.0) > 0, product, 0.0)
    tl.store(result + place, product.to(result.dtype.element_ty), mask=there)
