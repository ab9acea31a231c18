"""`orienteer batch`: a result for each problem of a set."""

from collections.abc import Iterator, Sequence
from typing import Any

import click

from orienteer.cli.interrupt import Interrupt
from orienteer.cli.options import SEARCH, check_npz, check_writable, configured, stop_of, with_options
from orienteer.cli.pool import solve_in_processes
from orienteer.cli.progress import Bar
from orienteer.model.instance import Instance
from orienteer.model.result import Result
from orienteer.search.cores import set_cores
from orienteer.search.solver import AnySolver
from orienteer.search.stop import AnyOf, Never, Stop

INTERRUPTED = 130


@click.command()
@click.argument("file", type=click.Path(), metavar="SET.npz")
@with_options(*SEARCH)
@click.option("--count", type=click.IntRange(min=1), metavar="N", help="Only the first N instances.")
@click.option("--workers", type=click.IntRange(min=1), metavar="W", help="Processes; threads for beams and networks.")
@click.option("--out", type=click.Path(), required=True, metavar="RESULT.npz", help="Where the results go.")
def batch(
    file: str,
    solver: str,
    seconds: float | None,
    steps: int | None,
    seed: int,
    device: str,
    beam: int | None,
    tau: float | None,
    weights: str | None,
    score: str | None,
    more: Sequence[str],
    count: int | None,
    workers: int | None,
    out: str,
) -> int:
    """Solve all problems of a set.

    Writes prizes, costs, seconds and tours. The i-th problem, counted from 0, gets the seed N + i. Ctrl-C writes the
    results that are finished, from the first on without a gap, and exits with status 130.
    """
    from orienteer.data.files import InstanceSet, read_set

    check_writable(out, file)
    check_npz(out)
    stop = stop_of(seconds, steps)
    instances = read_set(file)[:count]
    if isinstance(instances, InstanceSet):
        instances.check()  # now, since an error after hours of work would be worse
    named = {"beam": beam, "tau": tau, "weights": weights, "score": score}
    method, settings = configured(solver, device, named, more)
    results: list[Result] = []
    try:
        with Bar() as bar:
            for result in _answers(solver, method, settings, instances, stop, seed, workers, bar):
                results.append(result)
                bar.batch(len(results), len(instances))
    except Exception:  # hours of work must not be lost because a single instance fails
        if results:
            _save(results, instances, out)
        raise
    _save(results, instances, out)
    return 0 if len(results) == len(instances) else INTERRUPTED


def _answers(
    name: str,
    method: AnySolver,
    settings: dict[str, Any],
    instances: Sequence[Instance],
    stop: Stop | None,
    seed: int,
    workers: int | None,
    bar: Bar,
) -> Iterator[Result]:
    """The results in the order of the instances; after Ctrl-C only those that were finished."""
    if method.takes_batches():
        return _at_once(method, instances, stop, seed, workers, bar)
    if workers is not None and workers > 1 and len(instances) > 1:
        return solve_in_processes(name, settings, instances, stop, seed, workers)
    return _one_by_one(method, instances, stop, seed)


def _one_by_one(method: AnySolver, instances: Sequence[Instance], stop: Stop | None, seed: int) -> Iterator[Result]:
    with Interrupt() as interrupt:
        for index, instance in enumerate(instances):
            until = AnyOf(method.default_stop(instance) if stop is None else stop, interrupt)
            result = method.solve(instance, until, seed=seed + index)
            if interrupt.pressed:
                return
            yield result


def _at_once(
    method: AnySolver, instances: Sequence[Instance], stop: Stop | None, seed: int, threads: int | None, bar: Bar
) -> Iterator[Result]:
    """The results of a solver that takes many instances at a time; after Ctrl-C, those it had reported as done."""
    if threads is not None:
        set_cores(threads)
    finished = 0

    def on_done(done: int, total: int) -> None:
        nonlocal finished
        if not interrupt.pressed:
            finished = done
        bar.batch(done, total)

    with Interrupt() as interrupt:
        results = method.solve_batch(instances, AnyOf(stop or Never(), interrupt), seed=seed, on_done=on_done)
    yield from results[:finished] if interrupt.pressed else results


def _save(results: Sequence[Result], instances: Sequence[Instance], out: str) -> None:
    from orienteer.data.files import write_results

    if results:
        write_results(results, out)
        found = [result.prize for result in results if result.plan is not None]
        prize = f"mean prize {sum(found) / len(found):.6g}" if found else "no plans"
        without = f", {len(results) - len(found)} without a plan" if 0 < len(found) < len(results) else ""
        seconds = sum(result.seconds for result in results) / len(results)
        click.echo(f"{len(results)} instances, {prize}{without}, {seconds:.4g} s each: {out}")
    if len(results) < len(instances):
        which = f"only the first {len(results)} of {len(instances)} were solved" if results else "nothing was written"
        click.echo(f"orienteer: ended early: {which}", err=True)
