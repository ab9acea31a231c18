"""`orienteer solvers`: a list of all solvers."""

import click

from orienteer.cli.table import layout
from orienteer.model.rules import FEATURES
from orienteer.search.registry import REGISTRY, handled_by


@click.command()
def solvers() -> None:
    """List the solvers with what they handle beyond the plain problem, and with their papers."""
    rows = [(entry.name, entry.summary, _handled(entry.name), entry.paper) for entry in REGISTRY.values()]
    click.echo(layout(("solver", "method", "handles", "paper"), rows, left=(0, 1, 2, 3)))


def _handled(name: str) -> str:
    """The rules that a solver knows, in a few words."""
    known = handled_by(name)
    if known is None:
        return "(not installed)"
    if known == set(FEATURES):
        return "everything"
    missing = [feature for feature in FEATURES if feature not in known]
    if len(missing) < len(known):
        return f"all but {', '.join(missing)}"
    return ", ".join(feature for feature in FEATURES if feature in known) or "plain problems"
