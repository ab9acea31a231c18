"""Networks applied to many partial paths of mixed sizes, in parts of similar size."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec

import torch
from torch import Tensor

from orienteer.beam.states import States
from orienteer.network.estimate import Estimate
from orienteer.network.features import Kit, Tokens, reachable, relevant, to_nodes
from orienteer.network.plain import PLAIN

Network = Callable[[Tokens], Estimate]


def precision(device: torch.device) -> AbstractContextManager[object]:
    """The arithmetic of a forward pass: bfloat16 on a GPU, float32 elsewhere."""
    return torch.autocast("cuda", dtype=torch.bfloat16) if device.type == "cuda" else nullcontext()


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


def kit_for(device: torch.device) -> Kit:
    """The kit for networks on a device: kernels on a GPU, plain tensors elsewhere."""
    if device.type == "cuda" and find_spec("triton") is not None:
        from orienteer.network.cuda.kit import FUSED

        return FUSED
    return PLAIN


def in_parts(states: States, ways: Tensor | None, part: int, kit: Kit | None = None) -> Iterator[tuple[Tensor, Tokens]]:
    """Places and tokens of the states, sorted by size and cut into parts of at most `part` states."""
    if len(states):
        places = torch.arange(len(states), device=states.last.device)
        for batch in in_batches(states, reachable(states, ways), places[None], part, kit):
            yield from batch


def in_batches(
    states: States, reach: Tensor, places: Tensor, part: int, kit: Kit | None = None
) -> Iterator[Iterator[tuple[Tensor, Tokens]]]:
    """For every row of (batch, place) `places` the parts of that batch, each its places and their tokens.

    `reach` are the nodes that the states may still visit (`reachable`).
    Asks the device once for all sizes.
    """
    keep = relevant(states, reach)
    ordered, order = keep.sum(1)[places].sort(dim=1, stable=True)
    places = places.gather(1, order)
    size = places.shape[1]
    last = torch.arange(part - 1, size + part - 1, part, device=places.device).clamp_max(size - 1)
    chosen = kit or kit_for(keep.device)

    def parts(row: Tensor, tops: list[int], sums: list[int]) -> Iterator[tuple[Tensor, Tokens]]:
        for number, top in enumerate(tops):
            index = row[number * part : (number + 1) * part]
            width = -(-top // chosen.multiple) * chosen.multiple
            total = sums[number] - (sums[number - 1] if number else 0)
            yield index, chosen.gather(index, states, reach, keep, width, total)

    for row, (tops, sums) in enumerate(torch.stack((ordered[:, last], ordered.cumsum(1)[:, last]), 1).tolist()):
        yield parts(places[row], tops, sums)


@torch.no_grad()
def evaluate(
    networks: Sequence[Network], states: States, ways: Tensor | None, part: int, kit: Kit | None = None
) -> list[tuple[Tensor, Tensor]]:
    """For each network (state, node) action values or logits, -inf where a node may not be next, and (state,) values.

    Values are zero where a network has no head for them.
    """
    size, device = states.visited.shape[1], states.last.device
    action = [torch.full((len(states), size), -torch.inf, device=device) for _ in networks]
    value = [torch.zeros(len(states), device=device) for _ in networks]
    for index, tokens in in_parts(states, ways, part, kit):
        with precision(device):
            for number, network in enumerate(networks):
                estimate = network(tokens)
                action[number][index] = to_nodes(tokens, estimate.action.float(), size, -torch.inf)
                if estimate.value is not None:
                    value[number][index] = estimate.value.float()
    return list(zip(action, value, strict=True))
