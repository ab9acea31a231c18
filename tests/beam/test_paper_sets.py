"""Prizes on the paper's random sets, where they are at hand."""

from pathlib import Path

import numpy as np
import pytest

from orienteer import Instance, solve_batch

SETS = Path(__file__).parents[3] / "shared" / "data" / "paper"


@pytest.mark.skipif(not SETS.is_dir(), reason="the paper's sets are not in ../shared/data/paper")
@pytest.mark.parametrize(
    ("name", "solver", "settings", "least"),
    [
        ("constant_20", "cs-p", {"beam": 20, "tau": 0.05}, 0.99 * 10.57),
        ("uniform_20", "tsili-beam", {}, 5.54),
    ],
)
def test_at_least_the_papers_prize(name, solver, settings, least):
    data = np.load(SETS / f"{name}.npz")
    instances = [
        Instance.from_coords(coords, prizes, float(data["limit"]))
        for coords, prizes in zip(data["coords"], data["prizes"], strict=True)
    ]
    assert np.mean([result.prize for result in solve_batch(instances, solver, **settings)]) >= least
