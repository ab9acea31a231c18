"""`orienteer convert`: the same problem in another format."""

from typing import Any

import click

from orienteer.cli.options import READING, check_writable, other_files, read_problem, with_options


@click.command()
@click.argument("file", type=click.Path(), metavar="FILE")
@click.argument("out", type=click.Path(), metavar="OUT")
@with_options(*READING)
def convert(file: str, out: str, **how: Any) -> None:
    """Write the problem in FILE as OUT, whose suffix tells the format: .json, .csv, .xlsx, .geojson, .npz or .oplib.

    Nothing is dropped on the way: what the format cannot hold is an error. Options that change the problem, such as
    --limit or --matrix, are written into OUT.
    """
    from orienteer.data.files import write

    check_writable(out, file, *other_files(how))
    write(read_problem(file, how), out)
