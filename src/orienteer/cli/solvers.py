"""`orienteer solvers`: a list of all solvers."""

import click

from orienteer.cli.table import layout
from orienteer.search.registry import REGISTRY


@click.command()
def solvers() -> None:
    """List the solvers with their papers."""
    rows = [(entry.name, entry.summary, entry.paper) for entry in REGISTRY.values()]
    click.echo(layout(("solver", "method", "paper"), rows, left=(0, 1, 2)))
