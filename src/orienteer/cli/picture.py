"""`orienteer plot`: a picture of a problem, with or without a route."""

from typing import Any

import click

from orienteer.cli.options import READING, check_writable, other_files, read_problem, read_problem_of, with_options


@click.command()
@click.argument("file", type=click.Path(), metavar="FILE")
@click.argument("tourfile", type=click.Path(), required=False, metavar="[TOURFILE]")
@with_options(*READING)
@click.option("--out", type=click.Path(), required=True, metavar="PNG|SVG", help="Where the picture goes (also PDF).")
@click.option("--title", metavar="TEXT", help="A line above prize and cost.")
def plot(file: str, tourfile: str | None, out: str, title: str | None, **how: Any) -> None:
    """Draw a problem, and a route if there is one.

    The JSON of `solve` knows its limit, start and end; they need not be given again.
    """
    from orienteer.data.files import read_plan
    from orienteer.plot import check_picture, save_picture

    check_writable(out, file, tourfile, *other_files(how))
    check_picture(out)
    if tourfile is None:
        save_picture(read_problem(file, how), out, title=title)
    else:
        instance = read_problem_of(file, tourfile, how)
        save_picture(instance, out, read_plan(tourfile, instance, how["index"] or 0), title)
