"""`orienteer example`: writes an example problem that the package holds, so that nobody needs the repository for it."""

from importlib.resources import files
from pathlib import Path

import click

from orienteer.cli.options import check_writable
from orienteer.data.text import write_lines
from orienteer.model.errors import BadFile

EXAMPLES = ("city",)
"""The CSV files in the package's folder `examples`, without their suffix."""


@click.command()
@click.argument("name", type=click.Choice(EXAMPLES), default="city")
@click.option("--out", type=click.Path(), metavar="CSV", help="Where the file goes.  [default: NAME.csv, here]")
def example(name: str, out: str | None) -> None:
    """Write a problem to begin with: the sights of an invented town, as a CSV of points."""
    path = f"{name}.csv" if out is None else out
    if Path(path).suffix.lower() != ".csv":
        raise BadFile(path, "will be a CSV of points, so its name must end in .csv")
    if Path(path).exists():
        raise BadFile(path, "is there already and is left as it is; --out names another file")
    check_writable(path)
    text = files("orienteer").joinpath("examples", f"{name}.csv").read_text(encoding="utf-8")
    write_lines(path, text.splitlines())
    click.echo(f"{path} is written; next: orienteer solve {path}")
