"""Several processes that train one network, started by torchrun."""

import os
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from typing import TypeVar

import torch
from torch import distributed, nn

from orienteer.lab.training.devices import choose_device

Any_ = TypeVar("Any_")


class Team:
    """The processes of a run; just this one unless torchrun started several."""

    def __init__(self, device: str = "auto"):
        self.size = int(os.environ.get("WORLD_SIZE", "1"))
        self.rank = int(os.environ.get("RANK", "0"))
        local = int(os.environ.get("LOCAL_RANK", "0"))
        chosen = choose_device(device)
        self.device = torch.device("cuda", local) if chosen.type == "cuda" else chosen
        if self.size > 1 and not distributed.is_initialized():
            backend = "nccl" if self.device.type == "cuda" else "gloo"
            distributed.init_process_group(backend, timeout=timedelta(minutes=5))
        if self.device.type == "cuda":
            torch.cuda.set_device(self.device)

    @property
    def chief(self) -> bool:
        """Whether this process validates, writes and prints."""
        return self.rank == 0

    def wrap(self, network: nn.Module) -> nn.Module:
        """The network whose gradients the team shares."""
        if self.size == 1:
            return network
        return nn.parallel.DistributedDataParallel(network, find_unused_parameters=True)

    def quiet(self, network: nn.Module, last: bool) -> AbstractContextManager[object]:
        """A context whose backward pass only adds up gradients; for the `last` part of a batch the team shares them."""
        if last or not isinstance(network, nn.parallel.DistributedDataParallel):
            return nullcontext()
        quiet: AbstractContextManager[object] = network.no_sync()
        return quiet

    def agree(self, value: Any_) -> Any_:
        """The chief's value, in every process."""
        if self.size == 1:
            return value
        box = [value]
        distributed.broadcast_object_list(box, src=0, device=self.device)
        return box[0]

    def part(self) -> None:
        """Ends the team."""
        if self.size > 1 and distributed.is_initialized():
            distributed.destroy_process_group()


def compiled(*modules: nn.Module) -> None:
    """Lets torch.compile fuse the modules' operations; where it fails, they run as they are."""
    import torch._dynamo as dynamo

    dynamo.config.suppress_errors = True
    dynamo.config.cache_size_limit = 64
    for module in modules:
        module.compile(dynamic=True)
