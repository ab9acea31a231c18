"""The beam searches as solvers: batches, stop criteria, progress."""

import threading
import time
from contextlib import nullcontext
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings

from backends import cs_p, families, few, solver
from instances import all_families, small_instance, small_instances
from oracle import best_prize
from orienteer import Instance, MaxSeconds, MaxSteps, NoImprovement, TargetPrize, solve, solve_batch
from orienteer.beam.backend.host.backend import HostBackend
from orienteer.beam.backend.protocol import Backend
from orienteer.beam.batches import BatchClock
from orienteer.beam.cost_level import CostLevelConfig, cost_level_search
from orienteer.beam.expand import Expander, Watch
from orienteer.beam.problems import Array, Problems
from orienteer.beam.score import Children, PrizeScore, Scorer
from orienteer.beam.solvers import CostLevelSolver, PrizeCostLevelSearch
from orienteer.beam.states import States
from orienteer.data.generate import generate
from orienteer.search.stop import Never

HOST = HostBackend()
WITHOUT_EXCHANGES: dict[str, dict[str, bool]] = {"cs-p": {"recombine": False}, "tsili-beam": {}}
every_search = pytest.mark.parametrize("name", ["cs-p", "tsili-beam"])


class TwoAtOnce(HostBackend):
    """The host with two batches side by side."""

    def workers(self, instances: int) -> int:
        return 2


@every_search
def test_a_batch_of_mixed_sizes_equals_one_by_one(backend: Backend, name: str) -> None:
    sizes = few(backend, (3, 30, 12, 1, 21, 8), (3, 6, 1))
    instances = [small_instance("euclidean", size, seed=size) for size in sizes] + families(backend, 4)[::2]
    instances += [one.replace(prizes=np.ones(one.size)) for one in instances[:6]]
    found = solver(name, backend, beam=few(backend, 4, 2), **few(backend, {}, WITHOUT_EXCHANGES[name]))
    for instance, result in zip(instances, found.solve_batch(instances), strict=True):
        alone = found.solve(instance)
        assert alone.prize == result.prize
        if alone.status != "optimal":  # else it ended as soon as it had collected all
            assert alone.tour == result.tour


@every_search
def test_small_batches_change_nothing_and_are_announced(name: str) -> None:
    instances = [small_instance("asymmetric", 5 + seed % 9, seed) for seed in range(30)]
    whole = solver(name, HOST).solve_batch(instances, seed=5)
    news = []
    parts = solver(name, HostBackend(batch_bytes=10**6)).solve_batch(
        instances, seed=5, on_done=lambda done, total: news.append((done, total))
    )
    assert [one.tour for one in parts] == [one.tour for one in whole]
    assert [one.seed for one in parts] == list(range(5, 35))
    assert len(news) > 2
    assert news[-1] == (30, 30)
    assert news == sorted(news)


@every_search
def test_feasible_and_never_above_the_oracle(backend: Backend, name: str) -> None:
    @settings(max_examples=few(backend, 40, 4))
    @given(small_instances(few(backend, 7, 5)))
    def check(instance: Instance) -> None:
        assert solver(name, backend, beam=2).solve(instance).prize <= best_prize(instance) + 1e-9

    check()


@every_search
def test_no_time_still_gives_an_answer(backend: Backend, name: str) -> None:
    instances, found = all_families(2), solver(name, backend)
    for instance, result in zip(instances, found.solve_batch(instances, MaxSeconds(0)), strict=True):
        assert result.tour.nodes == tuple(instance.cheapest_route())
        assert result.steps == 0
    assert found.solve(instances[0], MaxSeconds(0)).tour.nodes == tuple(instances[0].cheapest_route())


@every_search
def test_steps_are_obeyed_and_the_best_so_far_comes_back(backend: Backend, name: str) -> None:
    size, seeds = few(backend, (20, 5), (8, 2))
    instances = [small_instance("euclidean", size, seed).replace(limit=2.0) for seed in range(seeds)]
    found = solver(name, backend, beam=few(backend, 20, 1), **few(backend, {}, WITHOUT_EXCHANGES[name]))
    for stop, steps in ((MaxSteps(1), 1), (MaxSteps(3), 3)):
        for result in (found.solve(instances[0], stop), *found.solve_batch(instances, stop)):
            assert result.steps == steps
            assert result.status == "stopped"
    early, late = (found.solve_batch(instances, MaxSteps(steps)) for steps in (2, 1000))
    assert all(a.prize <= b.prize for a, b in zip(early, late, strict=True))
    assert sum(a.prize for a in early) < sum(b.prize for b in late)


