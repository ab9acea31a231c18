"""The beam searches as solvers: batches, stop criteria, progress."""

import time
from contextlib import nullcontext

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from orienteer.beam.device import choose_device

from instances import all_families, small_instance, small_instances
from oracle import best_prize
from orienteer import Instance, MaxSeconds, MaxSteps, NoImprovement, TargetPrize, solve, solve_batch
from orienteer.beam import solvers
from orienteer.beam.score import Children
from orienteer.beam.solvers import CostLevelSolver, PrizeCostLevelSearch
from orienteer.data.generate import generate
from orienteer.search.registry import solver_class

SOLVERS = ("cs-p", "tsili-beam")


@pytest.mark.parametrize("name", SOLVERS)
def test_a_batch_of_mixed_sizes_equals_one_by_one(name):
    instances = [small_instance("euclidean", size, seed=size) for size in (3, 30, 12, 1, 21, 8)] + all_families(4)
    instances += [one.replace(prizes=np.ones(one.size)) for one in instances[:6]]
    together = solve_batch(instances, name, beam=4)
    for instance, result in zip(instances, together, strict=True):
        assert solve(instance, name, beam=4).tour == result.tour


@pytest.mark.parametrize("name", SOLVERS)
def test_small_batches_change_nothing_and_are_announced(name, monkeypatch):
    instances = [small_instance("asymmetric", 5 + seed % 9, seed) for seed in range(30)]
    whole = solve_batch(instances, name, seed=5)
    monkeypatch.setattr("orienteer.beam.device.CPU_BYTES", 10**6)
    news = []
    parts = solve_batch(instances, name, seed=5, device="cpu", on_done=lambda done, total: news.append((done, total)))
    assert [one.tour for one in parts] == [one.tour for one in whole]
    assert [one.seed for one in parts] == list(range(5, 35))
    assert len(news) > 2
    assert news[-1] == (30, 30)
    assert news == sorted(news)


@pytest.mark.parametrize("name", SOLVERS)
@settings(max_examples=40, deadline=None)
@given(instance=small_instances())
def test_feasible_and_never_above_the_oracle(name, instance):
    assert solve(instance, name, beam=2).prize <= best_prize(instance) + 1e-9


@pytest.mark.parametrize("name", SOLVERS)
def test_no_time_still_gives_an_answer(name):
    instances = all_families(2)
    for instance, result in zip(instances, solve_batch(instances, name, stop=MaxSeconds(0)), strict=True):
        assert result.tour.nodes == tuple(instance.cheapest_route())
        assert result.steps == 0
    assert solve(instances[0], name, stop=MaxSeconds(0)).tour.nodes == tuple(instances[0].cheapest_route())


@pytest.mark.parametrize("name", SOLVERS)
def test_steps_are_obeyed_and_the_best_so_far_comes_back(name):
    instances = [small_instance("euclidean", 20, seed) for seed in range(5)]
    for stop, steps in ((MaxSteps(1), 1), (MaxSteps(3), 3)):
        for result in (solve(instances[0], name, stop=stop), *solve_batch(instances, name, stop=stop)):
            assert result.steps == steps
            assert result.status == "stopped"
    early, late = (solve_batch(instances, name, stop=MaxSteps(steps)) for steps in (2, 1000))
    assert all(a.prize <= b.prize for a, b in zip(early, late, strict=True))
    assert sum(a.prize for a in early) < sum(b.prize for b in late)


def test_a_tau_far_below_the_limit_is_refused_alone_and_in_a_batch():
    instance = small_instance("euclidean", 5, 0).replace(limit=1e303)
    with pytest.raises(ValueError, match="tau must make at most"):
        solve(instance, "cs-p", tau=1e-9)
    with pytest.raises(ValueError, match="tau must make at most"):
        solve_batch([instance], "cs-p", tau=1e-9)


def test_time_is_shared_by_a_batch(monkeypatch):
    """A clock that ticks a second at every look: ten instances with two seconds each may look twenty times."""
    ticks = iter(range(10**6))
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(ticks)))
    instances = [small_instance("euclidean", 15, seed) for seed in range(10)]
    results = solve_batch(instances, "cs-p", stop=MaxSeconds(2.0))
    assert {result.steps for result in results} == {20}
    assert results[0].seconds == pytest.approx(2.1)


def test_other_criteria_in_a_batch():
    instances = [small_instance("euclidean", 15, seed).replace(limit=3.0) for seed in range(5)]
    full = solve_batch(instances, "cs-p")
    reached = solve_batch(instances, "cs-p", stop=TargetPrize(1.0))
    assert reached[0].steps < full[0].steps
    assert min(one.prize for one in reached) >= 1.0
    assert solve_batch(instances, "cs-p", stop=NoImprovement(3))[0].steps < full[0].steps


def test_proof_needs_an_unbounded_search_that_ended_by_itself():
    instance = small_instance("euclidean", 7, seed=1).replace(limit=1.5)
    assert solve(instance, "cs-p", beam=None).prize < instance.prizes.sum()
    assert solve(instance, "cs-p", beam=None).status == "optimal"
    assert solve(instance, "cs-p", beam=None, branch=3).status == "stopped"
    assert solve(instance, "cs-p", beam=20).status == "stopped"
    assert solve(instance, "cs-p", beam=None, stop=MaxSteps(2)).status == "stopped"
    assert solve(instance, "tsili-beam", beam=None).status == "stopped"


