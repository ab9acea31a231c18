"""What a path leaves behind: among paths of equal prize, better the one whose remaining nodes lie close together."""

import torch
from torch import Tensor

from orienteer.beam.states import States


def outlook(states: States, fits: Tensor) -> Tensor:
    """(state, node) cost, roughly, that a child saves later on because the nodes left to it are close to each other.

    Of the nodes that fit now, each child leaves all but one. Closeness is exp(-cost / typical cost to the nearest).
    """
    near, typical = states.problems.closeness
    left = fits.to(torch.float64)
    beside = _rows_times(left, near, states.instance)  # (state, node) closeness to all that is left
    together = (beside * left).sum(1, keepdim=True) - 2 * beside
    return typical.index_select(0, states.instance)[:, None] * together


def _rows_times(rows: Tensor, matrices: Tensor, index: Tensor) -> Tensor:
    """(row, node) each row times the matrix at its index, without a copy of the matrix for each row."""
    order = index.argsort(stable=True)
    count = torch.bincount(index, minlength=len(matrices))
    begin = torch.cumsum(count, 0) - count
    place = torch.empty_like(order)
    place[order] = torch.arange(len(order), device=order.device) - begin.index_select(0, index.index_select(0, order))
    padded = rows.new_zeros(len(matrices), int(count.max()), rows.shape[1])
    padded[index, place] = rows
    return (padded @ matrices)[index, place]
