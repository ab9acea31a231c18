"""What a network sees of a partial path: one token a node that still matters, in numbers without units.

Costs are divided by what is left of the limit and prizes by the mean prize at hand, so that the answer depends neither
on the unit of costs nor on that of prizes. Only the current node, the end and the nodes that can still be reached are
tokens.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol, cast

import torch
from torch import Tensor
from torch.nn import functional

from orienteer.beam.backend.cuda.problems import CostTable, TensorProblems
from orienteer.beam.states import States
from orienteer.network.columns import (
    BASE_FEATURES,
    CLOSEST,
    EDGE_FUNCTIONS,
    FAR,
    FASTER,
    GLOBAL_FEATURES,
    LEAST_LEFT,
    LIMIT_RATE,
    NODE_FEATURES,
    STEP_RATE,
)


@dataclass(frozen=True)
class Tokens:
    """Sub-problems as padded sets of tokens."""

    node: Tensor  # (state, token) int64, 0 for padding
    present: Tensor  # (state, token) bool, false for padding
    choice: Tensor  # (state, token) bool, where the path may go next
    open: Tensor  # (state, token) bool, what the path may still visit, now or later
    nodes: Tensor  # (state, token, NODE_FEATURES)
    edges: Tensor  # (state, token, token) cost from row to column in units of the remaining limit
    overall: Tensor  # (state, GLOBAL_FEATURES)
    base: Tensor  # (state, BASE_FEATURES)
    hops: Tensor  # (state,) the remaining limit in units of the typical step
    unit: Tensor  # (state,) the mean prize at hand: values are multiples of it
    symmetric: Tensor  # (state,) bool, whether edges are known to cost the same in both directions
    total: int  # the number of tokens, padding left out
    kit: "Kit"  # what gathered the tokens, and lays them out for a network


class Kit(Protocol):
    """How tokens are gathered and laid out for a network: by plain tensors, or by kernels of a GPU."""

    multiple: int
    """Widths of tokens are multiples of this number."""

    def gather(self, index: Tensor, states: States, reach: Tensor, keep: Tensor, width: int, total: int) -> Tokens:
        """The sub-problems of the states at `index`; `reach` and `keep` are those of all states."""
        ...

    def layout(self, tokens: Tokens, dtype: torch.dtype, heads: int, size: int) -> Any:
        """The layout of these tokens for attention with `heads` heads of `size` entries."""
        ...

    def packs(self, tokens: Tokens, heads: int, size: int) -> bool:
        """Whether attention between these tokens goes by kernels."""
        ...


def take(states: States, index: Tensor) -> States:
    """The states at the places `index`."""
    return States(
        states.problems,
        states.instance[index],
        states.last[index],
        states.visited[index],
        states.cost[index],
        states.prize[index],
        states.score[index],
        None if states.memory is None else states.memory[index],
    )


def problems_of(states: States) -> TensorProblems:
    """The problems of states that are tensors."""
    return cast(TensorProblems, states.problems)


def reachable(states: States, ways: Tensor | None) -> Tensor:
    """(state, node) bool: unvisited nodes that some way from the last node to the end could still pass.

    `ways` are the problems' `cheapest_ways`; without them, costs are taken to obey the triangle inequality.
    """
    return states.feasible(None if ways is None else states.cost[:, None] + ways[states.instance, states.last])


def relevant(states: States, reach: Tensor) -> Tensor:
    """(state, node) bool: the nodes that become tokens."""
    keep = reach.clone()
    keep.scatter_(1, states.last[:, None], True)
    return keep.scatter_(1, states.problems.end[states.instance][:, None], True)


def make_tokens(states: States, reach: Tensor, keep: Tensor, width: int, total: int, kit: Kit) -> Tokens:
    """The sub-problems of `states` as `width` tokens each, `total` of them real.

    `reach` and `keep` come from `reachable` and `relevant`; no row of `keep` may hold more than `width` nodes.
    """
    problems, row = states.problems, states.instance[:, None]
    node, present = _compact(keep, width)
    left = _remaining(states)
    edges, hops = _edges(states, node, present, left)

    legs = states.leg
    choice = states.feasible(states.cost[:, None] + legs).gather(1, node) & present
    open_ = reach.gather(1, node) & present
    count = open_.sum(1).to(torch.float32)
    prizes = (problems.prizes[row, node] * open_).to(torch.float32)
    worth = prizes.sum(1)
    unit = torch.where(worth > 0, worth / count.clamp_min(1), 1.0)
    leg = _cost_features(legs.gather(1, node), left)
    home = _cost_features(problems.to_end[row, node], left)
    current = node == states.last[:, None]
    end = node == problems.end[states.instance][:, None]
    nodes = _in_columns(
        NODE_FEATURES,
        {
            "prize": prizes / unit[:, None],
            "current": current.to(torch.float32),
            "end": end.to(torch.float32),
            "choice": choice.to(torch.float32),
            "leg": torch.where(current, 0.0, leg),
            "home": torch.where(end, 0.0, home),
            "detour": torch.where(open_, leg + home, 0.0),
        },
    )
    way_home = _cost_features(problems.to_end[states.instance, states.last][:, None], left)[:, 0]
    steps = torch.minimum(hops, count)
    return Tokens(
        node=node,
        present=present,
        choice=choice,
        open=open_,
        nodes=nodes * present[:, :, None],
        edges=edges,
        overall=_in_columns(GLOBAL_FEATURES, {"hops": hops.log1p(), "count": count.log1p(), "way home": way_home}),
        base=_in_columns(BASE_FEATURES, {"count": count, "steps": steps, "mean": (count * steps).sqrt()}),
        hops=hops,
        unit=unit,
        symmetric=problems.symmetric[states.instance],
        total=total,
        kit=kit,
    )


def join_tokens(parts: Sequence[Tokens], width: int) -> Tokens:
    """Sub-problems of several widths as one set, padded to `width`, which no part exceeds."""

    def joined(name: str, sides: int) -> Tensor:
        """A field of all parts; of its dimensions after the first, `sides` are padded to `width`."""
        tensors = []
        for one in parts:
            tensor = getattr(one, name)
            more = width - one.node.shape[1]
            padding = (0, 0) * (tensor.dim() - 1 - sides) + (0, more) * sides
            tensors.append(functional.pad(tensor, padding) if more else tensor)
        return torch.cat(tensors)

    sides = {"node": 1, "present": 1, "choice": 1, "open": 1, "nodes": 1, "edges": 2}
    names = [field.name for field in fields(Tokens) if field.name not in ("total", "kit")]
    return Tokens(
        **{name: joined(name, sides.get(name, 0)) for name in names},
        total=sum(one.total for one in parts),
        kit=parts[0].kit,
    )


def edge_attributes(tokens: Tokens, dtype: torch.dtype) -> Tensor:
    """(state, 3, token, token) the cost there, the cost back, and 1 towards padding."""
    states, width = tokens.node.shape
    out = torch.empty(states, 3, width, width, dtype=dtype, device=tokens.edges.device)
    out[:, 0] = tokens.edges
    out[:, 1] = tokens.edges.transpose(1, 2)
    out[:, 2] = ~tokens.present[:, None, :]
    return out


def edge_functions(tokens: Tokens, dtype: torch.dtype, one_way: bool = False) -> Tensor:
    """(state, EDGE_WEIGHTS + 1, token, token) functions of the cost in both directions, and 1 towards padding.

    With `one_way`, only the functions of the cost there, half as many.
    """
    states, width = tokens.node.shape
    limit, step = torch.full_like(tokens.hops, LIMIT_RATE), tokens.hops * STEP_RATE
    rates = -torch.stack((limit, FASTER * limit, FASTER * step, step), dim=1).to(dtype)  # (state, rate)
    count = EDGE_FUNCTIONS if one_way else 2 * EDGE_FUNCTIONS
    out = torch.empty(states, count + 1, width, width, dtype=dtype, device=tokens.edges.device)
    out[:, 0] = tokens.edges
    torch.mul(out[:, :1], rates[:, :, None, None], out=out[:, 1:EDGE_FUNCTIONS]).exp_()
    if not one_way:
        out[:, EDGE_FUNCTIONS:count] = out[:, :EDGE_FUNCTIONS].transpose(2, 3)
    out[:, count] = ~tokens.present[:, None, :]
    return out


def to_nodes(tokens: Tokens, values: Tensor, size: int, blank: float) -> Tensor:
    """(state, node) the tokens' (state, token) values by node number; `blank` where a node may not be chosen."""
    table = torch.full((len(values), size + 1), blank, dtype=values.dtype, device=values.device)
    place = torch.where(tokens.choice, tokens.node, size)
    return table.scatter_(1, place, torch.where(tokens.choice, values, blank))[:, :size]


