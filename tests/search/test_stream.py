"""The loop of batches: every engine gives the results of `solve`, in order, whatever the sizes of tasks."""

from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orienteer import MaxSteps, Result, solve, solve_batch, solve_stream
from orienteer.data.generate import generate
from orienteer.data.npz import save_set
from orienteer.search.engines.here import Here
from orienteer.search.engines.job import Answer, Done, Halt, Job, Task
from orienteer.search.engines.sizes import FIRST_TOGETHER, MOST, TaskSizes, sizes_for
from orienteer.search.registry import make_solver
from orienteer.search.stream import InMemory, stream

SET = generate(8, count=25, seed=4)


def plain(results: list[Result]) -> list[object]:
    return [(one.plan, one.seed, one.status) for one in results]


@pytest.mark.parametrize("engine", ["here", "processes"])
def test_engines_give_the_results_of_solve(tmp_path: Path, engine: str) -> None:
    save_set(SET, tmp_path / "set.npz")
    alone = [solve(one, "random", MaxSteps(2), seed=7 + index) for index, one in enumerate(SET)]
    workers = 2 if engine == "processes" else None
    streamed = solve_stream(tmp_path / "set.npz", "random", MaxSteps(2), 7, engine=engine, workers=workers)
    assert plain(list(streamed)) == plain(alone)
    if engine == "here":
        told: list[tuple[int, int]] = []
        found = solve_batch(list(SET), "random", MaxSteps(2), 7, lambda *done: told.append(done), engine=engine)
        assert plain(found) == plain(alone)
        assert told == [(done, 25) for done in range(1, 26)]


def test_solvers_that_take_batches_get_them_whole() -> None:
    assert plain(list(solve_stream(SET, "cs-p", beam=3, device="cpu"))) == plain(
        solve_batch(SET, "cs-p", beam=3, device="cpu")
    )


def test_wrong_arguments_are_told_at_once() -> None:
    with pytest.raises(ValueError, match="engine must be one of here, processes, ray, got 'spark'"):
        solve_stream(SET, "tsili", engine="spark")
    with pytest.raises(ValueError, match="address goes with the engine ray, got 'here'"):
        solve_stream(SET, "tsili", engine="here", address="auto")


def test_results_before_an_error_come_first() -> None:
    mixed = [*generate(5, count=3), *generate(20)]
    found: list[Result] = []
    with pytest.raises(ValueError, match="enumerate is for at most 12"):
        found.extend(solve_stream(mixed, "enumerate"))
    assert len(found) == 3


class Scripted:
    """An engine of several workers that takes drawn times, and notes the tasks."""

    seconds, gpu = 1.0, False

    def __init__(self, workers: int, times: list[float]):
        self.workers, self.times, self.sizes = workers, times, list[int]()

    def run(self, job: Job[Answer], tasks: Iterator[Task], halt: Halt) -> Generator[Done[Answer], None, None]:
        for number, task in enumerate(tasks):
            count = len(task.instances)
            self.sizes.append(count)
            seconds = self.times[number % len(self.times)] * count
            yield Done(range(task.begin, task.begin + count), job.pack([]), count, seconds)

    def close(self) -> None:
        pass


@settings(max_examples=40)
@given(
    st.integers(1, 4),
    st.lists(st.floats(1e-6, 10), min_size=1, max_size=5),
    st.integers(0, 24),
    st.integers(0, 25),
)
def test_tasks_cover_all_instances_once(workers: int, times: list[float], begin: int, end: int) -> None:
    engine = Scripted(workers, times)
    numbers = range(begin, max(begin, end))
    done = list(stream(Job("random", list), InMemory(SET), numbers, engine, Halt()))
    assert [number for one in done for number in one.task] == list(numbers)
    if workers > 1:
        for one in done:
            assert len(one.task) <= -(-(numbers.stop - one.task.start) // (2 * workers))


def test_solvers_that_take_batches_begin_with_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """A single instance at a time would leave a GPU idle; the engine knows of GPUs that this machine does not have."""
    engine, beam = Scripted(2, [1.0]), make_solver("cs-p", device="cpu")
    assert sizes_for(make_solver("tsili"), engine).size == 1
    assert sizes_for(beam, engine).size == FIRST_TOGETHER
    monkeypatch.setattr(type(beam), "on_gpu", lambda self: True)
    assert sizes_for(beam, engine).size == MOST
    engine.gpu = True
    assert sizes_for(make_solver("auto"), engine).size == MOST


def test_sizes_follow_the_time() -> None:
    sizes = TaskSizes(seconds=1.0)
    assert sizes.size == 1
    for size in (2, 4, 8, 16):
        sizes.note(sizes.size, sizes.size * 0.001)
        assert sizes.size == size
    sizes.note(16, 3.2)
    assert sizes.size == 5
    sizes.note(5, 500.0)
    assert sizes.size == 1
    sizes.note(10**6, 1e-9)
    assert sizes.size == MOST
    sizes.note(0, 1.0)
    assert sizes.size == MOST


def test_a_halt_ends_between_instances() -> None:
    halt, done = Halt(), list[int]()

    def press(count: int) -> None:
        done.append(count)
        if len(done) == 6:
            halt.set()

    answers = list(stream(Job("random", list), InMemory(SET), range(25), Here(press), halt))
    assert sum(one.count for one in answers) == 6
    assert all(one.error is None for one in answers)
    told: list[str] = []
    halt.then(lambda: told.append("late"))
    assert told == ["late"]