def test_progress_and_trace():
    instance = small_instance("euclidean", 15, seed=2).replace(limit=3.0)
    seen = []
    result = solve(instance, "cs-p", on_progress=seen.append)
    prizes = [now.prize for now in seen]
    assert prizes == sorted(prizes)
    assert prizes[-1] == result.prize == result.trace[-1].prize
    assert len(result.trace) > 2
    assert seen[-1].steps == result.steps > 10


def test_never_worse_than_the_initial_route():
    instance = small_instance("euclidean", 12, seed=4).replace(limit=2.0)
    best = solve(instance, "cs-p", beam=100).tour
    assert solve(instance, "cs-p", beam=1, initial=best.nodes).prize >= best.prize


def test_an_empty_batch():
    assert solve_batch([], "cs-p") == []


def test_a_score_of_three_lines_makes_a_solver():
    class FarScore:
        def children(self, states):
            return Children(states.prize[:, None] + states.leg)

    class FarSearch(CostLevelSolver):
        name = "far"

        def scorer(self, device):
            return FarScore()

    instances = all_families(3)
    for instance, result in zip(instances, FarSearch().solve_batch(instances), strict=True):
        assert result.prize <= best_prize(instance) + 1e-9
        assert result.solver == "far"


def test_same_answer_twice_and_input_unchanged():
    instance = small_instance("nonmetric", 12, seed=3)
    before = instance.costs.copy(), instance.prizes.copy()
    one, two = solve(instance, "cs-p"), solve(instance, "cs-p")
    assert one.tour == two.tour
    assert np.array_equal(before[0], instance.costs)
    assert np.array_equal(before[1], instance.prizes)


def test_devices():
    assert choose_device("cpu").type == "cpu"
    assert choose_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")
    with pytest.raises(ValueError, match="device must be 'auto', 'cpu' or 'cuda', got 'tpu'"):
        choose_device("tpu")


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_a_missing_gpu_is_named():
    with pytest.raises(ValueError, match="no CUDA device"):
        solve(small_instance("euclidean"), "cs-p", device="cuda")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("name", SOLVERS)
def test_the_gpu_finds_the_same_routes(name):
    instances = [small_instance("euclidean", 30, seed) for seed in range(50)] + all_families(10)
    on_cpu, on_gpu = (solve_batch(instances, name, device=device) for device in ("cpu", "cuda"))
    assert [one.tour for one in on_gpu] == [one.tour for one in on_cpu]


def test_scorer_is_asked_once_for_each_expanded_path():
    asked = []

    class Counting(PrizeCostLevelSearch):
        def scorer(self, device):
            inner = super().scorer(device)

            class Count:
                def children(self, states):
                    asked.append(len(states))
                    return inner.children(states)

            return Count()

    instances = [small_instance("euclidean", 20, seed) for seed in range(5)]
    Counting().solve_batch(instances)
    assert 5 * 20 < sum(asked) < 5 * 82 * 20 * 2


@pytest.mark.parametrize("name", ["cs-p", "cs-l"])
def test_batches_side_by_side_change_nothing(name, monkeypatch):
    instances = [*generate(12, count=5, seed=1), *generate(7, count=4, seed=2)]
    whole = solve_batch(instances, name, beam=5, device="cpu")
    monkeypatch.setattr(solver_class(name), "lanes", lambda *_: nullcontext(2))
    news = []
    halves = solve_batch(instances, name, beam=5, device="cpu", on_done=lambda done, total: news.append(done))
    assert [one.tour for one in halves] == [one.tour for one in whole]
    assert news == [5, 9]


def test_an_error_of_the_listener_ends_the_other_batch_too(monkeypatch):
    monkeypatch.setattr(solvers, "lanes_for", lambda device, count: 2)
    halted = []
    ended = solvers._BatchClock.__call__

    def watched(clock, expander):
        if clock.size == 2:  # the second lane, with one of three instances
            halted.append(clock.halt.wait(timeout=30))
        return ended(clock, expander)

    def complain(done, total):
        raise RuntimeError("no more")

    monkeypatch.setattr(solvers._BatchClock, "__call__", watched)
    with pytest.raises(RuntimeError, match="no more"):
        solve_batch(list(generate(8, count=3, seed=1)), "cs-p", device="cpu", on_done=complain)
    assert halted == [True]


def test_times_of_batches_side_by_side_add_up(monkeypatch):
    monkeypatch.setattr(solvers, "lanes_for", lambda device, count: 2)
    began = time.perf_counter()
    results = solve_batch([*generate(40, count=1, seed=1), *generate(5, count=2, seed=2)], "cs-p", device="cpu")
    assert sum(one.seconds for one in results) <= time.perf_counter() - began


def test_of_equal_children_the_same_enter_whatever_else_is_in_the_batch():
    rng = np.random.default_rng(1)
    small = [Instance(rng.integers(1, 4, (6, 6)), rng.integers(1, 3, 6), 8.0) for _ in range(60)]
    large = small_instance("euclidean", 40, seed=1)
    narrow = {"beam": 1, "branch": 1, "device": "cpu"}
    mixed = solve_batch([*small, large], "cs-p", **narrow)[:-1]
    assert [one.tour for one in mixed] == [one.tour for one in solve_batch(small, "cs-p", **narrow)]
