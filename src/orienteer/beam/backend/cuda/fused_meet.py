"""The best pair of paths of each instance as one GPU kernel.

A program compares a block of paths from the start with all blocks of paths from the end. Paths lie sorted by cost: most
blocks are too dear for one another, or bring too little, as a whole.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from orienteer.beam.backend.protocol import Ends

FRONT, BACK = 32, 32
"""Paths of a block, from the start and from the end."""


def fused_meet(ends: Ends) -> Tensor:
    """(2, instance) the numbers in the log of the two paths with the most prize above `ends.least`, or -1."""
    paths, device = ends.paths, ends.costs.device
    begin, stop = paths.first[ends.front], paths.first[ends.front + 1]
    blocks = -(-(stop - begin) // FRONT)
    last = blocks.cumsum(0)
    programs = int(last[-1]) if len(last) else 0
    if not programs:
        return torch.full((2, len(begin)), -1, device=device)
    owner = torch.repeat_interleave(torch.arange(len(begin), device=device), blocks, output_size=programs)
    at = begin[owner] + FRONT * (torch.arange(programs, device=device) - (last - blocks)[owner])
    prize = torch.empty(programs, dtype=torch.float64, device=device)
    pair = torch.empty(2, programs, dtype=torch.int64, device=device)
    _meet_kernel[(programs,)](
        owner, at, ends.front, ends.back, ends.budget, ends.least, paths.first, paths.last, paths.cost, paths.prize,
        paths.stops, ends.costs, prize, pair, programs, ends.costs.shape[1], paths.stops.shape[1],
        FRONT=FRONT, BACK=BACK, num_warps=4,
    )  # fmt: skip
    # The best program of each instance, the first of equals.
    order = prize.argsort(descending=True, stable=True)
    order = order[owner[order].argsort(stable=True)]
    best = pair[:, order[last - blocks]]
    return torch.where(best < 0, -1, paths.number[best])


@triton.jit(do_not_specialize=["programs"])  # or Triton compiles it anew for 1 and for multiples of 16
def _meet_kernel(  # type: ignore[no-untyped-def]
    owner, at, front, back, budget, least, first, last, cost, prize, stops, costs, found, pair, programs, nodes,
    words, FRONT: tl.constexpr, BACK: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(0)
    instance, begin = tl.load(owner + program), tl.load(at + program)
    ahead, behind = tl.load(front + instance), tl.load(back + instance)
    most, best = tl.load(budget + instance), tl.load(least + instance)
    one = begin + tl.arange(0, FRONT)
    there = one < tl.load(first + ahead + 1)
    one_cost = tl.load(cost + one, mask=there, other=float("inf"))
    one_prize = tl.load(prize + one, mask=there, other=float("-inf"))
    legs = costs + (ahead * nodes + tl.load(last + one, mask=there, other=0)) * nodes
    cheapest = tl.load(cost + begin)
    start, stop = tl.load(first + behind), tl.load(first + behind + 1)
    if ahead == behind:
        stop = tl.minimum(stop, begin + FRONT)  # each pair once
    chosen_one, chosen_other = begin * 0 - 1, begin * 0 - 1
    while start < stop:
        other = start + tl.arange(0, BACK)
        here = other < stop
        other_cost = tl.load(cost + other, mask=here, other=float("inf"))
        other_prize = tl.load(prize + other, mask=here, other=float("-inf"))
        gain = one_prize[:, None] + other_prize[None, :]
        hope = (gain > best) & (one_cost[:, None] + other_cost[None, :] <= most)
        if tl.max(tl.max(hope.to(tl.int32), 1), 0) > 0:
            leg_to = tl.load(last + other, mask=here, other=0)
            leg = tl.load(legs[:, None] + leg_to[None, :], mask=hope, other=float("inf"))
            hope = hope & (one_cost[:, None] + leg + other_cost[None, :] <= most)
            for word in range(words):
                ones = tl.load(stops + one * words + word, mask=there, other=-1)
                others = tl.load(stops + other * words + word, mask=here, other=-1)
                hope = hope & ((ones[:, None] & others[None, :]) == 0)
            gain = tl.where(hope, gain, float("-inf"))
            top = tl.max(tl.max(gain, 1), 0)
            if top > best:
                best = top
                cell = (tl.arange(0, FRONT) * BACK)[:, None] + tl.arange(0, BACK)[None, :]
                cell = tl.min(tl.min(tl.where(gain == top, cell, FRONT * BACK), 1), 0)
                chosen_one = begin + cell // BACK
                chosen_other = start + cell % BACK
        start += BACK
        # The next paths from the end are dearer: the loop ends where they fit not even the cheapest of this block.
        dearer = tl.load(cost + start, mask=start < stop, other=float("inf"))
        stop = tl.where(cheapest + dearer > most, start, stop)
    tl.store(found + program, tl.where(chosen_one < 0, float("-inf"), best))
    tl.store(pair + program, chosen_one)
    tl.store(pair + programs + program, chosen_other)
