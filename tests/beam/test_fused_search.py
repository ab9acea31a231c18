"""A search by kernels against one by plain tensors: on a GPU, or in Triton's interpreter."""

import pytest
import torch
from orienteer.beam.levels import CostLevels
from orienteer.beam.ways import put_together

from gpu import DEVICE, needs_triton
from instances import all_families
from orienteer.beam import candidates, cost_level, expand, incumbents, seen
from orienteer.beam.cost_level import CostLevelConfig, cost_level_search
from orienteer.beam.expand import Expander
from orienteer.beam.score import PrizeScore
from orienteer.data.generate import generate
from orienteer.model.instance import Instance

pytestmark = needs_triton


def searched(instances: list[Instance], ways: int, config: CostLevelConfig, kernels: bool) -> Expander:
    with pytest.MonkeyPatch.context() as patch:
        # Where kernels are interpreted, a CPU would go by loops of its own.
        patch.setattr(cost_level, "_queues", lambda some, given, tau: CostLevels(some, given.beam, tau, given.spread))
        for module in (candidates, expand, incumbents, seen):
            patch.setattr(module, "has_kernels", lambda device: kernels)
        problems = put_together(instances, ways, torch.device(DEVICE))
        return cost_level_search(problems, PrizeScore(), config)


@pytest.mark.parametrize(
    ("costs", "ways", "config"),
    [
        ("euclidean", 1, CostLevelConfig(3)),
        ("euclidean", 1, CostLevelConfig(4, branch=3, spread=0.0)),
        ("tmat", 2, CostLevelConfig(2, tau=0.2)),
    ],
)
def test_kernels_log_the_same_paths(costs: str, ways: int, config: CostLevelConfig) -> None:
    instances = list(generate(12, "uniform", costs, count=2, seed=3)) + list(generate(9, "constant", costs, seed=4))
    _assert_alike(*(searched(instances, ways, config, kernels) for kernels in (False, True)))


def test_kernels_log_the_same_paths_without_bounds() -> None:
    instances = all_families(5)
    config = CostLevelConfig(beam=None, tau=0.3)
    _assert_alike(*(searched(instances, 1, config, kernels) for kernels in (False, True)))


def _assert_alike(plain: Expander, fused: Expander) -> None:
    assert plain.log.used > len(plain.best.prize)
    for name in ("_link", "_instance", "_prize", "_cost", "_visited"):
        assert torch.equal(getattr(plain.log, name)[: plain.log.used], getattr(fused.log, name)[: fused.log.used])
    for name in ("prize", "cost", "parent", "last"):
        assert torch.equal(getattr(plain.best, name), getattr(fused.best, name))
