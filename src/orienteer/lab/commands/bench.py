"""`orienteer bench`: experiments that can be run again, each with one command."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orienteer.cli.group import InOrder
from orienteer.cli.options import DEVICE, SEED, look_here, positive_numbers, with_options
from orienteer.model.errors import OrienteerError

if TYPE_CHECKING:
    from orienteer.lab.bench.methods import Method
    from orienteer.lab.bench.sets import NamedSet

FOLDER = click.Path(file_okay=False, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)
COUNT = click.IntRange(min=1)
SECONDS = click.FloatRange(min=0, min_open=True)

VARIANTS = Path("..", "shared", "data", "variants")

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

    Every result is written to the folder at once: a run that was interrupted or killed goes on where it
    stopped, and a new method costs only itself.
    """


@bench.command()
@click.option("--count", type=COUNT, default=200, metavar="N", help="Instances a cell.  [default: 200]")
@click.option("--prizes", default="constant,uniform,distance", metavar="KIND,...", help="[default: all three]")
@click.option("--sizes", default="20,50,100", metavar="N,...", help="[default: 20,50,100]")
@click.option(
    "--methods",
    default="all",
    metavar="NAME[,KEY=VALUE...],...",
    help="Rows of the table; all stands for those that ship.  [default: all]",
)
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
    methods: str,
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
    all,an-dqn,weights=FILE is the whole table, and below it a network of your own.
    cs-paper is the paper's search with its kind of network. Shards may share a folder; `orienteer bench merge` makes
    their table.
    """
    from orienteer.cli.progress import Bar
    from orienteer.lab.bench.paper import ANYTIME, NAMED, run_paper
    from orienteer.lab.bench.paper_report import Spec
    from orienteer.lab.bench.run import Shard
    from orienteer.lab.bench.summary import read_optima

    spec = Spec(_kinds(prizes), _numbers("--sizes", sizes), count, seed)
    part = Shard.parse(shard)
    known = {} if optimum is None else read_optima(optimum)
    named = NAMED if seconds is None else {**NAMED, **{name: f"{name},seconds={seconds}" for name in ANYTIME}}
    chosen = _methods(_all_named(methods), named, device)
    _threads(threads)
    with Bar() as bar:
        report = run_paper(out, chosen, spec, bar.batch, part, data, known)
    if report is None:
        click.echo(f"shard {shard} is done; when all are: orienteer bench merge {out}")
        click.echo("or, where they have folders of their own: orienteer bench merge DIR DIR... --out DIR")
        return
    _finish(out, report.failures)


@bench.command()
@click.argument("folders", nargs=-1, required=True, type=FOLDER)
@click.option("--optimum", type=FILE, metavar="CSV", help="Proven optima: columns set, index, prize.")
@click.option("--out", type=FOLDER, metavar="DIR", help="Where all goes.  [default: the only folder]")
def merge(folders: Sequence[Path], optimum: Path | None, out: Path | None) -> None:
    """One table from the shards of `orienteer bench paper`."""
    from orienteer.lab.bench.paper import merge as put_together
    from orienteer.lab.bench.summary import read_optima

    if out is None and len(folders) > 1:
        raise ValueError("--out must say where the results of several folders go")
    target = folders[0] if out is None else out
    report = put_together(folders, target, {} if optimum is None else read_optima(optimum))
    _finish(target, report.failures)


@bench.command()
@click.option("--n", "nodes", type=COUNT, default=100, metavar="N", help="Prized nodes.  [default: 100]")
@click.option("--prizes", default="uniform", metavar="KIND", help="[default: uniform]")
@click.option("--count", type=COUNT, default=20, metavar="N", help="Instances.  [default: 20]")
@click.option("--beams", default="5,10,20,50", metavar="K,...", help="Widths of a queue.  [default: 5,10,20,50]")
@click.option("--taus", default="0.05,0.1,0.2", metavar="F,...", help="Widths of a level.  [default: 0.05,0.1,0.2]")
@click.option("--weights", default="", metavar="NAME|FILE", help="The network.  [default: that of cs-l]")
@SEED_OPTION
@with_options(*RUN)
def beam(
    nodes: int,
    prizes: str,
    count: int,
    beams: str,
    taus: str,
    weights: str,
    seed: int,
    device: str,
    threads: int,
    out: Path,
) -> None:
    """Prize and time against K and tau, beside step-by-step beams that look as often."""
    from orienteer.cli.progress import Bar
    from orienteer.lab.bench.beam import run_beam
    from orienteer.lab.bench.sets import random_set

    widths, steps = _numbers("--beams", beams), _reals("--taus", taus)
    one = random_set(out / "instances", _kinds(prizes)[0], nodes, count, seed)
    _threads(threads)
    with Bar() as bar:
        report = run_beam(out, one, widths, steps, weights, device, bar.batch)
    _finish(out, report.failures)


@bench.command()
@click.option("--n", "nodes", type=COUNT, default=50, metavar="N", help="Prized nodes.  [default: 50]")
@click.option("--prizes", default="distance", metavar="KIND", help="[default: distance]")
@click.option("--count", type=COUNT, default=2, metavar="N", help="Instances.  [default: 2]")
@click.option("--methods", default="an-dqn,cs-p,cs-l", help="Columns.  [default: an-dqn,cs-p,cs-l]")
@SEED_OPTION
@with_options(*RUN)
def figures(nodes: int, prizes: str, count: int, methods: str, seed: int, device: str, threads: int, out: Path) -> None:
    """The routes of AN-dqn, CS-p and CS side by side, as in the paper."""
    from orienteer.cli.progress import Bar
    from orienteer.lab.bench.paper import NAMED
    from orienteer.lab.bench.routes import run_figures
    from orienteer.lab.bench.sets import random_set
    from orienteer.plot import check_picture

    check_picture("routes.png")
    chosen = _methods(methods, NAMED, device)
    one = random_set(out / "instances", _kinds(prizes)[0], nodes, count, seed)
    _threads(threads)
    with Bar() as bar:
        path, report = run_figures(out, chosen, one, bar.batch)
    _complain(report.failures)
    for row in report.summaries:
        click.echo(f"{row.method}: mean prize {row.prize:.4g}")
    click.echo(f"picture: {path}")


@bench.command()
@click.option("--weights", multiple=True, metavar="NAME|FILE", help="A network; repeatable.  [default: that of cs-l]")
@click.option("--sizes", default="100,200,500", metavar="N,...", help="[default: 100,200,500]")
@click.option("--prizes", default="distance", metavar="KIND", help="[default: distance]")
@click.option("--count", type=COUNT, default=10, metavar="N", help="Instances a size.  [default: 10]")
@click.option("--seconds", type=SECONDS, metavar="S", help="For lns.  [default: its own, by size]")
@SEED_OPTION
@with_options(*RUN)
def generalization(
    weights: Sequence[str],
    sizes: str,
    prizes: str,
    count: int,
    seconds: float | None,
    seed: int,
    device: str,
    threads: int,
    out: Path,
) -> None:
    """Networks on sizes that they were not trained for, beside lns."""
    from orienteer.cli.progress import Bar
    from orienteer.lab.bench.generalization import run_generalization
    from orienteer.lab.bench.sets import random_set

    kind = _kinds(prizes)[0]
    sets = [random_set(out / "instances", kind, nodes, count, seed) for nodes in _numbers("--sizes", sizes)]
    _threads(threads)
    with Bar() as bar:
        report = run_generalization(out, weights, sets, device, seconds, bar.batch)
    _finish(out, report.failures)


@bench.command()
@click.option("--set", "file", type=FILE, metavar="SET.npz", help="Instances to use instead of drawn ones.")
@click.option("--sizes", default="100", metavar="N,...", help="[default: 100]")
@click.option("--prizes", default="uniform,distance", metavar="KIND,...", help="[default: uniform,distance]")
@click.option("--count", type=COUNT, default=30, metavar="N", help="Instances a set.  [default: 30]")
@click.option("--seconds", type=SECONDS, default=1.0, metavar="S", help="For each instance.  [default: 1]")
@click.option(
    "--methods",
    metavar="NAME[,KEY=VALUE...],...",
    help="Ours, with the same seconds.  [default: lns; auto for --plans]",
)
@click.option("--plans", type=click.Choice(["top", "toptw"]), help="Published plans instead, beside PyVRP alone.")
@click.option("--data", type=FOLDER, help="For --plans: their folder.  [default: ../shared/data/variants]")
@click.option("--workers", type=COUNT, default=1, metavar="N", help="For --plans: files side by side.  [default: 1]")
@click.option("--judge", type=FILE, metavar="PROGRAM", help="For --plans: a judge_plan.py that looks at all plans too.")
@SEED_OPTION
@with_options(*RUN)
def peers(
    file: Path | None,
    sizes: str,
    prizes: str,
    count: int,
    seconds: float,
    methods: str | None,
    plans: str | None,
    data: Path | None,
    workers: int,
    judge: Path | None,
    seed: int,
    device: str,
    threads: int,
    out: Path,
) -> None:
    """PyVRP, OR-Tools and VROOM on the same instances, where they are installed (extra `peers`).

    With --plans: --count files of team orienteering, plain (top) or with opening hours (toptw), at equal distances in
    the table of best known values; each is solved by auto and by PyVRP on one core, with seed 1.
    """
    from orienteer.cli.progress import Bar
    from orienteer.lab.bench.paper import ANYTIME
    from orienteer.lab.bench.peers import run_peers

    ours = _methods(
        methods or ("lns" if plans is None else "auto"), {name: f"{name},seconds={seconds}" for name in ANYTIME}, device
    )
    if plans is not None:
        _plan_peers(out, plans, data, count, seconds, ours, workers, judge)
        return
    sets = _sets(file, out, prizes, sizes, count, seed)
    _threads(threads)
    with Bar() as bar:
        report = run_peers(out, ours, sets, seconds, bar.batch)
    _finish(out, report.failures)


@bench.command()
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@click.option("--methods", default="auto", metavar="NAME[,KEY=VALUE...],...", help="Rows.  [default: auto]")
@click.option("--count", type=COUNT, metavar="N", help="Only the first N instances of each set.")
@click.option("--beside", type=FILE, metavar="CSV", help="Another program's figures: columns set, index, prize.")
@click.option("--routes", is_flag=True, help="Write all routes as NPZ, for a judge.")
@with_options(*RUN)
def sets(
    files: Sequence[Path],
    methods: str,
    count: int | None,
    beside: Path | None,
    routes: bool,
    device: str,
    threads: int,
    out: Path,
) -> None:
    """Any methods on any NPZ sets or single problems, with another program's figures beside them."""
    from orienteer.cli.progress import Bar
    from orienteer.lab.bench.compare import compare
    from orienteer.lab.bench.sets import named_set

    chosen = _methods(methods, {}, device)
    given = [named_set(file, count) for file in files]
    _threads(threads)
    with Bar() as bar:
        others = {} if beside is None else {beside.name: beside}
        report = compare(out, "Methods on sets", chosen, given, bar.batch, beside=others, routes=routes)
    _finish(out, report.failures)


