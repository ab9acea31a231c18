"""`orienteer check`: is this route allowed, and what is it worth?"""

from typing import Any

import click

from orienteer.cli.options import READING, read_problem, with_options
from orienteer.cli.table import totals
from orienteer.core.errors import InfeasibleTour
from orienteer.core.tour import check_tour

BROKEN = 1


@click.command()
@click.argument("file", type=click.Path(), metavar="FILE")
@click.argument("tourfile", type=click.Path(), metavar="TOURFILE")
@with_options(*READING)
def check(file: str, tourfile: str, **how: Any) -> int:
    """Judge a route.

    Exit status 0 if the route in TOURFILE keeps all rules of the problem in FILE, 1 if it breaks one.
    """
    from orienteer.data.files import read_tour

    instance = read_problem(file, how)
    nodes = read_tour(tourfile, instance, how["index"] or 0)
    try:
        tour = check_tour(instance, nodes)
    except InfeasibleTour as error:
        click.echo(f"infeasible: {error}")
        return BROKEN
    click.echo(f"feasible: {totals(instance, tour)}")
    return 0
