"""One of two processes that train together; started by test_distributed.py with torchrun's variables set."""

import os
import sys
from pathlib import Path

import torch

from orienteer.lab.networks.attention_network import AttentionNetwork, NetworkConfig
from orienteer.lab.training import dqn
from orienteer.lab.training.instances import fixed_size
from orienteer.lab.training.session import Options

torch.set_num_threads(1)
made: list[AttentionNetwork] = []


class Watched(AttentionNetwork):
    """Remembers the networks that the training loop makes."""

    def __init__(self, config: NetworkConfig):
        super().__init__(config)
        made.append(self)


out = Path(sys.argv[1])
dqn.AttentionNetwork = Watched  # type: ignore[misc]
network = NetworkConfig(8, 2, 2, 1, "dueling", rich=True, edge_bias=True, pre_norm=True)
settings = dqn.DqnSettings(network, fixed_size(6, "uniform"), 8, 2, 0, 0.5, batch=8, part=4, follow=0.9)
options = Options(out, iterations=3, device="cpu", validation=2, say=lambda text: None)
dqn.train(settings, options)
torch.save(made[0].state_dict(), out / f"weights{os.environ['RANK']}.pt")
os._exit(0)  # at the interpreter's end a thread of torch's process group may still run, which aborts the process