@bench.command()
@click.option("--set", "file", type=FILE, metavar="SET.npz", help="Instances to use instead of drawn ones.")
@click.option("--sizes", default="100", metavar="N,...", help="[default: 100]")
@click.option("--prizes", default="uniform", metavar="KIND,...", help="[default: uniform]")
@click.option("--count", type=COUNT, default=20, metavar="N", help="Instances a panel.  [default: 20]")
@click.option("--methods", metavar="NAME[,KEY=VALUE...],...", help="Curves.  [default: all]")
@click.option("--optimum", type=FILE, metavar="CSV", help="Proven optima: columns set, index, prize.")
@SEED_OPTION
@with_options(*RUN)
def gap(
    file: Path | None,
    sizes: str,
    prizes: str,
    count: int,
    methods: str | None,
    optimum: Path | None,
    seed: int,
    device: str,
    threads: int,
    out: Path,
) -> None:
    """The gap to the proven optimum against time, all methods in one picture.

    Instances are solved one at a time, each method alone; the picture follows the improvements of every run.
    """
    from orienteer.cli.progress import Bar
    from orienteer.lab.bench.gap import run_gap
    from orienteer.lab.bench.paper import NAMED, default_methods
    from orienteer.lab.bench.summary import read_optima
    from orienteer.plot import check_picture

    check_picture("chart.png")
    known = {} if optimum is None else read_optima(optimum)
    if methods is None:
        methods, absent = default_methods()
        for line in absent:
            click.echo(f"orienteer: {line}", err=True)
    chosen = _methods(methods, NAMED, device)
    sets = _sets(file, out, prizes, sizes, count, seed)
    _threads(threads)
    with Bar() as bar:
        report = run_gap(out, chosen, sets, bar.batch, known)
    _finish(out, report.failures)


