"""`orienteer check`: is this route or plan allowed, and what is it worth?"""

from pathlib import Path
from typing import Any

import click

from orienteer.cli.options import (
    FIELDS,
    READING,
    check_writable,
    other_files,
    read_problem_of,
    result_in,
    with_options,
)
from orienteer.cli.output import OUT, write_out
from orienteer.cli.table import totals
from orienteer.model.errors import InfeasibleTour
from orienteer.model.instance import Instance
from orienteer.model.plan import check_plan
from orienteer.model.result import Result
from orienteer.version import __version__

BROKEN = 1

TOURS = (".tsp", ".atsp")
"""Suffixes of files whose problem, where neither file nor option has a limit, is a tour through all places."""


@click.command()
@click.argument("file", type=click.Path(), metavar="FILE")
@click.argument("tourfile", type=click.Path(), metavar="TOURFILE")
@with_options(*READING, OUT)
def check(file: str, tourfile: str, out: str | None, **how: Any) -> int:
    """Judge a route, or a plan of several routes.

    Exit status 0 if the plan in TOURFILE keeps all rules of the problem in FILE, 1 if it breaks one. The JSON of
    `solve` knows its limit, start, end and number of routes; they need not be given again. A TSPLIB file without a
    limit asks for a tour through all of its places. --out writes the plan anew, with its times, if it keeps all rules.
    """
    from orienteer.data.files import read_plan
    from orienteer.data.tour_file import check_route_suffix

    if out is not None:
        check_route_suffix(out)
        check_writable(out, file, tourfile, *other_files(how))
    to_all = _tour_problem(file, tourfile, how)
    instance = to_all or read_problem_of(file, tourfile, how)
    if out is not None:
        check_route_suffix(out, len(instance.each_route), instance)
    routes = read_plan(tourfile, instance, how["index"] or 0)
    if to_all and how["start"] is None:
        routes = [_from(instance.start, nodes) for nodes in routes]
    try:
        plan = check_plan(instance, routes)
        missing = instance.size - len(plan.visited)
        if to_all and missing:
            raise InfeasibleTour(f"the tour leaves out {missing} of {instance.size} places")
    except InfeasibleTour as error:
        if out is not None:
            click.echo(f"orienteer: {out} was not written: the plan breaks a rule", err=True)
        click.echo(f"infeasible: {error}")
        return BROKEN
    if out is not None:
        limit = None if to_all else instance.limit
        write_out(Result(plan, "stopped", 0, 0, "check", 0, limit=limit, version=__version__, instance=instance), out)
    words = f"a tour of {instance.size} places, cost {plan.cost:.10g}" if to_all else totals(instance, plan)
    click.echo(f"feasible: {words}")
    return 0


def _from(start: int, nodes: list[int]) -> list[int]:
    """A round trip, rotated so that it begins at `start`; a route that is no round trip through `start` as it is."""
    if nodes[0] != nodes[-1] or start not in nodes:
        return nodes
    at = nodes.index(start)
    return [*nodes[at:-1], *nodes[:at], start]


def _tour_problem(file: str, tourfile: str, how: dict[str, Any]) -> Instance | None:
    """The problem of a TSPLIB file where nothing sets a limit, with a limit that no tour exceeds; else None."""
    import numpy as np

    from orienteer.data.files import read_fields

    if how["limit"] is not None or Path(file).suffix.lower() not in TOURS or _has_limit(tourfile):
        return None
    found = read_fields(file, **{key: how[key] for key in FIELDS})
    if found.limit is not None:
        return None
    if how["end"] is not None:
        raise ValueError("--end does not go with a tour, which ends where it starts")
    most = float(np.where(np.isfinite(found.costs), found.costs, 0.0).sum())
    return found.build(file, limit=max(most, 1.0), start=how["start"])


def _has_limit(tourfile: str) -> bool:
    """Whether a file holds a result with a limit that counts: not one of a search for tours through all places."""
    result = result_in(tourfile)
    return result is not None and result.limit is not None and not result.solver.startswith("tsp-")
