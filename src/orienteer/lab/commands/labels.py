"""`orienteer labels`: random problems with good routes, for `orienteer train expert`."""

import dataclasses
import math
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from orienteer.cli.options import SEED, check_writable, configured
from orienteer.model.errors import OrienteerError

if TYPE_CHECKING:
    from orienteer.search.solver import AnySolver


@click.command()
@click.option("--out", type=click.Path(), required=True, metavar="FILE.npz", help="Where the labels go.")
@click.option("--count", type=click.IntRange(min=1), default=1000, help="Problems.  [default: 1000]")
@click.option(
    "--minutes",
    type=click.FloatRange(min=0, min_open=True),
    metavar="M",
    help="Wall-clock limit; what is labelled by then is kept.",
)
@click.option("--seed", type=SEED, default=0, metavar="N", help="Of the first problem.  [default: 0]")
@click.option("--problem", type=click.Choice(("op", "tsp")), default="op", help="tsp: tours.  [default: op]")
@click.option("--solver", metavar="NAME", help="Whose routes, without tails.  [default: lns, or kicks for tours]")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="A setting of --solver; may be repeated.")
@click.option("--improve", type=click.Path(), metavar="FILE.npz", help="Better routes for these labels, by --solver.")
@click.option("--seconds", type=float, default=0.1, help="Search of lns for 100 nodes.  [default: 0.1]")
@click.option("--kicks", type=click.IntRange(min=0), default=10, help="For tours, for each node.  [default: 10]")
@click.option("--costs", metavar="KIND,...", help="Families of costs.  [default: a mixture]")
@click.option("--sizes", metavar="LOW,HIGH", help="Fewest and most nodes.  [default: 10,200]")
@click.option("--processes", type=click.IntRange(min=1), metavar="P", help="Without --solver.  [default: all cores]")
def labels(
    out: str,
    count: int,
    minutes: float | None,
    seed: int,
    problem: str,
    solver: str | None,
    settings: tuple[str, ...],
    improve: str | None,
    seconds: float,
    kicks: int,
    costs: str | None,
    sizes: str | None,
    processes: int | None,
) -> None:
    """Label random problems with good routes, for a network to imitate.

    With --improve, labels of a file get the routes that a solver finds, cs-l unless --solver names another, where these
    are better; options that say which problems to draw then mean nothing.
    """
    from orienteer.cli.progress import Bar
    from orienteer.lab.training.labels import FIRST_SEED, LabelRecipe, make_labels, save_labels, search_labels
    from orienteer.lab.training.presets import TOURS

    check_writable(out)
    if settings and improve is None and solver in (None, "lns"):
        raise click.UsageError("--set is for the solver that --solver names, and lns has --seconds and --processes")
    if improve is not None:
        _improve(improve, configured(solver or "cs-l", "auto", {}, settings)[0], minutes, out)
        return
    changes: dict[str, Any] = {"seconds": seconds, "kicks": kicks}
    if costs is not None:
        changes["costs"] = tuple(costs.split(","))
    if sizes is not None:
        changes["sizes"] = _range(sizes)
        changes["favoured"] = ()
    recipe = dataclasses.replace(TOURS if problem == "tsp" else LabelRecipe(), **changes)
    seeds = range(FIRST_SEED + seed, FIRST_SEED + seed + count)
    began = time.monotonic()
    ended = _deadline(minutes)
    made = []
    with Bar() as bar:
        if solver is None or (solver == "lns" and problem == "op"):
            source = make_labels(recipe, seeds, processes or os.cpu_count() or 1, ended)
        else:
            source = search_labels(recipe, seeds, configured(solver, "auto", {}, settings)[0], ended)
        try:
            for label in source:
                made.append(label)
                bar.batch(label.source.seed - seeds[0] + 1, count)
        except KeyboardInterrupt:
            click.echo("interrupted: what is labelled so far is kept", err=True)
    if not made:
        raise OrienteerError(f"nothing was labelled in this time, so {out} was not written")
    save_labels(out, made)
    click.echo(f"{len(made):,} labels in {time.monotonic() - began:.0f} s: {out}")


def _range(text: str) -> tuple[int, int]:
    """The fewest and the most nodes."""
    try:
        low, high = (int(word) for word in text.split(","))
    except ValueError:
        raise ValueError(f"--sizes must be two whole numbers, LOW,HIGH, got {text!r}") from None
    return low, high


def _deadline(minutes: float | None) -> Callable[[], bool]:
    """The function that says whether `minutes` have passed since this call; None: never."""
    end = math.inf if minutes is None else time.monotonic() + 60 * minutes
    return lambda: time.monotonic() > end


def _improve(path: str, solver: "AnySolver", minutes: float | None, out: str) -> None:
    """Writes the labels of a file anew, with better routes where the solver finds them."""
    from orienteer.cli.progress import Bar
    from orienteer.lab.training.labels import improve_labels, load_labels, save_labels

    old, new = load_labels(path), []
    began = time.monotonic()
    ended = _deadline(minutes)
    try:
        with Bar() as bar:
            for label in improve_labels(old, solver, ended):
                new.append(label)
                bar.batch(len(new), len(old))
    except KeyboardInterrupt:
        click.echo("interrupted: what is improved so far is kept", err=True)
    finally:  # hours of work must not be lost to the one problem that fails
        new += old[len(new) :]
        save_labels(out, new)
    better = sum(one is not two for one, two in zip(old, new, strict=True))
    click.echo(f"{better:,} of {len(old):,} labels improved in {time.monotonic() - began:.0f} s: {out}")
