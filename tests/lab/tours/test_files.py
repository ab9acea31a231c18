"""TSPLIB in and out, and the command."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner

from orienteer import BadFile, check_tour
from orienteer.cli.main import cli
from orienteer.data.files import read, read_tour, write
from orienteer.lab.networks.models import save_weights
from orienteer.lab.tours.instance import read_tour_problem, tour_problem
from orienteer.network.config import PolicyConfig
from orienteer.network.policy_network import PolicyNetwork

SQUARE = """NAME : square
TYPE : TSP
DIMENSION : 5
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 10 10
3 10 0
4 0 10
5 20 5
EOF
"""
RING = """NAME : ring
TYPE : ATSP
DIMENSION : 4
EDGE_WEIGHT_TYPE : EXPLICIT
EDGE_WEIGHT_FORMAT : FULL_MATRIX
EDGE_WEIGHT_SECTION
0 9 1 9
1 0 9 9
9 9 0 1
9 1 9 0
EOF
"""


@pytest.fixture
def weights(tmp_path: Path) -> str:
    torch.manual_seed(0)
    network = PolicyNetwork(PolicyConfig(16, 2, 1, goal="cost"))
    return str(save_weights(tmp_path / "untrained.safetensors", network, "tour", {}, {}))


def test_tsplib_files_are_tour_problems(tmp_path: Path) -> None:
    (tmp_path / "square.tsp").write_text(SQUARE)
    (tmp_path / "ring.atsp").write_text(RING)
    square, ring = (read_tour_problem(tmp_path / name) for name in ("square.tsp", "ring.atsp"))
    assert (square.limit, square.prizes.tolist()) == (52, [1] * 5)
    assert ring.limit == 4
    assert read_tour_problem(tmp_path / "square.tsp", start=3).start == 3
    with pytest.raises(BadFile, match="holds no limit"):
        read(tmp_path / "square.tsp")
    assert read(tmp_path / "square.tsp", limit=30).prizes.tolist() == [1] * 5
    with pytest.raises(BadFile, match="start must be a node from 0 to 4"):
        read_tour_problem(tmp_path / "square.tsp", start=9)


def test_a_tour_problem_survives_the_file(tmp_path: Path) -> None:
    points = np.random.default_rng(1).integers(0, 100, (8, 2)).astype(float)
    costs = np.rint(np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1)))
    instance = tour_problem(costs, points, start=2)
    write(instance, tmp_path / "points.tsp")
    assert read(tmp_path / "points.tsp") == instance
    assert read_tour_problem(tmp_path / "points.tsp") == instance


@pytest.mark.parametrize("name", ["tsp-greedy", "tsp-beam", "tsp-cs"])
def test_solve_reads_tsplib_and_writes_a_tour(name: str, tmp_path: Path, weights: str) -> None:
    (tmp_path / "square.tsp").write_text(SQUARE)
    words = ["solve", str(tmp_path / "square.tsp"), "--solver", name, "--weights", weights, "--device", "cpu", "--json"]
    out = tmp_path / "square.tour"
    done = CliRunner().invoke(cli, [*words, "--out", str(out)], catch_exceptions=False)
    told = json.loads(done.stdout)
    assert (told["cost"], told["prize"]) == (52, 5)
    instance = read_tour_problem(tmp_path / "square.tsp")
    assert check_tour(instance, read_tour(out, instance)).nodes == tuple(told["tour"])


def test_a_tour_is_not_said_to_be_near_the_best_because_it_visits_everything(tmp_path: Path, weights: str) -> None:
    (tmp_path / "square.tsp").write_text(SQUARE)
    words = ["solve", str(tmp_path / "square.tsp"), "--solver", "tsp-cs", "--weights", weights, "--device", "cpu"]
    assert "tsp-cs: best found in " in CliRunner().invoke(cli, words, catch_exceptions=False).stdout


def test_a_file_with_prizes_and_a_limit_is_toured_all_the_same(tmp_path: Path, weights: str) -> None:
    path = Path(__file__).parents[3] / "examples" / "city.csv"
    words = ["solve", str(path), "--solver", "tsp-greedy", "--weights", weights, "--device", "cpu", "--json"]
    told = json.loads(CliRunner().invoke(cli, words, catch_exceptions=False).stdout)
    assert told["prize"] == read(path).size
    assert len(told["names"]) == read(path).size + 1
    with pytest.raises(ValueError, match="limit does not go with a tour"):
        CliRunner().invoke(cli, [*words, "--limit", "9"], catch_exceptions=False)
