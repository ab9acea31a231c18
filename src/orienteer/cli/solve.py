"""`orienteer solve`: a route for a problem."""

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from orienteer.cli.interrupt import Interrupt
from orienteer.cli.options import (
    READING,
    SEARCH,
    check_writable,
    configured,
    other_files,
    read_problem,
    stop_of,
    with_options,
)
from orienteer.cli.output import OUT, write_out
from orienteer.cli.progress import Bar
from orienteer.cli.table import bound_line, no_plan, origin, plan_table, totals
from orienteer.model.errors import BadFile, InfeasibleTour
from orienteer.model.instance import Instance
from orienteer.model.plan import check_plan
from orienteer.model.result import Result
from orienteer.model.show import place_name
from orienteer.search import front

if TYPE_CHECKING:  # the module itself is loaded where a server is asked
    from orienteer.client import Options

NO_PLAN = 1
"""The exit status of a search that found nothing."""


@click.command()
@click.argument("file", type=click.Path(), metavar="FILE")
@with_options(*SEARCH, *READING)
@click.option(
    "--alternatives", type=int, default=1, metavar="R", help="How many good routes that differ.  [default: 1]"
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    metavar="N",
    help="Cores for a plain problem of over 400 places (lns, auto); others take one.  [default: 1]",
)
@click.option("--initial", type=click.Path(), metavar="TOURFILE", help="A plan to begin with, which keeps all rules.")
@click.option("--hint", type=click.Path(), metavar="TOURFILE", help="As --initial, but left aside if it breaks a rule.")
@click.option("--bound", is_flag=True, help="Put an upper bound beside the route (extra exact).")
@click.option("--prove", is_flag=True, help="Go on until the best route is found and proven (extra exact).")
@with_options(OUT)
@click.option("--plot", type=click.Path(), metavar="PNG", help="Draw the route (PNG, SVG or PDF).")
@click.option("--server", metavar="URL", help="Search on a machine that runs `orienteer serve`.")
@click.option("--token-file", type=click.Path(), metavar="FILE", help="The server's token; or in ORIENTEER_TOKEN.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
def solve(
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
    alternatives: int,
    threads: int | None,
    more: Sequence[str],
    initial: str | None,
    hint: str | None,
    bound: bool,
    prove: bool,
    out: str | None,
    plot: str | None,
    server: str | None,
    token_file: str | None,
    as_json: bool,
    **how: Any,
) -> int:
    """Find a good route for the problem in FILE; with a tsp- solver, a short tour through all of its places.

    Ctrl-C ends the search and prints the best route so far. Exit status 1 if no plan was found.
    """
    from orienteer.data.tour_file import check_route_suffix

    if out is not None:
        check_route_suffix(out)
        check_writable(out, file, plot, initial, hint, *other_files(how))
    if plot is not None:
        from orienteer.plot import check_picture

        check_writable(plot, file, initial, hint, *other_files(how))
        check_picture(plot)
    asked = stop_of(seconds, steps)
    instance = read_problem(file, how, solver)
    if out is not None:
        check_route_suffix(out, len(instance.each_route), instance)
    named = {"beam": beam, "tau": tau, "weights": weights, "score": score, "threads": threads}
    if server is not None:
        local = {"device": None if device == "auto" else device, "set": more or None, "prove": prove or None}
        _check_remote(named | local)
    method, _ = configured(solver, device, named, more)
    begin = _first_plan(initial, hint, instance)
    if server is not None:
        ask: Options = {"solver": solver, "seconds": seconds, "steps": steps, "seed": seed, "bound": bound}
        ask["alternatives"], ask["initial"] = alternatives - 1, begin
        result = _solve_remotely(server, token_file, instance, ask)
        _report(instance, result, out, plot, as_json, bound)
        return 0 if result.plan is not None else NO_PLAN
    with Interrupt() as interrupt, Bar() as bar:
        result = front.solve(
            instance,
            method,
            asked,
            seed,
            on_progress=bar.search,
            initial=begin,
            bound=bound,
            prove=prove,
            alternatives=alternatives,
            cancelled=lambda: interrupt.pressed,
        )
    _report(instance, result, out, plot, as_json, bound or prove)
    return 0 if result.plan is not None else NO_PLAN


def _first_plan(initial: str | None, hint: str | None, instance: Instance) -> list[list[int]] | None:
    """Routes to begin with, if any: `BadFile` if those of `initial` break a rule, a notice if those of `hint` do."""
    from orienteer.data.files import read_plan
    from orienteer.data.tour_file import load_old_plan

    if initial is not None and hint is not None:
        raise ValueError("--initial and --hint both say where to begin: give one of them")
    path = initial or hint
    if path is None:
        return None
    routes = read_plan(path, instance) if initial is not None else load_old_plan(path, instance)
    try:
        check_plan(instance, routes)
    except InfeasibleTour as error:
        if initial is None:
            click.echo(f"orienteer: {path} is left aside, it breaks a rule of this problem: {error}", err=True)
            return None
        why = f"--initial needs a plan that keeps all rules of this problem: {error}; --hint would leave it aside"
        raise BadFile(path, why) from error
    return routes


def _check_remote(local: dict[str, Any]) -> None:
    """Raises where an option is given that a server does not take from others."""
    for key, value in local.items():
        if value is not None:
            raise ValueError(f"--{key} is for a search on this machine; with --server it cannot be set")


def _solve_remotely(server: str, token_file: str | None, instance: Instance, ask: "Options") -> Result:
    """The result of a search on another machine; Ctrl-C ends the search there too."""
    from orienteer.client import Service, fraction
    from orienteer.service.settings import read_token

    service = Service(server, read_token(token_file or ""))
    with Interrupt(on_press=service.cancel), Bar() as bar:

        def show(news: dict[str, Any]) -> None:
            prize = "no plan yet" if news["prize"] is None else f"prize {news['prize']:.6g}"
            bar.show(fraction(news, ask["seconds"]), prize)

        return service.solve(instance, show, **ask)


def _report(
    instance: Instance, result: Result, out: str | None, plot: str | None, as_json: bool, with_gap: bool
) -> None:
    """Writes the result to files, then prints it: in this order, since printing fails on a closed pipe."""
    data = result.to_dict()
    plan = result.plan
    if out is not None:
        write_out(result, out)
    if plot is not None and plan is not None:
        from orienteer.plot import save_picture

        save_picture(instance, plot, [tour.nodes for tour in plan.routes])
    if as_json:
        click.echo(json.dumps(data))
        return
    if plan is None:
        click.echo(no_plan(result))
        click.echo(origin(result))
        return
    click.echo(plan_table(instance, plan))
    click.echo()
    click.echo(totals(instance, plan))
    if with_gap or 0 < result.gap < math.inf:
        click.echo(bound_line(result))
    click.echo(origin(result))
    for number, other in enumerate(result.alternatives, 2):
        click.echo()
        click.echo(f"Alternative {number}: {totals(instance, other)}")
        for tour in other.routes:
            click.echo(" > ".join(place_name(instance, node) for node in tour.nodes))