def test_a_tau_far_below_the_limit_is_refused_alone_and_in_a_batch(backend: Backend) -> None:
    instance = small_instance("euclidean", 5, 0).replace(limit=1e303)
    with pytest.raises(ValueError, match="tau must make at most"):
        cs_p(backend, tau=1e-9).solve(instance)
    with pytest.raises(ValueError, match="tau must make at most"):
        cs_p(backend, tau=1e-9).solve_batch([instance])


def test_time_is_shared_by_a_batch(backend: Backend) -> None:
    """A clock that ticks a second at every look: ten instances with two seconds each may look twenty times."""
    instances = [small_instance("euclidean", few(backend, 15, 8), seed) for seed in range(10)]
    clock = BatchClock(10, MaxSeconds(2.0), threading.Event(), 1, seconds=map(float, count()).__next__)
    problems = backend.problems(instances)
    cost_level_search(backend, problems, PrizeScore(), CostLevelConfig(few(backend, 20, 1)), clock)
    assert clock.ended
    assert clock.steps == 20
    assert clock.share == pytest.approx(2.1)


def test_each_result_has_its_share_of_the_time() -> None:
    instances, began = [small_instance("euclidean", 15, seed) for seed in range(10)], time.perf_counter()
    results = cs_p(HOST).solve_batch(instances)
    assert len({one.seconds for one in results}) == 1
    assert 0 < sum(one.seconds for one in results) <= time.perf_counter() - began


def test_other_criteria_in_a_batch(backend: Backend) -> None:
    size, seeds, target = few(backend, (15, 5, 1.0), (7, 2, 0.7))
    instances = [small_instance("euclidean", size, seed).replace(limit=3.0) for seed in range(seeds)]
    search = cs_p(backend, beam=few(backend, 20, 2), recombine=few(backend, True, False))
    full = search.solve_batch(instances)
    reached = search.solve_batch(instances, TargetPrize(target))
    assert reached[0].steps < full[0].steps
    assert min(one.prize for one in reached) >= target
    assert search.solve_batch(instances, NoImprovement(3))[0].steps < full[0].steps


def test_proof_needs_an_unbounded_search_that_ended_by_itself(backend: Backend) -> None:
    size, limit = few(backend, (7, 1.5), (5, 1.2))
    instance = small_instance("euclidean", size, seed=1).replace(limit=limit)
    found = cs_p(backend, beam=None).solve(instance)
    assert found.prize < instance.prizes.sum()
    assert found.status == "optimal"
    assert cs_p(backend, beam=None, branch=3).solve(instance).status == "stopped"
    assert cs_p(backend, beam=20).solve(instance).status == "stopped"
    assert cs_p(backend, beam=None).solve(instance, MaxSteps(2)).status == "stopped"
    assert solver("tsili-beam", backend, beam=None).solve(instance).status == "stopped"


def test_progress_and_trace() -> None:
    instance = small_instance("euclidean", 15, seed=2).replace(limit=3.0)
    seen = []
    result = solve(instance, "cs-p", on_progress=seen.append, device="cpu")
    prizes = [now.prize for now in seen]
    assert prizes == sorted(prizes)
    assert prizes[-1] == result.prize == result.trace[-1].prize
    assert len(result.trace) > 2
    assert seen[-1].steps == result.steps > 10


def test_never_worse_than_the_initial_route() -> None:
    instance = small_instance("euclidean", 12, seed=4).replace(limit=2.0)
    best = solve(instance, "cs-p", beam=100, device="cpu").tour
    assert solve(instance, "cs-p", beam=1, initial=best.nodes, device="cpu").prize >= best.prize


def test_an_empty_batch(backend: Backend) -> None:
    assert cs_p(backend).solve_batch([]) == []
    assert solve_batch([], "cs-p") == []


class FarScore:
    """A score of a few lines, for any backend."""

    def children(self, states: States) -> Children:
        return Children(states.prize[:, None] + states.leg)

    def paths(self, states: States) -> Array:
        return states.prize + states.cost


class FarSearch(CostLevelSolver[CostLevelConfig]):
    name = "far"

    def scorer(self) -> Scorer:
        return FarScore()


def test_a_score_of_a_few_lines_makes_a_solver(backend: Backend) -> None:
    instances = families(backend, 3)
    config = CostLevelConfig(few(backend, 20, 2), recombine=few(backend, True, False))
    found = FarSearch(config, backend).solve_batch(instances)
    for instance, result in zip(instances, found, strict=True):
        assert result.prize <= best_prize(instance) + 1e-9
        assert result.solver == "far"


def test_same_answer_twice_and_input_unchanged(backend: Backend) -> None:
    instance = small_instance("nonmetric", few(backend, 12, 6), seed=3)
    before = instance.costs.copy(), instance.prizes.copy()
    one, two = (cs_p(backend, beam=few(backend, 20, 2)).solve(instance) for _ in range(2))
    assert one.tour == two.tour
    assert np.array_equal(before[0], instance.costs)
    assert np.array_equal(before[1], instance.prizes)