def _in_columns(names: Sequence[str], told: Mapping[str, Tensor]) -> Tensor:
    """(..., column) the named tensors side by side, in the order of `names`."""
    return torch.stack([told[name] for name in names], dim=-1)


def _compact(keep: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """(row, width) the node numbers kept in each row, in order, and bool: which of the `width` places they fill."""
    size = keep.shape[1]
    place = torch.where(keep, keep.cumsum(1) - 1, width)
    number = torch.arange(size, device=keep.device).expand_as(keep)
    node = torch.zeros(len(keep), width + 1, dtype=torch.int64, device=keep.device)
    node = node.scatter_(1, place, number)[:, :width]
    present = torch.arange(width, device=keep.device) < keep.sum(1, keepdim=True)
    return torch.where(present, node, 0), present


def _remaining(states: States) -> Tensor:
    """(state,) what is left of the limit, kept above zero so that it can divide."""
    limit = states.problems.divisor[states.instance]
    return torch.maximum(limit - states.cost, limit * LEAST_LEFT)


def _cost_features(cost: Tensor, left: Tensor) -> Tensor:
    return (cost / left[:, None]).clamp_max(FAR).to(torch.float32)


def _edges(states: States, node: Tensor, present: Tensor, left: Tensor) -> tuple[Tensor, Tensor]:
    """(state, token, token) costs in units of what is left, and (state,) the inverse of the mean to the nearest token.

    To and from padding, and from a token to itself, costs are 0.
    """
    table, count = problems_of(states).table(states.instance), present.sum(1)
    factor = (table.unit / left).to(torch.float32)
    edges = _gathered(table, node).mul_(factor[:, None, None]).clamp_max_(FAR)
    itself = torch.eye(node.shape[1], dtype=torch.bool, device=node.device)
    other = present[:, :, None] & present[:, None, :] & ~itself
    edges.masked_fill_(~other, 0.0)
    nearest = torch.where(other, edges, FAR).amin(2).clamp_max(1.0) * present
    return edges, 1 / (nearest.sum(1) / count).clamp_min(CLOSEST)


def _gathered(table: CostTable, node: Tensor) -> Tensor:
    """(state, token, token) costs between the nodes of each state, of (state, token) `node`."""
    size = table.costs.shape[1]
    leave, arrive = node[:, :, None] * size, node[:, None, :]
    if table.back is not None:
        turned = table.back[:, None, None]
        leave, arrive = torch.where(turned, node[:, :, None], leave), torch.where(turned, arrive * size, arrive)
    cell = table.matrix[:, None, None] * size**2 + leave + arrive
    return table.costs.view(-1).index_select(0, cell.view(-1)).view(cell.shape)
