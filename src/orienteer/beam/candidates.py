"""Paths that wait for their turn, and which of them stay: the one selection that both searches make."""

from dataclasses import dataclass

import torch
from torch import Tensor

from orienteer.beam.device import has_kernels

WIDEST = 2**31 - 1
"""The widest beam: sizes in bytes stay far below 63 bits."""

MOST_GROUPS = 2**20
MOST_SPOTS = 2**27
"""Bounds on groups and on groups * nodes: what is left of 63 bits holds a score. They are fixed, so that a path's rank
does not depend on the batch it is in."""

_GOLDEN = -7046029254386353131  # 2**64 / golden ratio, odd: spreads group numbers over all bits
_LAST = 2**63 - 1


@dataclass(frozen=True)
class Candidates:
    """Unexpanded paths, four numbers each, side by side so that one gather or scatter moves a path."""

    packed: Tensor  # (..., 4) int64: score and cost as the bits of float64, stamp, link

    @classmethod
    def pack(cls, score: Tensor, cost: Tensor, stamp: Tensor, link: Tensor) -> "Candidates":
        """Candidates from four (...) tensors."""
        return cls(torch.stack((score.view(torch.int64), cost.view(torch.int64), stamp, link), -1))

    @property
    def score(self) -> Tensor:
        """(...) float64, what they are ranked by; minus infinity in an empty slot."""
        return self.packed[..., 0].view(torch.float64)

    @property
    def cost(self) -> Tensor:
        """(...) float64."""
        return self.packed[..., 1].view(torch.float64)

    @property
    def stamp(self) -> Tensor:
        """(...) int64, equal for paths of an instance with the same nodes and the same last one."""
        return self.packed[..., 2]

    @property
    def link(self) -> Tensor:
        """(...) int64, where the path comes from: number of its parent in the log * nodes + its last node."""
        return self.packed[..., 3]

    def __len__(self) -> int:
        return len(self.packed)

    def __getitem__(self, index: Tensor) -> "Candidates":
        return Candidates(self.packed.index_select(0, index))


@dataclass(frozen=True)
class Crowd:
    """What it costs to end where better paths of the group already end."""

    node: Tensor  # (candidate,) int64, last node
    price: Tensor  # (candidate,) float64, taken off the score for each better path of the group with that last node
    nodes: int


@dataclass(frozen=True)
class Kept:
    """Who stays, ordered by group and then from best to worst."""

    index: Tensor  # (kept,) int64, rows of the candidates
    group: Tensor  # (kept,) int64
    place: Tensor  # (kept,) int64, 0 for the best of its group
    score: Tensor  # (kept,) float64, less the price of crowding


def keep_best(candidates: Candidates, group: Tensor, width: int | None, crowd: Crowd | None = None) -> Kept:
    """The `width` best of each group (all, if it is None) after duplicates are dropped.

    Duplicates have the same stamp and the same group: the cheapest stays. Higher scores are better, compared to nine
    digits; among equals the cheaper path.
    """
    by_cost = candidates.packed[:, 1].argsort(stable=True)  # costs are not negative: their bits sort as they do
    group, score = group.index_select(0, by_cost), candidates.score.index_select(0, by_cost)
    stamp, by_stamp = (candidates.stamp.index_select(0, by_cost) + group * _GOLDEN).sort(stable=True)
    again = torch.zeros_like(stamp, dtype=torch.bool)
    torch.eq(stamp[1:], stamp[:-1], out=again[1:])
    twin = torch.empty_like(again).scatter_(0, by_stamp, again)  # by a mask: a GPU need not be asked how many
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
    rank, order = _rank(score, group, dropped, score_bits).sort(stable=True)
    group = rank >> score_bits
    return order, group, torch.arange(len(group), device=group.device) - _first_of(group)


def bits_for_score(most: int) -> int:
    """How many bits of a score count beside a group's number of at most that."""
    return 63 - most.bit_length()


def _first_of(group: Tensor) -> Tensor:
    """(row,) int64: the row where the group of each begins, given sorted groups."""
    if group.is_cuda:  # more work, but nobody is asked how many groups there are
        return torch.searchsorted(group, group)
    begins = torch.ones_like(group, dtype=torch.bool)
    begins[1:] = group[1:] != group[:-1]
    return begins.nonzero().squeeze(1).index_select(0, begins.cumsum(0) - 1)


def _rank(score: Tensor, group: Tensor, dropped: Tensor, score_bits: int) -> Tensor:
    """(path,) int64: numbers that sort by group, and in it by falling score, of which so many bits count."""
    if has_kernels(score.device):
        from orienteer.beam.fused_search import fused_rank

        return fused_rank(score, group, dropped, score_bits)
    bits = score.view(torch.int64)
    rising = bits ^ ((bits >> 63) & _LAST)  # the order of floats as the order of integers
    rank = (group << score_bits) + ((~rising >> (64 - score_bits)) + (1 << (score_bits - 1)))
    return rank.masked_fill_(dropped, _LAST)