class Counting(PrizeCostLevelSearch):
    """Notes how many paths its score is asked about."""

    def scorer(self) -> Scorer:
        self.asked: list[int] = []
        asked, inner = self.asked, super().scorer()

        class Count:
            def children(self, states: States) -> Children:
                asked.append(len(states))
                return inner.children(states)

            def paths(self, states: States) -> Array:
                return inner.paths(states)

        return Count()

    def explore(self, problems: Problems, scorer: Scorer, watch: Watch, directions: int) -> Expander:
        found = super().explore(problems, scorer, watch, directions)
        self.expanded = found.log.used
        return found


def test_scorer_is_asked_once_for_each_expanded_path(backend: Backend) -> None:
    size, seeds = few(backend, (20, 5), (7, 2))
    instances = [small_instance("euclidean", size, seed).replace(limit=2.0) for seed in range(seeds)]
    search = Counting(CostLevelConfig(few(backend, 20, 2), recombine=False), backend)
    search.solve_batch(instances)
    assert sum(search.asked) == search.expanded > seeds * size


def test_batches_side_by_side_change_nothing() -> None:
    instances = [*generate(12, count=5, seed=1), *generate(7, count=4, seed=2)]
    whole = cs_p(HOST, beam=5).solve_batch(instances)
    news = []
    halves = cs_p(TwoAtOnce(), beam=5).solve_batch(instances, on_done=lambda done, total: news.append(done))
    assert [one.tour for one in halves] == [one.tour for one in whole]
    assert news == [5, 9]


class Waiting(PrizeCostLevelSearch):
    """Two batches: the first, of two instances, waits for the second to begin, and that one until it is to halt."""

    begun = threading.Event()
    halted = False

    def explore(self, problems: Problems, scorer: Scorer, watch: Watch, directions: int) -> Expander:
        if isinstance(watch, BatchClock) and not isinstance(watch.stop, Never):  # not while kernels are compiled
            if problems.batch == 2:
                assert self.begun.wait(timeout=30)
            else:
                self.begun.set()
                self.halted = watch.halt.wait(timeout=30)
        return super().explore(problems, scorer, watch, directions)


def test_an_error_of_the_listener_ends_the_other_batch_too() -> None:
    def complain(done: int, total: int) -> None:
        raise RuntimeError("no more")

    search = Waiting(CostLevelConfig(20), TwoAtOnce())
    with pytest.raises(RuntimeError, match="no more"):
        search.solve_batch(list(generate(8, count=3, seed=1)), MaxSteps(10**6), on_done=complain)
    assert search.halted


def test_times_of_batches_side_by_side_add_up() -> None:
    began = time.perf_counter()
    results = cs_p(TwoAtOnce()).solve_batch([*generate(40, count=1, seed=1), *generate(5, count=2, seed=2)])
    assert sum(one.seconds for one in results) <= time.perf_counter() - began


def test_of_equal_children_the_same_enter_whatever_else_is_in_the_batch(backend: Backend) -> None:
    rng = np.random.default_rng(1)
    small = [Instance(rng.integers(1, 4, (6, 6)), rng.integers(1, 3, 6), 8.0) for _ in range(few(backend, 60, 8))]
    large = small_instance("euclidean", few(backend, 40, 10), seed=1)
    narrow = cs_p(backend, beam=1, branch=1, recombine=few(backend, True, False))
    mixed = narrow.solve_batch([*small, large])[:-1]
    assert [one.tour for one in mixed] == [one.tour for one in narrow.solve_batch(small)]


class Accompanied(PrizeCostLevelSearch):
    """A search beside which a better route is found."""

    def beside(self, instances, over):  # type: ignore[no-untyped-def]
        best = [list(PrizeCostLevelSearch(CostLevelConfig(20)).solve(one).tour.nodes) for one in instances]
        return nullcontext(lambda: best)


def test_the_better_of_the_routes_found_side_by_side_counts() -> None:
    instances = [small_instance("euclidean", 30, seed) for seed in range(3)]
    alone, wide = (PrizeCostLevelSearch(CostLevelConfig(beam)).solve_batch(instances) for beam in (1, 20))
    narrow = Accompanied(CostLevelConfig(1))
    assert sum(one.prize for one in alone) < sum(one.prize for one in wide)
    best = [max(pair) for pair in zip((one.prize for one in alone), (one.prize for one in wide), strict=True)]
    assert [one.prize for one in narrow.solve_batch(instances)] == best
    assert [narrow.solve(one).prize for one in instances] == best