@bench.command()
@click.option("--minutes", type=SECONDS, required=True, metavar="M", help="For all networks together.")
@click.option("--n", "nodes", type=click.IntRange(min=2), default=50, metavar="N", help="Nodes.  [default: 50]")
@click.option("--prizes", default="distance", metavar="KIND", help="[default: distance]")
@click.option("--seeds", type=COUNT, default=5, metavar="N", help="Runs of each network.  [default: 5]")
@click.option("--preset", default="small", metavar="NAME", help="Of training: small, tuned, paper.  [default: small]")
@click.option("--validation", type=COUNT, default=200, metavar="N", help="Test instances.  [default: 200]")
@click.option("--shard", default="1/1", metavar="I/N", help="Only the I-th of N parts of the networks.")
@with_options(*RUN)
def sensitivity(
    minutes: float,
    nodes: int,
    prizes: str,
    seeds: int,
    preset: str,
    validation: int,
    shard: str,
    device: str,
    threads: int,
    out: Path,
) -> None:
    """Learning curves with and without multi-head, by layers, by hidden size.

    Shards may share a folder; the same command without --shard then draws the curves.
    """
    from orienteer.cli.progress import Bar
    from orienteer.lab.bench.run import Shard
    from orienteer.lab.bench.sensitivity import Plan, run_sensitivity

    plan = Plan(minutes, nodes, _kinds(prizes)[0], seeds, preset, device, validation)
    _threads(threads)
    with Bar() as bar:
        failed = run_sensitivity(out, plan, bar.batch, Shard.parse(shard))
    if failed is None:
        click.echo(f"shard {shard} is done; when all are: the same command without --shard")
        return
    _finish(out, failed)


