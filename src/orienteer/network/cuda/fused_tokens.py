"""What networks read of many states, put together by a few GPU kernels instead of some seventy by torch."""

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor

from orienteer.beam.backend.cuda.launch import warps_for
from orienteer.network import columns

_NODE_FEATURES, _GLOBAL_FEATURES, _BASE_FEATURES = (
    tl.constexpr(len(names)) for names in (columns.NODE_FEATURES, columns.GLOBAL_FEATURES, columns.BASE_FEATURES)
)
_PRIZE, _CURRENT, _END, _CHOICE = map(tl.constexpr, (columns.PRIZE, columns.CURRENT, columns.END, columns.CHOICE))
_LEG, _HOME, _DETOUR = map(tl.constexpr, (columns.LEG, columns.HOME, columns.DETOUR))
_HOPS, _COUNT, _WAY_HOME = map(tl.constexpr, (columns.GLOBAL_HOPS, columns.GLOBAL_COUNT, columns.GLOBAL_WAY_HOME))
_BASE_COUNT, _BASE_STEPS, _BASE_MEAN = map(tl.constexpr, (columns.BASE_COUNT, columns.BASE_STEPS, columns.BASE_MEAN))
_LEAST_LEFT = tl.constexpr(columns.LEAST_LEFT)


@dataclass(frozen=True)
class Gathered:
    """What states know about the nodes that become tokens; see `Tokens` for the fields of the same names."""

    node: Tensor
    present: Tensor
    choice: Tensor
    open: Tensor
    nodes: Tensor
    unit: Tensor
    count: Tensor  # (state,) int32, how many tokens there are
    opened: Tensor  # (state,) float32, how many of them are open
    factor: Tensor  # (state,) float32, what turns costs of the table into shares of the remaining limit
    way_home: Tensor  # (state,) float32, the cost to the end as a share of the remaining limit


@dataclass(frozen=True)
class Gathering:
    """Arrays of a batch of problems, and of the states that the network is to look at."""

    to_end: Tensor  # (problem, node)
    prizes: Tensor  # (problem, node)
    budget: Tensor  # (problem,)
    divisor: Tensor  # (problem,)
    end: Tensor  # (problem,) int64
    index: Tensor  # (token set,) int64, which of the states below
    visited: Tensor  # (state, node) bool
    reach: Tensor  # (state, node) bool
    keep: Tensor  # (state, node) bool
    cost: Tensor  # (state,)
    instance: Tensor  # (token set,) int64
    last: Tensor  # (token set,) int64
    legs: Tensor  # (token set, node)
    unit: Tensor  # (token set,) what costs of the table are multiples of


def fused_gather(asked: Gathering, width: int, far: float) -> Gathered:
    """The tokens' nodes and features, in rows of `width`; `far` is where shares of the limit are cut off."""
    states, nodes = asked.legs.shape
    device = asked.legs.device
    node = torch.empty(states, width, dtype=torch.int64, device=device)
    # Separate tensors, not slices of one: Triton compiles a kernel anew for memory that is aligned otherwise.
    present, choice, open_ = (torch.empty(states, width, dtype=torch.bool, device=device) for _ in range(3))
    features = torch.empty(states, width, len(columns.NODE_FEATURES), dtype=torch.float32, device=device)
    unit, opened, factor, way_home = (torch.empty(states, dtype=torch.float32, device=device) for _ in range(4))
    count = torch.empty(states, dtype=torch.int32, device=device)
    room = triton.next_power_of_2(max(nodes, width))
    if states:
        by_problem = (asked.to_end, asked.prizes, asked.budget, asked.divisor, asked.end)
        by_state = (asked.visited, asked.reach, asked.keep)
        _gather_kernel[(states,)](
            *(one.contiguous() for one in by_problem), asked.index.contiguous(),
            *(one.contiguous().view(torch.uint8) for one in by_state), asked.cost.contiguous(),
            asked.instance, asked.last, asked.legs.contiguous(), asked.unit.contiguous(),
            node, present.view(torch.uint8), choice.view(torch.uint8), open_.view(torch.uint8), features,
            unit, count, opened, factor, way_home, nodes, width, far, ROOM=room, num_warps=warps_for(room),
        )  # fmt: skip
    return Gathered(node, present, choice, open_, features, unit, count, opened, factor, way_home)


