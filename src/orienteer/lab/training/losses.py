"""The losses of a network on lessons: one for its policy, and two for its other heads, for prizes or for tours."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import torch
from torch import Tensor
from torch.nn import functional

from orienteer.lab.training.lessons import Lessons
from orienteer.network.columns import BASE_STEPS
from orienteer.network.config import Goal
from orienteer.network.features import Tokens, join_tokens
from orienteer.network.policy_network import Outlook, leaving_cost, to_leave


@dataclass(frozen=True)
class Part:
    """Lessons that go through the network together: tokens and answers."""

    tokens: Tokens
    node: Tensor  # (state,) where to go next
    later: Tensor  # (state, token) 1 where the route goes later, or what leaving the node costs, in typical steps
    value: Tensor  # (state,) the prize to go in units of the mean prize, or the cost to go in typical steps
    share: float  # the part's share of its gradient step


def make_part(goal: Goal, lessons: Lessons, index: Tensor, tokens: Tokens, share: float) -> Part:
    """The lessons at `index`, with answers in the units of a network with this `goal`; `share` is that of `Part`."""
    if goal == "prize":
        later = lessons.later[index].gather(1, tokens.node) & tokens.present
        return Part(tokens, lessons.node[index], later.float(), lessons.value[index] / tokens.unit, share)
    step = lessons.states.problems.limit[index] / tokens.hops
    leave = lessons.leave[index]
    each = leave.gather(1, tokens.node) * tokens.present
    return Part(tokens, lessons.node[index], each / step[:, None], leave.sum(1) / step, share)


def join_parts(parts: Sequence[Part], width: int) -> Part:
    """The parts of a gradient step as one part, padded to `width` tokens, which no part exceeds."""
    tokens = join_tokens([part.tokens for part in parts], width)
    return Part(
        tokens,
        torch.cat([part.node for part in parts]),
        torch.cat([functional.pad(part.later, (0, width - part.later.shape[1])) for part in parts]),
        torch.cat([part.value for part in parts]),
        sum(part.share for part in parts),
    )


def split_steps(parts: Sequence[Part], steps: int, totals: Sequence[int]) -> list[Part]:
    """One part for every gradient step, from parts of one width that each hold lessons of all steps.

    `totals` is the number of tokens of each step.
    """
    fields_of_all = zip(*(tensors(part) for part in parts), strict=True)
    mixed = [torch.cat([one.unflatten(0, (steps, -1)) for one in field], 1) for field in fields_of_all]
    share = sum(part.share for part in parts) / steps
    return [
        with_tensors(
            replace(parts[0], tokens=replace(parts[0].tokens, total=total), share=share), [one[step] for one in mixed]
        )
        for step, total in enumerate(totals)
    ]


def tensors(part: Part) -> list[Tensor]:
    """All tensors of a part."""
    return [*(getattr(part.tokens, name) for name in _names(Tokens)), *(getattr(part, name) for name in _names(Part))]


def with_tensors(part: Part, own: Sequence[Tensor]) -> Part:
    """The part with other tensors, in the order of `tensors`."""
    tokens = dict(zip(_names(Tokens), own, strict=False))
    others = dict(zip(_names(Part), own[len(tokens) :], strict=True))
    return replace(part, tokens=replace(part.tokens, **tokens), **others)  # type: ignore[arg-type]


def _names(kind: type[Tokens] | type[Part]) -> list[str]:
    return [field.name for field in fields(kind) if field.name not in ("tokens", "total", "kit", "share")]


def policy_loss(seen: Outlook, part: Part) -> Tensor:
    """Minus the log probability of the next node."""
    following = part.tokens.choice & (part.tokens.node == part.node[:, None])  # (state, token) the next node
    chances = torch.log_softmax(seen.logits.masked_fill(~part.tokens.choice, -1e9), dim=1)
    return -(chances * following.float()).sum(1).mean()


def prize_losses(seen: Outlook, part: Part) -> tuple[Tensor, Tensor]:
    """The loss of which nodes are visited later, and the loss of the prize to go."""
    tokens = part.tokens
    errors = functional.binary_cross_entropy_with_logits(seen.visit, part.later, reduction="none")
    visit = ((errors * tokens.open).sum(1) / tokens.open.sum(1).clamp_min(1)).mean()
    return visit, _sum_loss(seen.value, part.value, tokens.base[:, BASE_STEPS])


def cost_losses(seen: Outlook, part: Part) -> tuple[Tensor, Tensor]:
    """The loss of what leaving each node costs, and the loss of the cost to go."""
    left = to_leave(part.tokens)
    errors = functional.smooth_l1_loss(leaving_cost(seen.visit), part.later, reduction="none")
    count = left.sum(1)
    return ((errors * left).sum(1) / count).mean(), _sum_loss(seen.value, part.value, count)


LOSSES = {"prize": prize_losses, "cost": cost_losses}


def _sum_loss(value: Tensor, truth: Tensor, count: Tensor) -> Tensor:
    scale = count.clamp_min(1).sqrt()  # errors of a sum grow like the root of the number of its parts
    return functional.smooth_l1_loss(value / scale, truth / scale, beta=0.2)
