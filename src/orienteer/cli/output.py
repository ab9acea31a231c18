"""The option `--out` of commands that have a plan, and the file that it names."""

import json
from pathlib import Path

import click

from orienteer.model.result import Result

WHOLE = (".json", "")
"""Suffixes of files that hold the whole result as JSON; others hold its plan."""

OUT = click.option(
    "--out",
    type=click.Path(),
    metavar="FILE",
    help="Write the result: .json, .geojson, .gpx, .csv, .xlsx, .tour, .sol or .txt.",
)


def write_out(result: Result, out: str) -> None:
    """Writes a result as its suffix asks; without a plan, a line on standard error says why there is no such file."""
    from orienteer.data.files import write_tour
    from orienteer.data.text import write_lines

    if Path(out).suffix.lower() in WHOLE:
        write_lines(out, [json.dumps(result.to_dict())])
    elif result.plan is None:
        click.echo(f"orienteer: {out} was not written: there is no plan", err=True)
    else:
        write_tour(result, out)
