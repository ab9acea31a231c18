"""The steps from one layer's attention to the next layer's as one GPU kernel, for passes without gradients.

A program keeps some tokens' vectors on the chip from the attention's join through the feed-forward part to the next
layer's queries, keys and values: memory sees a vector of the residual stream go in and out, and no inner vector.
"""

from collections.abc import Sequence
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor, nn
from torch.utils.weak import WeakTensorKeyDictionary

from orienteer.network.cuda.fused import is_power, queue_of, room_on_chip

_SETTINGS = {"ROWS": 64, "CHUNK": 32, "num_warps": 4, "num_stages": 4}
"""Sizes of blocks: the fastest of those tried on an H200."""
ROOM = 112 * 1024
"""Bytes of a multiprocessor's own memory that a block may need."""
_ROUNDED = WeakTensorKeyDictionary()
"""Weights rounded to another type, with the version of the weights: a search asks for them at every step."""


def fused_rest(
    mixed: Tensor,
    stream: Tensor,
    join: Tensor,
    norm: nn.LayerNorm,
    widen: Tensor,
    narrow: Tensor,
    next_norm: nn.LayerNorm,
    project: Tensor | None,
    fixed: bool,
) -> tuple[Tensor, Tensor]:
    """The residual stream after a layer but the last, and its normed and projected vectors in the type of `mixed`.

    `mixed` and `stream` are (token, size), the second in float32; `join`, `widen` and `narrow` are the layer's (out,
    in) matrices, `project` the next one's, or None after the last: then the vectors are normed only, in the type of the
    stream, and the stream itself, which nobody needs any more, is returned as it was. `fixed` says that weights no
    longer change: then their rounded copies are kept.
    """
    tokens, size = mixed.shape
    matrices = [_rounded(one, mixed.dtype, fixed) for one in (join, widen, narrow)]
    wanted = size if project is None else len(project)
    last = matrices[0] if project is None else _rounded(project, mixed.dtype, fixed)
    dtype = stream.dtype if project is None else mixed.dtype
    result = torch.empty(tokens, wanted, dtype=dtype, device=mixed.device)
    after = stream if project is None else torch.empty_like(stream)
    rest(mixed, stream, matrices, norm, next_norm, None if project is None else last, after, result, tokens)
    return after, result


def rest(
    mixed: Tensor,
    stream: Tensor,
    matrices: Sequence[Tensor],
    norm: nn.LayerNorm,
    next_norm: nn.LayerNorm,
    project: Tensor | None,
    after: Tensor,
    result: Tensor,
    tokens: int | Tensor,
) -> None:
    """Launches the kernel of `fused_rest`, with rounded matrices; `after` may be `stream`.

    `tokens` is how many tokens there are, or a tensor on the GPU whose first number says that.
    """
    join, widen, narrow = matrices
    most, size = mixed.shape
    wanted = 0 if project is None else len(project)
    _rest_kernel[(triton.cdiv(most, _SETTINGS["ROWS"]),)](
        mixed, stream, join, widen, narrow, join if project is None else project, norm.weight, norm.bias,
        next_norm.weight, next_norm.bias, after, result, tokens, norm.eps, next_norm.eps, size, len(widen), wanted,
        isinstance(tokens, Tensor), **_SETTINGS,
    )  # fmt: skip


def takes(size: int, inner: int, device: torch.device) -> bool:
    """Whether the kernel has layers of that size, and the device room on the chip for their blocks."""
    chunk = _SETTINGS["CHUNK"]
    fits = 16 <= size <= 128 and is_power(size) and inner % chunk == 0 and 3 * size % chunk == 0
    return fits and room_on_chip(device) >= ROOM


def _rounded(weights: Tensor, dtype: torch.dtype, fixed: bool) -> Tensor:
    """Weights in that type; kept if they are `fixed`, as long as no operation of torch changes them all the same.

    Not every operation counts a tensor's versions, so that those in training are rounded each time. Each of a GPU's
    queues has copies of its own, since another might read them before they are written.
    """
    if not fixed or weights.is_inference():
        return weights.detach().to(dtype).contiguous()
    queue = queue_of(weights.device)
    kept: dict[int, tuple[Any, Tensor]] = _ROUNDED.setdefault(weights, {})  # type: ignore[no-untyped-call, unused-ignore]
    now = (weights._version, weights.data_ptr(), dtype)
    known = kept.get(queue)
    if known is None or known[0] != now:
        known = kept[queue] = (now, weights.detach().to(dtype).contiguous())
    return known[1]


@triton.jit
def normalised(value, scale, shift, column, epsilon, SIZE: tl.constexpr):  # type: ignore[no-untyped-def]
    """Rows normalised, scaled and shifted."""
    off = value - (tl.sum(value, 1) / SIZE)[:, None]
    inverse = 1.0 / tl.sqrt(tl.sum(off * off, 1) / SIZE + epsilon)
    return off * inverse[:, None] * tl.load(scale + column)[None, :] + tl.load(shift + column)[None, :]


@triton.jit
def _rest_kernel(  # type: ignore[no-untyped-def]
    mixed, stream, join, widen, narrow, project, scale, shift, next_scale, next_shift, after, result, tokens, epsilon,
    next_epsilon,
    SIZE: tl.constexpr, INNER: tl.constexpr, WANTED: tl.constexpr, ASKED: tl.constexpr,
    ROWS: tl.constexpr, CHUNK: tl.constexpr,
):  # fmt: skip
    if ASKED:
        tokens = tl.load(tokens)
        if tl.program_id(0).to(tl.int64) * ROWS >= tokens:
            return
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column, some = tl.arange(0, SIZE), tl.arange(0, CHUNK)
    there = row[:, None] < tokens
    place = row[:, None] * SIZE + column[None, :]
    heads_read = tl.load(mixed + place, mask=there, other=0.0)
    total = tl.load(stream + place, mask=there, other=0.0)
    whole = tl.load(join + column[:, None] * SIZE + column[None, :])
    total = tl.dot(heads_read, tl.trans(whole), total)
    normed = normalised(total, scale, shift, column, epsilon, SIZE).to(heads_read.dtype)
    for first in range(0, INNER, CHUNK):
        out = tl.load(widen + (first + some[:, None]) * SIZE + column[None, :])
        inner = tl.maximum(tl.dot(normed, tl.trans(out)), 0.0).to(heads_read.dtype)
        back = tl.load(narrow + column[:, None] * INNER + first + some[None, :])
        total = tl.dot(inner, tl.trans(back), total)
    final = normalised(total, next_scale, next_shift, column, next_epsilon, SIZE)
    if WANTED == 0:
        tl.store(result + place, final, mask=there)
    else:
        tl.store(after + place, total, mask=there)
        normed = final.to(heads_read.dtype)
        for first in range(0, WANTED, CHUNK):
            asked = tl.load(project + (first + some[:, None]) * SIZE + column[None, :])
            part = tl.dot(normed, tl.trans(asked)).to(heads_read.dtype)
            tl.store(result + row[:, None] * WANTED + first + some[None, :], part, mask=there)
