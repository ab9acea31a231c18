"""The front door: what callers may hand over."""

import json

import numpy as np
import pytest

from command_line import TOWN
from orienteer import MaxSteps, solve, solve_batch
from orienteer.data.files import read_tour, write_tour


def test_numbers_of_numpy_leave_results_that_can_be_written(tmp_path):
    result = solve(TOWN, "cs-p", seed=np.int64(3), beam=np.int64(5), tau=np.float32(1))
    write_tour(result, tmp_path / "it.json")
    told = json.loads((tmp_path / "it.json").read_text())
    assert (told["seed"], told["settings"]["beam"], told["settings"]["tau"]) == (3, 5, 1.0)
    assert read_tour(tmp_path / "it.json") == list(result.tour.nodes)


@pytest.mark.parametrize(("seed", "message"), [(None, "whole number"), (1.5, "whole number"), (-1, "not be negative")])
def test_other_seeds_are_refused(seed, message):
    with pytest.raises(ValueError, match=f"seed must.*{message}"):
        solve(TOWN, "lns", MaxSteps(1), seed=seed)
    with pytest.raises(ValueError, match=f"seed must.*{message}"):
        solve_batch([TOWN], "lns", MaxSteps(1), seed=seed)


def test_a_result_or_its_tour_can_be_gone_on_from():
    best = solve(TOWN, "enumerate")
    for initial in (best, best.tour, best.tour.nodes):
        assert solve(TOWN, "random", MaxSteps(1), initial=initial).prize == best.prize


def test_a_batch_may_come_from_a_generator():
    results = solve_batch((one for one in (TOWN, TOWN)), "cs-p")
    assert [result.prize for result in results] == [solve(TOWN, "cs-p").prize] * 2
