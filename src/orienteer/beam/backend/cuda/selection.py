"""Which waiting paths stay: the selection that both searches make."""

from dataclasses import dataclass

import torch
from torch import Tensor

from orienteer.beam.backend.cuda.fused_search import fused_rank
from orienteer.beam.candidates import COST, MOST_GROUPS, MOST_SPOTS, Candidates, bits_for_score

_GOLDEN = -7046029254386353131  # 2**64 / golden ratio, odd: spreads group numbers over all bits


@dataclass(frozen=True)
class Crowd:
    """The price of ending at a node where better paths of the group end."""

    node: Tensor  # (candidate,) int64, last node
    price: Tensor  # (candidate,) float64, taken off the score for each better path of the group with that last node
    nodes: int


@dataclass(frozen=True)
class Kept:
    """The candidates that stay, ordered by group and then from best to worst."""

    index: Tensor  # (kept,) int64, rows of the candidates
    group: Tensor  # (kept,) int64
    place: Tensor  # (kept,) int64, 0 for the best of its group
    score: Tensor  # (kept,) float64, less the price of crowding


def select(candidates: Candidates, index: Tensor) -> Candidates:
    """The candidates at the places `index`; `index_select` gathers whole rows, which is faster than indexing."""
    return Candidates(candidates.packed.index_select(0, index), torch)


def keep_best(candidates: Candidates, group: Tensor, width: int | None, crowd: Crowd | None = None) -> Kept:
    """The `width` best candidates of each group (None: all) after duplicates are dropped.

    Duplicates have the same stamp and the same group: the cheapest stays. Higher scores are better, compared to nine
    digits; among equals the cheaper path.
    """
    by_cost = candidates.packed[:, COST].argsort(stable=True)  # bits of costs sort as the costs do: none is negative
    group, score = group.index_select(0, by_cost), candidates.score.index_select(0, by_cost)
    stamp, by_stamp = (candidates.stamp.index_select(0, by_cost) + group * _GOLDEN).sort(stable=True)
    again = torch.zeros_like(stamp, dtype=torch.bool)
    torch.eq(stamp[1:], stamp[:-1], out=again[1:])
    twin = torch.empty_like(again).scatter_(0, by_stamp, again)  # a mask: the host need not ask the GPU for a count
    if crowd is not None:
        spot = group * crowd.nodes + crowd.node.index_select(0, by_cost)
        order, _, place = _ranked(score, spot, MOST_SPOTS, twin)
        ahead = torch.empty_like(place).scatter_(0, order, place)
        score = score - ahead * crowd.price.index_select(0, by_cost)
    order, group, place = _ranked(score, group, MOST_GROUPS, twin)
    stays = group < MOST_GROUPS
    if width is not None:
        stays &= place < width
    kept = stays.nonzero().squeeze(1)
    chosen = order.index_select(0, kept)
    return Kept(
        by_cost.index_select(0, chosen),
        group.index_select(0, kept),
        place.index_select(0, kept),
        score.index_select(0, chosen),
    )


def _ranked(score: Tensor, group: Tensor, most: int, dropped: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Rows ordered by group and falling score, their groups, and their places in the group.

    Equal scores keep their order; the `dropped` rows come last, as a group of number `most` or above.
    """
    score_bits = bits_for_score(most)
    rank, order = fused_rank(score, group, dropped, score_bits).sort(stable=True)
    group = rank >> score_bits
    # A binary search for each row: the host need not ask the GPU how many groups there are.
    return order, group, torch.arange(len(group), device=group.device) - torch.searchsorted(group, group)
