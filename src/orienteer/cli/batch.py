"""`orienteer batch`: a result for each problem of a set."""

import contextlib
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orienteer.cli.interrupt import Interrupt
from orienteer.cli.options import SEARCH, check_npz, check_writable, configured, names_folder, stop_of, with_options
from orienteer.cli.progress import Bar
from orienteer.model.errors import BadFile
from orienteer.search.engines.choice import ENGINES, choose_engine
from orienteer.search.engines.job import Halt, Job
from orienteer.search.solver import AnySolver
from orienteer.search.stream import InMemory, Source, stream
from orienteer.version import __version__

if TYPE_CHECKING:
    from orienteer.data.npz import BatchResult
    from orienteer.data.result_parts import ResultParts

INTERRUPTED = 130


@click.command()
@click.argument("file", type=click.Path(), metavar="SET")
@with_options(*SEARCH)
@click.option("--count", type=click.IntRange(min=1), metavar="N", help="Only the first N instances.")
@click.option("--workers", type=click.IntRange(min=1), metavar="W", help="Processes; threads for beams and networks.")
@click.option("--engine", type=click.Choice(ENGINES), help="Where to solve.  [default: by --workers]")
@click.option("--address", metavar="HOST:PORT", help="The Ray cluster of --engine ray.  [default: this machine]")
@click.option("--out", type=click.Path(), required=True, metavar="RESULT", help="Where the results go: .npz or folder.")
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
    engine: str | None,
    address: str | None,
    out: str,
) -> int:
    """Solve all problems of a set.

    SET is a file SET.npz, a folder of such files, or a pattern in quotes; it may be larger than memory. Prizes, costs,
    seconds and tours go to one file RESULT.npz, or, as they come, to files in a folder. The i-th problem, counted from
    0, gets the seed N + i.

    Ctrl-C writes the results that are finished, from the first on without a gap, and exits with status 130. After that,
    or after a kill, the same command goes on where it ended.
    """
    from orienteer.data.npz import BatchResult
    from orienteer.data.result_parts import ResultParts

    single = not names_folder(out)
    _check_out(out, file, single)
    stop = stop_of(seconds, steps)
    source, fingerprint = _opened(file)
    total = len(source) if count is None else min(count, len(source))
    named = {"beam": beam, "tau": tau, "weights": weights, "score": score}
    method, settings = configured(solver, device, named, more)
    command = {
        "set": fingerprint,
        "solver": solver,
        "settings": settings,
        "weights": _digest_of(settings.get("weights")),
        "seconds": seconds,
        "steps": steps,
        "seed": seed,
        "version": __version__,
    }
    job = Job(solver, BatchResult.of, settings, stop, seed)
    with ResultParts(f"{out}.parts" if single else out, command, total) as parts:
        if not single:
            parts.make()
        try:
            _solve(job, method, source, parts, engine, workers, address)
        except Exception:  # hours of work must not be lost because a single instance fails
            if len(parts):
                _finish(parts, out, single)
            raise
        _finish(parts, out, single)
    return 0 if len(parts) == total else INTERRUPTED


def _check_out(out: str, file: str, single: bool) -> None:
    """Raises `BadFile` if results cannot be written to `out`."""
    if single:
        check_writable(out, file)
        check_npz(out)
    elif Path(out).exists() and Path(file).exists() and Path(out).samefile(file):
        raise BadFile(out, "cannot be written: it is also read by this command")


def _opened(file: str) -> tuple[Source, str]:
    """The instances of a file or folder, and a digest that tells whether they are the same in another run."""
    from orienteer.data.files import format_of, read
    from orienteer.data.stored_set import open_set

    if format_of(file) == "npz":
        found = open_set(file)
        return found, found.fingerprint()
    return InMemory([read(file)]), _digest(file)


def _digest_of(weights: str | None) -> str | None:
    """A digest of a file of weights; None for shipped ones, which come with the version."""
    return _digest(weights) if weights and Path(weights).is_file() else None


def _digest(file: str) -> str:
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _solve(
    job: "Job[BatchResult]",
    method: AnySolver,
    source: Source,
    parts: "ResultParts",
    engine: str | None,
    workers: int | None,
    address: str | None,
) -> None:
    """Adds the results that are missing, up to Ctrl-C, or raises the error of an instance."""
    missing, halt = parts.missing(), Halt()
    for numbers in missing:
        source.check(numbers.start, numbers.stop)  # now, since an error after hours of work would be worse
    with Bar(begun=len(parts) / parts.instances) as bar, Interrupt(on_press=halt.set):
        at = choose_engine(engine, method, workers, address, lambda done: bar.batch(len(parts) + done, parts.instances))
        with contextlib.closing(at):
            for numbers in missing:
                for done in stream(job, source, numbers, at, halt, method):
                    if done.count:
                        parts.add(done.task.start, done.answer)
                        bar.batch(len(parts), parts.instances)
                    if done.error is not None:
                        raise done.error
                if halt():
                    return


def _finish(parts: "ResultParts", out: str, single: bool) -> None:
    """Writes what there is, and says what it is."""
    complete, totals = len(parts) == parts.instances, parts.totals
    if not (single and complete):
        parts.flush()  # for the next run, which goes on
    if single:
        parts.join(out)
        if complete:
            parts.remove()
    if totals.count:
        prize = f"mean prize {totals.prize / totals.found:.6g}" if totals.found else "no plans"
        without = f", {totals.count - totals.found} without a plan" if 0 < totals.found < totals.count else ""
        click.echo(f"{totals.count} instances, {prize}{without}, {totals.seconds / totals.count:.4g} s each: {out}")
    if not complete:
        which = (
            f"only the first {totals.count} of {parts.instances} were solved" if totals.count else "nothing was written"
        )
        click.echo(f"orienteer: ended early: {which}", err=True)
