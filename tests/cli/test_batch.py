"""`orienteer batch`: the file it writes, alone or with helpers, whole or cut short."""

import signal
from pathlib import Path

import numpy as np
import pytest

from command_line import TOWN, Cli, Script, Scripted, die, first_quickly
from orienteer import MaxSteps, check_tour, solve
from orienteer.cli import batch
from orienteer.data.files import read_results, read_set, write_set
from orienteer.data.generate import generate
from orienteer.search.engines import processes
from orienteer.search.run import Run
from orienteer.search.solver import Solver


@pytest.fixture
def set_file(tmp_path: Path) -> Path:
    path = tmp_path / "set.npz"
    write_set(generate(n=8, limit=2, count=6, seed=1), path)
    return path


def test_results_are_the_routes_of_the_set(cli: Cli, set_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "result.npz"
    status, said, err = cli("batch", set_file, "--solver", "tsili", "--out", out)
    assert (status, err) == (0, "")
    arrays = np.load(out)
    assert sorted(arrays) == ["cost", "prize", "seconds", "tour"]
    assert arrays["tour"].dtype == np.int32
    assert len(arrays["prize"]) == 6
    for instance, prize, cost, row in zip(
        read_set(set_file), arrays["prize"], arrays["cost"], arrays["tour"], strict=True
    ):
        tour = check_tour(instance, [node for node in row if node >= 0])
        assert (tour.prize, tour.cost) == (prize, cost)
    assert said.startswith(f"6 instances, mean prize {arrays['prize'].mean():.6g}, ")


def test_count_takes_the_first(cli: Cli, set_file: Path, tmp_path: Path) -> None:
    cli("batch", set_file, "--solver", "tsili", "--out", tmp_path / "all.npz")
    cli("batch", set_file, "--solver", "tsili", "--count", "2", "--out", tmp_path / "two.npz")
    cli("batch", set_file, "--solver", "tsili", "--count", "99", "--out", tmp_path / "many.npz")
    every, two = read_results(tmp_path / "all.npz"), read_results(tmp_path / "two.npz")
    assert two.prize.tolist() == every.prize[:2].tolist()
    assert len(read_results(tmp_path / "many.npz")) == 6


def test_each_instance_has_its_own_seed(cli: Cli, set_file: Path, tmp_path: Path) -> None:
    cli("batch", set_file, "--solver", "random", "--seed", "7", "--steps", "2", "--out", tmp_path / "r.npz")
    results = read_results(tmp_path / "r.npz")
    for index, instance in enumerate(read_set(set_file)):
        alone = solve(instance, "random", MaxSteps(2), seed=7 + index)
        assert results.route(index) == list(alone.tour.nodes)


def test_workers_change_nothing(cli: Cli, set_file: Path, tmp_path: Path) -> None:
    for workers, name in ((1, "one.npz"), (2, "two.npz")):
        said = cli(
            "batch", set_file, "--solver", "random", "--steps", "3", "--workers", workers, "--out", tmp_path / name
        )
        assert (said.status, said.err) == (0, "")
    one, two = read_results(tmp_path / "one.npz"), read_results(tmp_path / "two.npz")
    for field in ("prize", "cost", "tour"):
        np.testing.assert_array_equal(getattr(one, field), getattr(two, field))


def test_an_error_in_a_worker_is_one_line(cli: Cli, tmp_path: Path) -> None:
    write_set(generate(n=20, count=3), tmp_path / "set.npz")
    out = tmp_path / "r.npz"
    status, said, err = cli("batch", tmp_path / "set.npz", "--solver", "enumerate", "--workers", "2", "--out", out)
    assert (status, said) == (2, "")
    assert err.startswith("orienteer: enumerate is for at most 12 ")
    assert err.count("\n") == 1
    assert not out.exists()


def test_a_worker_that_dies_is_one_line(
    cli: Cli, set_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "_do", die)
    status, _, err = cli("batch", set_file, "--solver", "random", "--workers", "2", "--out", tmp_path / "r.npz")
    assert status == 2
    assert err == "orienteer: a worker process died, perhaps for lack of memory; try fewer --workers\n"


def test_a_bad_instance_is_told_before_the_search(cli: Cli, set_file: Path, tmp_path: Path) -> None:
    arrays = dict(np.load(set_file))
    np.savez(set_file, **arrays | {"prizes": arrays["prizes"] * [[1], [1], [1], [-1], [1], [1]]})
    out = tmp_path / "r.npz"
    status, said, err = cli("batch", set_file, "--solver", "tsili", "--out", out)
    assert (status, said) == (2, "")
    assert err.startswith(f"orienteer: {set_file}: instance 3: prizes[1] must not be negative, got -")
    assert not out.exists()
    assert cli("batch", set_file, "--solver", "tsili", "--count", "3", "--out", out).status == 0


def test_what_was_solved_before_an_error_is_kept(cli: Cli, set_file: Path, tmp_path: Path, scripted: Script) -> None:
    calls = []

    def fail_at_third(run: Run) -> None:
        if run.steps == 0:
            calls.append(run)
        if len(calls) == 3:
            raise ValueError("this one is too hard")

    scripted(fail_at_third)
    status, out, err = cli("batch", set_file, "--solver", "scripted", "--steps", "2", "--out", tmp_path / "r.npz")
    assert status == 2
    assert out.startswith("2 instances, ")
    assert err.splitlines() == [
        "orienteer: ended early: only the first 2 of 6 were solved",
        "orienteer: this one is too hard",
    ]
    assert len(read_results(tmp_path / "r.npz")) == 2


def test_interrupt_keeps_the_finished_ones(cli: Cli, set_file: Path, tmp_path: Path, scripted: Script) -> None:
    calls = []

    def interrupt_at_third(run: Run) -> None:
        calls.append(run.steps)
        if calls.count(0) == 3 and run.steps == 1:
            signal.raise_signal(signal.SIGINT)

    scripted(interrupt_at_third)
    status, _, err = cli("batch", set_file, "--solver", "scripted", "--steps", "5", "--out", tmp_path / "r.npz")
    assert status == 130
    assert err == "orienteer: ended early: only the first 2 of 6 were solved\n"
    assert calls == [0, 1, 2, 3, 4] * 2 + [0, 1]
    assert len(read_results(tmp_path / "r.npz")) == 2


def test_interrupt_before_the_first_writes_nothing(cli: Cli, set_file: Path, tmp_path: Path, scripted: Script) -> None:
    scripted(lambda run: signal.raise_signal(signal.SIGINT))
    said = cli("batch", set_file, "--solver", "scripted", "--out", tmp_path / "r.npz")
    assert said == (130, "", "orienteer: ended early: nothing was written\n")
    assert not (tmp_path / "r.npz").exists()


def test_interrupt_reaches_the_workers(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C after the first answer: the others, which would run for minutes, are cut short and left out."""
    write_set(generate(n=30, count=3), tmp_path / "set.npz")
    show = batch.Bar.batch

    def press(bar: batch.Bar, done: int, total: int) -> None:
        show(bar, done, total)
        if done == 1:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(batch.Bar, "batch", press)
    monkeypatch.setattr(processes, "_do", first_quickly)
    status, _, err = cli(
        "batch", tmp_path / "set.npz", "--solver", "random", "--workers", "2", "--out", tmp_path / "r.npz"
    )
    assert status == 130
    assert err == "orienteer: ended early: only the first 1 of 3 were solved\n"
    assert len(read_results(tmp_path / "r.npz")) == 1


def test_a_batched_solver_gets_the_whole_set(
    cli: Cli, set_file: Path, tmp_path: Path, scripted: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def solve_batch(self, instances, stop=None, *, seed=0, on_done=None):  # type: ignore[no-untyped-def]
        seen.append((len(instances), seed))
        results = Solver.solve_batch(self, instances[:4], stop, seed=seed, on_done=on_done)
        signal.raise_signal(signal.SIGINT)
        return results + Solver.solve_batch(self, instances[4:], stop, seed=seed, on_done=on_done)

    scripted(lambda run: None)
    monkeypatch.setattr(Scripted, "solve_batch", solve_batch)
    status = cli("batch", set_file, "--solver", "scripted", "--seed", "3", "--out", tmp_path / "r.npz").status
    assert seen == [(6, 3)]
    assert status == 130
    assert len(read_results(tmp_path / "r.npz")) == 4


def test_problems_with_several_routes_and_without_a_plan(cli: Cli, tmp_path: Path, scripted: Script) -> None:
    """The scripted solver knows a plan of the second problem alone, which has two routes."""
    town = TOWN.replace(windows={"mill": (0, 3)})
    write_set([town, town.replace(routes=2), town], tmp_path / "set.npz")
    scripted(lambda run: run.offer_plan([[0, 1, 2, 0], [0, 3, 0]]) if len(run.problem.each_route) == 2 else None)
    status, out, _ = cli(
        "batch", tmp_path / "set.npz", "--solver", "scripted", "--steps", 2, "--out", tmp_path / "r.npz"
    )
    assert status == 0
    assert out.startswith("3 instances, mean prize 7.5, 2 without a plan, ")
    read = read_results(tmp_path / "r.npz")
    assert read.tour.shape == (3, 2, 4)
    assert np.isnan(read.prize).tolist() == [True, False, True]
    assert [read.routes(index) for index in range(3)] == [[], [[0, 1, 2, 0], [0, 3, 0]], []]
    with pytest.raises(ValueError, match="instance 1 has 2 routes, not one"):
        read.route(1)
    assert cli("check", tmp_path / "set.npz", tmp_path / "r.npz", "--index", 1).status == 0
    assert "no plan for instance 0" in cli("check", tmp_path / "set.npz", tmp_path / "r.npz", "--index", 0).err
