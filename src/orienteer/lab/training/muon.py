"""Muon (Jordan and others 2024): steps for the matrices of a network's layers in which all directions count alike.

The momentum of a matrix is replaced by the nearest matrix with equal singular values, by a few steps of an iteration
that needs matrix products alone. Matrices of the same shape go through it together: a GPU is asked a few dozen times a
step, not hundreds of times as by `torch.optim.Muon`, which not all versions of torch have that we support.
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

COEFFICIENTS = (3.4445, -4.7750, 2.0315)
"""Of the quintic iteration: singular values need not come out equal, between 0.7 and 1.2 will do."""
ITERATIONS = 5
LENGTH = 0.2
"""The size of a step's entries is that of AdamW's, so that learning rates mean the same (Liu and others 2025)."""
SLOWER = 1 / 3
"""The learning rate of AdamW beside Muon's: three to one was the better of two that were tried."""

POINTING = ("query.weight",)
POINTING_DECAY = 1.0
"""Decay of the matrix that multiplies vectors into logits, whatever that of the others. Probabilities depend on
differences of logits alone; nothing else kept logits from drifting by thousands, to where bfloat16 has no digits left
for differences, and losses rose."""


class Muon(torch.optim.Optimizer):
    """For matrices inside a network; inputs, outputs and vectors are for AdamW."""

    def __init__(
        self, matrices: Iterable[Tensor], learning_rate: float, weight_decay: float = 0.0, momentum: float = 0.95
    ):
        super().__init__(matrices, {"lr": learning_rate, "weight_decay": weight_decay, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """One step along the gradients at hand; there is no closure."""
        for group in self.param_groups:
            alike: dict[torch.Size, list[Tensor]] = {}
            for matrix in group["params"]:
                if matrix.grad is not None:
                    alike.setdefault(matrix.shape, []).append(matrix)
            for matrices in alike.values():
                self._move(matrices, group)

    def _move(self, matrices: list[Tensor], group: dict[str, Any]) -> None:
        gradients = [matrix.grad for matrix in matrices if matrix.grad is not None]
        for matrix in matrices:
            if "momentum" not in self.state[matrix]:
                self.state[matrix]["momentum"] = torch.zeros_like(matrix)
        averages = [self.state[matrix]["momentum"] for matrix in matrices]
        torch._foreach_lerp_(averages, gradients, 1 - group["momentum"])
        ahead = torch._foreach_lerp(gradients, averages, group["momentum"])  # Nesterov's: where the average is going
        length = LENGTH * max(matrices[0].shape) ** 0.5
        moves = orthogonal(torch.stack(ahead)).to(matrices[0].dtype)
        torch._foreach_mul_(matrices, 1 - group["lr"] * group["weight_decay"])
        torch._foreach_add_(matrices, list(moves.unbind(0)), alpha=-group["lr"] * length)


def orthogonal(matrices: Tensor) -> Tensor:
    """(matrix, row, column) nearly the nearest matrices with all singular values 1; bfloat16 on a GPU."""
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.mT if tall else matrices
    x = x.to(torch.bfloat16 if x.is_cuda else x.dtype)
    x = x / x.flatten(1).norm(dim=1).clamp_min(1e-7)[:, None, None]
    a, b, c = COEFFICIENTS
    for _ in range(ITERATIONS):
        square = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(square, square, square, beta=b, alpha=c), x, beta=a)
    return x.mT if tall else x


def optimizers(network: nn.Module, learning_rate: float, weight_decay: float) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of `network.layers`, AdamW for everything else; groups know their `initial_lr`."""
    named = dict(network.named_parameters())
    matrices = [one for name, one in named.items() if _is_inner(name, one)]
    pointing = [one for name, one in named.items() if name in POINTING]
    others = [one for name, one in named.items() if not _is_inner(name, one) and name not in POINTING]
    groups = [{"params": others, "weight_decay": weight_decay}, {"params": pointing, "weight_decay": POINTING_DECAY}]
    both = [
        Muon(matrices, learning_rate, weight_decay),
        torch.optim.AdamW(
            [group for group in groups if group["params"]], SLOWER * learning_rate, fused=others[0].is_cuda
        ),
    ]
    for group in (group for one in both for group in one.param_groups):
        group["initial_lr"] = group["lr"]  # as torch's schedules do
    return both


def settle(optimizer: torch.optim.Optimizer, state: dict[str, Any]) -> None:
    """Takes up the saved state of an optimizer, but with its own rate and decay: a run may go on with others."""
    wanted = [(group["initial_lr"], group["weight_decay"]) for group in optimizer.param_groups]
    optimizer.load_state_dict(state)
    for group, (rate, decay) in zip(optimizer.param_groups, wanted, strict=True):
        group["initial_lr"], group["weight_decay"] = rate, decay


def _is_inner(name: str, parameter: Tensor) -> bool:
    return name.startswith("layers.") and name.endswith(".weight") and parameter.ndim == 2
