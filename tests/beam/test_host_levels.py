"""A search by loops on a CPU against one by plain tensors."""

import pytest
import torch
from orienteer.beam.host_levels import HostLevels
from orienteer.beam.levels import CostLevels
from orienteer.beam.ways import put_together

from instances import all_families
from orienteer.beam import cost_level
from orienteer.beam.cost_level import CostLevelConfig, cost_level_search
from orienteer.beam.expand import Expander
from orienteer.beam.score import PrizeScore
from orienteer.data.generate import generate
from orienteer.model.instance import Instance


def _searched(instances: list[Instance], ways: int, config: CostLevelConfig, kind: type[CostLevels]) -> Expander:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cost_level, "_queues", lambda some, given, tau: kind(some, given.beam, tau, given.spread))
        return cost_level_search(put_together(instances, ways, torch.device("cpu")), PrizeScore(), config)


@pytest.mark.parametrize("prizes", ["constant", "uniform"])
@pytest.mark.parametrize(
    ("costs", "ways", "config"),
    [
        ("euclidean", 1, CostLevelConfig(1)),
        ("euclidean", 1, CostLevelConfig(5)),
        ("euclidean", 1, CostLevelConfig(20, branch=3, spread=0.0)),
        ("xasy", 1, CostLevelConfig(4, spread=2.0)),
        ("tmat", 2, CostLevelConfig(7, tau=0.2)),
    ],
)
def test_loops_log_the_same_paths(prizes: str, costs: str, ways: int, config: CostLevelConfig) -> None:
    instances = list(generate(30, prizes, costs, count=3, seed=3)) + list(generate(12, prizes, costs, seed=4))
    _assert_alike(*(_searched(instances, ways, config, kind) for kind in (CostLevels, HostLevels)))


def test_loops_log_the_same_paths_of_all_kinds_of_problems() -> None:
    instances = all_families(9)
    _assert_alike(*(_searched(instances, 1, CostLevelConfig(3), kind) for kind in (CostLevels, HostLevels)))


def test_a_bounded_search_on_a_cpu_goes_by_loops() -> None:
    problems = put_together(list(generate(5, count=2)), 1, torch.device("cpu"))
    by_loops = {beam: isinstance(cost_level._queues(problems, CostLevelConfig(beam), problems.limit / 9), HostLevels)
                for beam in (3, 2**16, None)}  # fmt: skip
    assert by_loops == {3: True, 2**16: False, None: False}


def _assert_alike(one: Expander, other: Expander) -> None:
    for name in ("first", "parent", "last", "cost", "prize", "stops"):
        assert torch.equal(getattr(one.log.by_cost(), name), getattr(other.log.by_cost(), name)), name
    assert one.routes() == other.routes()