FILES = (
    click.argument("folder", type=FOLDER, metavar="DIR"),
    click.option("--best-known", type=FILE, metavar="CSV", help="[default: DIR/best_known.csv]"),
    click.option("--method", default="lns", metavar="NAME[,KEY=VALUE...]", help="[default: lns]"),
    click.option("--seconds", type=SECONDS, metavar="S", help="For each file.  [default: by size]"),
    click.option("--largest", type=COUNT, default=400, metavar="N", help="Leave out larger files.  [default: 400]"),
    click.option("--match", default="", metavar="TEXT", help="Only files whose names hold this."),
    *RUN,
)


@bench.command()
@with_options(*FILES)
def oplib(folder: Path, **given: Any) -> None:
    """A folder of OPLib files against best known values; 0.7 to 20 s by size."""
    from orienteer.lab.bench.published import oplib_seconds

    _files(folder, "OPLib files against best known values", oplib_seconds, **given)


@bench.command()
@with_options(*FILES)
def classic(folder: Path, **given: Any) -> None:
    """A folder of Tsiligirides' and Chao's files against best known values; 1 s each."""
    from orienteer.lab.bench.published import classic_seconds

    _files(folder, "Classic files against best known values", classic_seconds, **given)


def _sets(file: Path | None, out: Path, prizes: str, sizes: str, count: int, seed: int) -> "list[NamedSet]":
    """The set of a file, or else random ones, one for each kind of prizes and each size."""
    from orienteer.data.npz import load_set
    from orienteer.lab.bench.sets import NamedSet, random_set

    if file is not None:
        return [NamedSet(file.stem, load_set(file)[:count])]
    cells = [(kind, nodes) for kind in _kinds(prizes) for nodes in _numbers("--sizes", sizes)]
    return [random_set(out / "instances", kind, nodes, count, seed) for kind, nodes in cells]


