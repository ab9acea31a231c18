"""Costs between the tokens of many states as one GPU kernel: read where they lie, scaled and rounded at once."""

import torch
import triton
import triton.language as tl
from torch import Tensor

_SETTINGS = {"ROWS": 16, "COLUMNS": 64, "num_warps": 4, "num_stages": 1}


def fused_edges(
    costs: Tensor, matrix: Tensor, back: Tensor | None, factor: Tensor, node: Tensor, count: Tensor, far: float
) -> tuple[Tensor, Tensor]:
    """(state, token, token) float16 costs, and (state, token) float32 to the nearest other token, at most 1.

    Costs are (matrix, node, node) float32; state s reads those of number `matrix[s]`, with rows and columns exchanged
    where `back[s]`, times `factor[s]`, cut off at `far`. `node` are (state, token) int64, of which the first `count[s]`
    are there; between others costs are 0, as on the diagonal. The nearest is 0 where there is no token.
    """
    states, width = node.shape
    edges = torch.empty(states, width, width, dtype=torch.float16, device=costs.device)
    nearest = torch.empty(states, width, dtype=torch.float32, device=costs.device)
    turned = torch.zeros(states, dtype=torch.int32, device=costs.device) if back is None else back.to(torch.int32)
    _edges_kernel[(states, triton.cdiv(width, _SETTINGS["ROWS"]))](
        costs.contiguous(), matrix, turned, factor.to(torch.float32), node.contiguous(), count.to(torch.int32),
        edges, nearest, costs.shape[1], width, far, **_SETTINGS,
    )  # fmt: skip
    return edges, nearest


@triton.jit
def _edges_kernel(  # type: ignore[no-untyped-def]
    costs, matrix, back, factor, node, count, edges, nearest, nodes, width, far,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """ROWS rows of one state."""
    state = tl.program_id(0).to(tl.int64)
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    there, scale, turned = tl.load(count + state), tl.load(factor + state), tl.load(back + state)
    own = costs + tl.load(matrix + state) * nodes * nodes
    leave = tl.load(node + state * width + row, mask=row < there, other=0)
    down, across = tl.where(turned == 1, 1, nodes), tl.where(turned == 1, nodes, 1)
    close = tl.full((ROWS,), 1.0, tl.float32)
    for left in range(0, width, COLUMNS):
        column = left + tl.arange(0, COLUMNS)
        arrive = tl.load(node + state * width + column, mask=column < there, other=0)
        both = (row[:, None] < there) & (column[None, :] < there) & (row[:, None] != column[None, :])
        cost = tl.load(own + leave[:, None] * down + arrive[None, :] * across, mask=both, other=0.0)
        cost = tl.minimum(cost * scale, far)
        close = tl.minimum(close, tl.min(tl.where(both, cost, far), 1))
        inside = (row[:, None] < width) & (column[None, :] < width)
        place = edges + (state * width + row[:, None]) * width + column[None, :]
        tl.store(place, cost.to(tl.float16), mask=inside)
    tl.store(nearest + state * width + row, tl.where(row < there, close, 0.0), mask=row < width)
