"""Two processes on the CPU that train one network."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import torch

from orienteer.network.weights import read_header

SCRIPT = Path(__file__).with_name("two_processes.py")


def test_two_processes_end_with_the_same_weights(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2", "OMP_NUM_THREADS": "1"}
    processes = [
        subprocess.Popen([sys.executable, SCRIPT, tmp_path], env={**os.environ, **shared, "RANK": str(rank)})
        for rank in range(2)
    ]
    try:
        assert [process.wait(timeout=120) for process in processes] == [0, 0]
    finally:
        for process in processes:
            process.kill()
    one, two = (torch.load(tmp_path / f"weights{rank}.pt", weights_only=True) for rank in range(2))
    torch.manual_seed(0)
    for key, value in one.items():
        assert torch.equal(value, two[key]), key
    record = read_header(tmp_path / "last.safetensors").record
    assert record["iterations"] == 3
    assert record["states"] == 2 * 3 * 8 * 2
    assert record["hardware"].startswith("2 x ")
