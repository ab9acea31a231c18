"""Networks applied to many partial paths of mixed sizes, in parts of similar size."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

from orienteer.beam.device import MOST_LANES, has_kernels
from orienteer.beam.problems import Problems
from orienteer.beam.states import States
from orienteer.network.estimate import Estimate
from orienteer.network.features import Tokens, gathered_tokens, reachable, relevant, to_nodes, tokens

Network = Callable[[Tokens], Estimate]


def precision(device: torch.device) -> AbstractContextManager[object]:
    """The arithmetic of a forward pass: bfloat16 on a GPU, float32 elsewhere."""
    return torch.autocast("cuda", dtype=torch.bfloat16) if device.type == "cuda" else nullcontext()


def take(states: States, index: Tensor) -> States:
    """The states at some places."""
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


def join(parts: Sequence[States]) -> States:
    """States of the same problems, one after the other, without their memory."""
    return States(
        parts[0].problems,
        torch.cat([one.instance for one in parts]),
        torch.cat([one.last for one in parts]),
        torch.cat([one.visited for one in parts]),
        torch.cat([one.cost for one in parts]),
        torch.cat([one.prize for one in parts]),
        torch.cat([one.score for one in parts]),
    )


def in_parts(states: States, ways: Tensor | None, part: int) -> Iterator[tuple[Tensor, Tokens]]:
    """Places and tokens of the states, sorted by size and cut into parts of at most `part` states."""
    if len(states) and ways is not None and _on_host(states):
        from orienteer.network.host_tokens import host_parts

        yield from host_parts(states, ways, part)
    elif len(states):
        places = torch.arange(len(states), device=states.last.device)
        for batch in in_batches(states, reachable(states, ways), places[None], part):
            yield from batch


def _on_host(states: States) -> bool:
    """Whether the states are on a CPU, each with a problem that has costs of its own."""
    return states.last.device.type == "cpu" and type(states.problems) is Problems


def in_batches(states: States, reach: Tensor, places: Tensor, part: int) -> Iterator[Iterator[tuple[Tensor, Tokens]]]:
    """For every row of (batch, place) `places` the parts of that batch, each its places and their tokens.

    `reach` are the nodes that the states may still visit (`reachable`).
    Asks the device once for all sizes. Widths are multiples of 16 on a GPU, whose kernels want aligned rows.
    """
    keep = relevant(states, reach)
    ordered, order = keep.sum(1)[places].sort(dim=1, stable=True)
    places = places.gather(1, order)
    size = places.shape[1]
    last = torch.arange(part - 1, size + part - 1, part, device=places.device).clamp_max(size - 1)
    multiple = 16 if keep.is_cuda else 1

    def parts(row: Tensor, tops: list[int], sums: list[int]) -> Iterator[tuple[Tensor, Tokens]]:
        for number, top in enumerate(tops):
            index = row[number * part : (number + 1) * part]
            width = -(-top // multiple) * multiple
            total = sums[number] - (sums[number - 1] if number else 0)
            yield index, _tokens_at(index, states, reach, keep, width, total)

    for row, (tops, sums) in enumerate(torch.stack((ordered[:, last], ordered.cumsum(1)[:, last]), 1).tolist()):
        yield parts(places[row], tops, sums)


def _tokens_at(index: Tensor, states: States, reach: Tensor, keep: Tensor, width: int, total: int) -> Tokens:
    """The tokens of some states; `reach` and `keep` are those of all."""
    if has_kernels(index.device) and states.problems.nodes <= MOST_LANES:
        return gathered_tokens(index, states, reach, keep, width, total)
    return tokens(take(states, index), reach[index], keep[index], width, total)


@torch.no_grad()
def evaluate(
    networks: Sequence[Network], states: States, ways: Tensor | None, part: int
) -> list[tuple[Tensor, Tensor]]:
    """For each network (state, node) action values or logits, -inf where a node may not be next, and (state,) values.

    Values are zero where a network has no head for them.
    """
    size, device = states.visited.shape[1], states.last.device
    action = [torch.full((len(states), size), -torch.inf, device=device) for _ in networks]
    value = [torch.zeros(len(states), device=device) for _ in networks]
    for index, given in in_parts(states, ways, part):
        with precision(device):
            for number, network in enumerate(networks):
                estimate = network(given)
                action[number][index] = to_nodes(given, estimate.action.float(), size, -torch.inf)
                if estimate.value is not None:
                    value[number][index] = estimate.value.float()
    return list(zip(action, value, strict=True))
