"""The small steps of a search, one GPU kernel each: the host takes longer to launch a step than the GPU to do it.

The kernels do the arithmetic of the host's loops in the same order.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from orienteer.beam.backend.cuda.launch import warps_for
from orienteer.beam.states import States

BLOCK = 256
"""Paths that one program looks at, in kernels that read a few numbers of each path."""


def fused_legs(states: States) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """(state, node) costs on arrival at each node, and whether the end stays within reach.

    Then the best way to close each path with one more node, (state,) prize, cost and node: the most prize, of equals
    the least cost, of equals the first; prize -inf and cost inf where none closes.
    """
    problems = states.problems
    count, nodes = states.visited.shape
    arrival = torch.empty(count, nodes, dtype=torch.float64, device=problems.prizes.device)
    fits = torch.empty(count, nodes, dtype=torch.bool, device=problems.prizes.device)
    # Three tensors, not slices of one: Triton compiles a kernel anew for memory that is aligned otherwise.
    prize, cost = (torch.empty(count, dtype=torch.float64, device=problems.prizes.device) for _ in range(2))
    last = torch.empty(count, dtype=torch.int64, device=problems.prizes.device)
    room = triton.next_power_of_2(nodes)
    if count:
        _legs_kernel[(count,)](
            problems.costs, problems.to_end, problems.straight, problems.prizes, problems.budget,
            states.instance, states.last, states.cost.contiguous(), states.prize, states.visited.view(torch.uint8),
            arrival, fits.view(torch.uint8), prize, cost, last, nodes, ROOM=room, num_warps=warps_for(room),
        )  # fmt: skip
    return arrival, fits, prize, cost, last


@triton.jit(do_not_specialize_on_alignment=["spent"])  # the column of a single path is contiguous, and not aligned
def _legs_kernel(  # type: ignore[no-untyped-def]
    costs, to_end, straight, prizes, budget, instance, last, spent, won, visited,
    arrival_out, fits_out, prize_out, cost_out, last_out, nodes, ROOM: tl.constexpr,
):  # fmt: skip
    """A program looks at all nodes after one path."""
    state = tl.program_id(0).to(tl.int64)
    row = tl.load(instance + state)
    node = tl.arange(0, ROOM)
    inside = node < nodes
    never = float("inf")
    leg = tl.load(costs + (row * nodes + tl.load(last + state)) * nodes + node, mask=inside, other=never)
    arrival = tl.load(spent + state) + leg
    limit = tl.load(budget + row)
    rest = tl.load(to_end + row * nodes + node, mask=inside, other=never)
    fits = (arrival + rest <= limit) & (tl.load(visited + state * nodes + node, mask=inside, other=1) == 0)
    total = arrival + tl.load(straight + row * nodes + node, mask=inside, other=never)
    closes = fits & (total <= limit)
    prize = tl.load(won + state) + tl.load(prizes + row * nodes + node, mask=inside, other=0.0)
    best = tl.max(tl.where(closes, prize, -never), 0)
    equal = closes & (prize >= best)
    least = tl.min(tl.where(equal, total, never), 0)
    first = tl.min(tl.where(equal & (total <= least), node, ROOM), 0)
    tl.store(arrival_out + state * nodes + node, arrival, mask=inside)
    tl.store(fits_out + state * nodes + node, fits.to(tl.uint8), mask=inside)
    tl.store(prize_out + state, best)
    tl.store(cost_out + state, least)
    tl.store(last_out + state, first.to(tl.int64))


def fused_pack(
    cell: Tensor, score: Tensor, arrival: Tensor, node_set: Tensor, keys: Tensor, instance: Tensor, first: int
) -> tuple[Tensor, Tensor]:
    """The (child, 4) int64 numbers of `Candidates`, and (child,) int64 instances.

    `cell` are (child,) int64 places in the (state, node) scores and costs on arrival, `node_set` the (state,) int64
    names of the sets of nodes so far, `keys` what each node adds, and `first` the log's number of the first state.
    """
    count, nodes = len(cell), score.shape[1]
    packed = torch.empty(count, 4, dtype=torch.int64, device=cell.device)
    own = torch.empty(count, dtype=torch.int64, device=cell.device)
    if count:
        _pack_kernel[(triton.cdiv(count, BLOCK),)](
            cell, score.view(torch.int64), arrival.view(torch.int64), node_set, keys, instance, first,
            packed, own, count, nodes, BLOCK=BLOCK,
        )  # fmt: skip
    return packed, own


@triton.jit(do_not_specialize=["first", "count"])
def _pack_kernel(  # type: ignore[no-untyped-def]
    cell, score, arrival, node_set, keys, instance, first, packed, own, count, nodes, BLOCK: tl.constexpr
):
    """A program packs BLOCK children."""
    child = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    there = child < count
    at = tl.load(cell + child, mask=there, other=0)
    row = at // nodes
    stamp = tl.load(node_set + row, mask=there) + tl.load(keys + (at - row * nodes), mask=there)
    tl.store(packed + child * 4, tl.load(score + at, mask=there), mask=there)
    tl.store(packed + child * 4 + 1, tl.load(arrival + at, mask=there), mask=there)
    tl.store(packed + child * 4 + 2, stamp, mask=there)
    tl.store(packed + child * 4 + 3, at + first.to(tl.int64) * nodes, mask=there)
    tl.store(own + child, tl.load(instance + row, mask=there), mask=there)


def fused_known(packed: Tensor, instance: Tensor, holder: Tensor, stamp: Tensor, cost: Tensor, slots: int) -> Tensor:
    """(path,) bool: whether a remembered path with the same stamp costs no more (see `Seen`)."""
    count = len(packed)
    known = torch.empty(count, dtype=torch.bool, device=packed.device)
    if count:
        _known_kernel[(triton.cdiv(count, BLOCK),)](
            packed, instance, holder, stamp, cost.view(torch.int64), known.view(torch.uint8), count, slots, BLOCK=BLOCK
        )
    return known


@triton.jit(do_not_specialize=["count"])
def _known_kernel(packed, instance, holder, stamp, cost, known, count, slots, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    """Some paths."""
    path = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    there = path < count
    own = tl.load(packed + path * 4 + 2, mask=there, other=0)
    spent = tl.load(packed + path * 4 + 1, mask=there, other=0)
    slot = tl.load(instance + path, mask=there, other=0) * slots + (own & (slots - 1))
    row = tl.load(holder + slot, mask=there, other=-1)
    held = there & (row >= 0)
    same = tl.load(stamp + row, mask=held, other=0) == own
    cheaper = tl.load(cost + row, mask=held, other=0) <= spent  # the bits of costs sort as costs do: none is negative
    tl.store(known + path, (held & same & cheaper).to(tl.uint8), mask=there)


def fused_rank(score: Tensor, group: Tensor, dropped: Tensor, score_bits: int) -> Tensor:
    """(path,) int64: numbers that sort by group, then by falling score, of which the first `score_bits` bits count.

    Where a path is dropped, the largest number of all.
    """
    count = len(score)
    rank = torch.empty_like(group)
    if count:
        _rank_kernel[(triton.cdiv(count, BLOCK),)](
            score.view(torch.int64), group, dropped.view(torch.uint8), rank, count, BITS=score_bits, BLOCK=BLOCK
        )
    return rank


@triton.jit(do_not_specialize=["count"])
def _rank_kernel(score, group, dropped, rank, count, BITS: tl.constexpr, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    """Some paths."""
    path = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    there = path < count
    bits = tl.load(score + path, mask=there, other=0)
    rising = bits ^ ((bits >> 63) & 0x7FFFFFFFFFFFFFFF)
    low = (~rising >> (64 - BITS)) + (1 << (BITS - 1))
    number = (tl.load(group + path, mask=there, other=0) << BITS) + low
    out = tl.load(dropped + path, mask=there, other=0) != 0
    tl.store(rank + path, tl.where(out, 0x7FFFFFFFFFFFFFFF, number), mask=there)