def _plan_peers(
    out: Path,
    kind: str,
    data: Path | None,
    count: int,
    seconds: float,
    ours: "list[Method]",
    workers: int,
    judge: Path | None,
) -> None:
    from orienteer.cli.progress import Bar
    from orienteer.lab.bench.methods import Method
    from orienteer.lab.bench.plan_peers import run_plan_peers
    from orienteer.lab.bench.variant_files import listed_files, spread

    if len(ours) > 1:
        raise ValueError(f"--methods must be one method with --plans, got {', '.join(one.label for one in ours)}")
    files = spread(listed_files(kind, VARIANTS if data is None else data), count)
    title = f"{kind.upper()}: {ours[0].label} and PyVRP, {seconds:g} s a file"
    methods = ours[0], Method("pyvrp", "pyvrp", seconds=seconds)
    with Bar() as bar:
        report = run_plan_peers(out, title, files, methods, workers, bar.batch, judge)
    _finish(out, report.failures)


def _files(
    folder: Path,
    title: str,
    by_size: Callable[[int], float],
    best_known: Path | None,
    method: str,
    seconds: float | None,
    largest: int,
    match: str,
    device: str,
    threads: int,
    out: Path,
) -> None:
    from orienteer.cli.progress import Bar
    from orienteer.lab.bench.paper import NAMED
    from orienteer.lab.bench.published import known_files, run_files
    from orienteer.search.registry import REGISTRY

    # A name alone is a solver with its own settings here: the paper's are in the units of its random problems.
    named = {name: words for name, words in NAMED.items() if name not in REGISTRY}
    methods = _methods(method, named, device)
    if len(methods) > 1:
        raise ValueError(f"--method must be one method with its settings, got {method!r}")
    files, notes = known_files(folder, best_known, largest, match)
    _threads(threads)
    with Bar() as bar:
        times = by_size if seconds is None else lambda _: seconds
        report = run_files(out, title, files, methods[0], times, bar.batch, notes)
    _finish(out, report.failures)


def _all_named(methods: str) -> str:
    """The methods with the names of all that ship and work here in place of the word `all`."""
    from orienteer.lab.bench.paper import default_methods

    words = [word.strip() for word in methods.split(",")]
    if "all" not in words:
        return methods
    there, absent = default_methods()
    for line in absent:
        click.echo(f"orienteer: {line}", err=True)
    return ",".join(there if word == "all" else word for word in words)


def _methods(text: str, named: dict[str, str], device: str) -> "list[Method]":
    """Methods by name; those written as MODULE:CLASS may lie in the current folder."""
    from orienteer.lab.bench.methods import parse_methods

    if ":" in text:
        look_here()
    return parse_methods(text, named, device)


def _kinds(text: str) -> tuple[str, ...]:
    from orienteer.data.generate import PRIZES

    kinds = tuple(word.strip() for word in text.split(","))
    for kind in kinds:
        if kind not in PRIZES:
            raise ValueError(f"--prizes must be some of {', '.join(PRIZES)}, got {kind!r}")
    return tuple(dict.fromkeys(kinds))


def _reals(option: str, text: str) -> tuple[float, ...]:
    """The values without repetitions."""
    return tuple(dict.fromkeys(positive_numbers(option, text)))


def _numbers(option: str, text: str) -> tuple[int, ...]:
    found = _reals(option, text)
    if not all(one.is_integer() for one in found):
        raise ValueError(f"{option} must be whole numbers, got {text!r}")
    return tuple(int(one) for one in found)


def _threads(threads: int) -> None:
    """Lets searches use `cores` cores; one by default, so that times on other machines compare."""
    from orienteer.search.cores import set_cores

    set_cores(threads)


def _finish(out: Path, failures: Sequence[str]) -> None:
    """Shows the table, and ends with an error where a method failed: no failure passes for a result."""
    click.echo((out / "table.md").read_text())
    written = [path for kind in ("table.*", "*.png", "better.json") for path in sorted(out.glob(kind))]
    click.echo(f"written: {', '.join(map(str, written))}")
    _complain(failures)


def _complain(failures: Sequence[str]) -> None:
    if failures:
        more = f" and {len(failures) - 1} more, all listed below the tables" if len(failures) > 1 else ""
        raise OrienteerError(f"{failures[0]}{more}")
