"""Gradients by replay: the host launches a recorded step of training at once, not a thousand kernels every time.

A recording holds for one shape of its input. Tokens of a batch are rounded up generously, so that a few recordings
serve a whole run.
"""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from orienteer.lab.training.losses import Part, tensors, with_tensors

GRAIN = 4096
"""Numbers of tokens are rounded up to multiples of this: parts of nearly equal size share a recording."""
MOST = 8
"""Recordings that are kept, each with a copy of its input; then the oldest goes."""
REHEARSALS = 2
"""Steps before a recording, in which kernels are compiled and libraries set up."""


class Recorder:
    """The losses of a teacher and their gradients, on one GPU."""

    def __init__(self, teach: nn.Module):
        self.teach = teach
        self._recordings: dict[tuple[Any, ...], _Recording] = {}
        self._pool = torch.cuda.graph_pool_handle()

    def __call__(self, part: Part) -> Tensor:
        """(3,) the losses of a part, times its share; the parameters' gradients are set to those of the loss."""
        part = _rounded(part)
        key = (tuple(part.tokens.edges.shape), part.tokens.total, part.share)
        if key not in self._recordings:
            if len(self._recordings) == MOST:
                del self._recordings[next(iter(self._recordings))]
            self._recordings[key] = self._record(part)
        recording = self._recordings[key]
        for recorded, current in zip(recording.inputs, tensors(part), strict=True):
            recorded.copy_(current)
        recording.graph.replay()
        for parameter, gradient in zip(self.teach.parameters(), recording.gradients, strict=True):
            parameter.grad = gradient
        return recording.losses

    def _record(self, part: Part) -> "_Recording":
        inputs = [one.clone() for one in tensors(part)]
        own = with_tensors(part, inputs)
        side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(REHEARSALS):
                self._gradients(own)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        self.teach.zero_grad(set_to_none=True)
        with torch.cuda.graph(graph, pool=self._pool):
            losses = self._gradients(own)
        return _Recording(graph, inputs, losses, [one.grad for one in self.teach.parameters()])

    def _gradients(self, part: Part) -> Tensor:
        self.teach.zero_grad(set_to_none=True)
        loss, losses = self.teach(part)
        torch.autograd.backward(loss * part.share)
        return losses * part.share


@dataclass(frozen=True)
class _Recording:
    graph: Any
    inputs: list[Tensor]
    losses: Tensor
    gradients: list[Tensor | None]


def _rounded(part: Part) -> Part:
    return replace(part, tokens=replace(part.tokens, total=-(-part.tokens.total // GRAIN) * GRAIN))
