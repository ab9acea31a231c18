"""`orienteer bench`: experiments that can be run again, each with one command."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orienteer.cli.group import InOrder
from orienteer.cli.options import DEVICE, SEED, with_options
from orienteer.core.errors import OrienteerError

if TYPE_CHECKING:
    from orienteer.bench.methods import Method

FOLDER = click.Path(file_okay=False, path_type=Path)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
COUNT = click.IntRange(min=1)
SECONDS = click.FloatRange(min=0, min_open=True)

SEED_OPTION = click.option("--seed", type=SEED, default=2021, metavar="N", help="Of the instances.  [default: 2021]")
OUT = click.option("--out", type=FOLDER, required=True, metavar="DIR", help="Folder of instances, results and tables.")
RUN = (
    click.option("--device", type=DEVICE, default="auto", help="For methods that can use a GPU.  [default: auto]"),
    click.option("--threads", type=COUNT, default=1, help="Of networks and beams on a CPU.  [default: 1]"),
    OUT,
)


@click.group(cls=InOrder)
def bench() -> None:
    """Run an experiment again: the paper's tables and figures, benchmark files, other solvers.

    Every result is kept in the folder as soon as it is there: a run that was interrupted or killed goes on where it
    stopped, and a new method costs only itself.
    """


@bench.command()
@click.option("--count", type=COUNT, default=200, metavar="N", help="Instances a cell.  [default: 200]")
@click.option("--prizes", default="constant,uniform,distance", metavar="KIND,...", help="[default: all three]")
@click.option("--sizes", default="20,50,100", metavar="N,...", help="[default: 20,50,100]")
@click.option("--methods", metavar="NAME[,KEY=VALUE...],...", help="Rows of the table.  [default: all]")
@click.option("--seconds", type=SECONDS, metavar="S", help="For lns and auto.  [default: their own, by size]")
@SEED_OPTION
@click.option("--shard", default="1/1", metavar="I/N", help="Only the I-th of N parts of the instances.")
@click.option("--data", type=FOLDER, help="Folder of PRIZES_N.npz to use instead of drawn instances.")
@click.option("--optimum", type=FILE, metavar="CSV", help="Proven optima: columns set, index, prize.")
@with_options(*RUN)
def paper(
    count: int,
    prizes: str,
    sizes: str,
    methods: str | None,
    seconds: float | None,
    seed: int,
    shard: str,
    data: Path | None,
    optimum: Path | None,
    device: str,
    threads: int,
    out: Path,
) -> None:
    """The paper's comparison table, its figures beside ours.

    A method is a solver's name, followed by settings if others than its own are wished: lns,seconds=0.5,cs-p,beam=20.
    cs-paper is the paper's search with its kind of network. Shards may share a folder; `orienteer bench merge` makes
    their table.
    """
    from orienteer.bench.methods import parse_methods
    from orienteer.bench.paper import ANYTIME, NAMED, default_methods, run_paper
    from orienteer.bench.paper_report import Spec
    from orienteer.bench.run import Shard
    from orienteer.bench.summary import read_optima
    from orienteer.cli.progress import Bar

    named = NAMED if seconds is None else {**NAMED, **{name: f"{name},seconds={seconds}" for name in ANYTIME}}
    chosen = parse_methods(methods or default_methods(), named, device)
    spec = Spec(_kinds(prizes), _numbers("--sizes", sizes), count, seed)
    part = Shard.parse(shard)
    known = {} if optimum is None else read_optima(optimum)
    _threads(threads, chosen)
    with Bar() as bar:
        report = run_paper(out, chosen, spec, bar.batch, part, data, known)
    if report is None:
        click.echo(f"shard {shard} is done; when all are: orienteer bench merge DIR... --out DIR")
        return
    _finish(out, report.failures, report.notes)


@bench.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--optimum", type=FILE, metavar="CSV", help="Proven optima: columns set, index, prize.")
@click.option("--out", type=FOLDER, metavar="DIR", help="Where all goes.  [default: the only folder]")
def merge(folders: Sequence[Path], optimum: Path | None, out: Path | None) -> None:
    """One table from the shards of `orienteer bench paper`."""
    from orienteer.bench.paper import merge as put_together
    from orienteer.bench.summary import read_optima

    if out is None and len(folders) > 1:
        raise ValueError("--out must say where the results of several folders go")
    target = folders[0] if out is None else out
    report = put_together(folders, target, {} if optimum is None else read_optima(optimum))
    _finish(target, report.failures, report.notes)


def _kinds(text: str) -> tuple[str, ...]:
    from orienteer.data.generate import PRIZES

    kinds = tuple(word.strip() for word in text.split(","))
    for kind in kinds:
        if kind not in PRIZES:
            raise ValueError(f"--prizes must be some of {', '.join(PRIZES)}, got {kind!r}")
    return tuple(dict.fromkeys(kinds))


def _numbers(option: str, text: str, kind: type = int) -> tuple[int, ...]:
    try:
        found = tuple(kind(word) for word in text.split(","))
    except ValueError:
        raise ValueError(f"{option} must be numbers with commas between them, got {text!r}") from None
    if any(one <= 0 for one in found):
        raise ValueError(f"{option} must be above 0, got {text!r}")
    return tuple(dict.fromkeys(found))


def _threads(threads: int, methods: Sequence["Method"]) -> None:
    """Lets torch use so many cores; times are told apart by shards, not by threads."""
    if any("device" in method.settings for method in methods):
        import torch

        torch.set_num_threads(threads)


def _finish(out: Path, failures: Sequence[str], notes: Sequence[str]) -> None:
    """Shows the table, and ends with an error where a method failed: no failure passes for a result."""
    click.echo((out / "table.md").read_text())
    click.echo(f"written: {', '.join(str(path) for path in sorted(out.glob('table.*')) + sorted(out.glob('*.png')))}")
    if failures:
        more = f" and {len(failures) - 1} more" if len(failures) > 1 else ""
        raise OrienteerError(f"{failures[0]}{more}; all are listed below the tables")