@triton.jit(do_not_specialize_on_alignment=["index", "cost"])  # slices of larger tensors, aligned anyhow
def _gather_kernel(  # type: ignore[no-untyped-def]
    to_end, prizes, budget, divisor, end, index, visited, reach, keep, cost, instance, last, legs, unit,
    node_out, present_out, choice_out, open_out, features, unit_out, count_out, opened_out, factor_out, way_home_out,
    nodes, width, far, ROOM: tl.constexpr,
):  # fmt: skip
    """The tokens of one state."""
    state = tl.program_id(0).to(tl.int64)
    at = tl.load(index + state)
    row, here = tl.load(instance + state), tl.load(last + state)
    node = tl.arange(0, ROOM)
    inside = node < nodes
    kept = tl.load(keep + at * nodes + node, mask=inside, other=0).to(tl.int32)
    there = tl.sum(kept, 0)
    place = tl.cumsum(kept, 0) - 1
    limit, spent = tl.load(divisor + row), tl.load(cost + at)
    left = tl.maximum(limit - spent, limit * _LEAST_LEFT)
    own = kept == 1
    leg = tl.load(legs + state * nodes + node, mask=own, other=0.0)
    home = tl.load(to_end + row * nodes + node, mask=own, other=0.0)
    fits = (spent + leg + home <= tl.load(budget + row)) & own
    choice = fits & (tl.load(visited + at * nodes + node, mask=inside, other=1) == 0)
    open_ = (tl.load(reach + at * nodes + node, mask=inside, other=0) != 0) & own
    opened = tl.sum(open_.to(tl.int32), 0).to(tl.float32)
    prize = tl.load(prizes + row * nodes + node, mask=open_, other=0.0).to(tl.float32)
    worth = tl.sum(prize, 0)
    mean = tl.where(worth > 0, worth / tl.maximum(opened, 1.0), 1.0)
    current, final = node == here, node == tl.load(end + row)
    leg_share = tl.minimum(leg / left, far).to(tl.float32)
    home_share = tl.minimum(home / left, far).to(tl.float32)

    cell = state * width + place
    _put(node_out, present_out, choice_out, open_out, features, cell, node, 1, choice, open_,
         prize / mean, current, final, leg_share, home_share, own)  # fmt: skip
    blank = (node >= there) & (node < width)
    nothing, zero = node < 0, tl.zeros((ROOM,), tl.float32)
    _put(node_out, present_out, choice_out, open_out, features, state * width + node, node * 0, 0, nothing, nothing,
         zero, nothing, nothing, zero, zero, blank)  # fmt: skip

    tl.store(unit_out + state, mean)
    tl.store(count_out + state, there)
    tl.store(opened_out + state, opened)
    tl.store(factor_out + state, (tl.load(unit + state) / left).to(tl.float32))
    straight = tl.load(to_end + row * nodes + here)
    tl.store(way_home_out + state, tl.minimum(straight / left, far).to(tl.float32))


@triton.jit
def _put(  # type: ignore[no-untyped-def]
    node_out, present_out, choice_out, open_out, features, cell, node, present, choice, open_,
    prize, current, final, leg, home, mask,
):  # fmt: skip
    """Tokens into their cells."""
    tl.store(node_out + cell, node.to(tl.int64), mask=mask)
    tl.store(present_out + cell, (node * 0 + present).to(tl.uint8), mask=mask)
    tl.store(choice_out + cell, choice.to(tl.uint8), mask=mask)
    tl.store(open_out + cell, open_.to(tl.uint8), mask=mask)
    first = features + cell * _NODE_FEATURES
    tl.store(first + _PRIZE, prize, mask=mask)
    tl.store(first + _CURRENT, current.to(tl.float32), mask=mask)
    tl.store(first + _END, final.to(tl.float32), mask=mask)
    tl.store(first + _CHOICE, choice.to(tl.float32), mask=mask)
    tl.store(first + _LEG, tl.where(current, 0.0, leg), mask=mask)
    tl.store(first + _HOME, tl.where(final, 0.0, home), mask=mask)
    tl.store(first + _DETOUR, tl.where(open_, leg + home, 0.0), mask=mask)


def fused_sizes(gathered: Gathered, nearest: Tensor, closest: float) -> tuple[Tensor, Tensor, Tensor]:
    """(state,) hops, and the features of whole states, (state, GLOBAL_FEATURES) and (state, BASE_FEATURES).

    `nearest` are (state, token) shares of the limit; their mean is a typical step, at least `closest`.
    """
    states, width = nearest.shape
    hops = torch.empty(states, dtype=torch.float32, device=nearest.device)
    overall, base = (
        torch.empty(states, len(names), dtype=torch.float32, device=nearest.device)
        for names in (columns.GLOBAL_FEATURES, columns.BASE_FEATURES)
    )
    room = triton.next_power_of_2(width)
    if states:
        _sizes_kernel[(states,)](
            nearest, gathered.count, gathered.opened, gathered.way_home, hops, overall, base, width, closest,
            ROOM=room, num_warps=1,
        )  # fmt: skip
    return hops, overall, base


@triton.jit
def _sizes_kernel(  # type: ignore[no-untyped-def]
    nearest, count, opened, way_home, hops_out, overall, base, width, closest, ROOM: tl.constexpr
):
    """The features of one state."""
    state = tl.program_id(0).to(tl.int64)
    token = tl.arange(0, ROOM)
    total = tl.sum(tl.load(nearest + state * width + token, mask=token < width, other=0.0), 0)
    hops = 1 / tl.maximum(total / tl.load(count + state).to(tl.float32), closest)
    many = tl.load(opened + state)
    steps = tl.minimum(hops, many)
    tl.store(hops_out + state, hops)
    told = overall + state * _GLOBAL_FEATURES
    tl.store(told + _HOPS, tl.log(1 + hops))
    tl.store(told + _COUNT, tl.log(1 + many))
    tl.store(told + _WAY_HOME, tl.load(way_home + state))
    sizes = base + state * _BASE_FEATURES
    tl.store(sizes + _BASE_COUNT, many)
    tl.store(sizes + _BASE_STEPS, steps)
    tl.store(sizes + _BASE_MEAN, tl.sqrt(many * steps))


def fused_places(count: Tensor, first: Tensor, width: int, size: int) -> Tensor:
    """(size,) int64: the (state, token) cell of each packed token; fillers get the cell after the last.

    State s has `count[s]` tokens, packed from `first[s]` on.
    """
    states = len(count)
    flat = torch.full((size,), states * width, dtype=torch.int64, device=count.device)
    if states:
        _places_kernel[(states,)](flat, count, first, width, ROOM=triton.next_power_of_2(width), num_warps=1)
    return flat


@triton.jit
def _places_kernel(flat, count, first, width, ROOM: tl.constexpr):  # type: ignore[no-untyped-def]
    """The tokens of one state."""
    state = tl.program_id(0).to(tl.int64)
    token = tl.arange(0, ROOM)
    tl.store(flat + tl.load(first + state) + token, state * width + token, mask=token < tl.load(count + state))
