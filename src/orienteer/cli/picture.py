"""`orienteer plot`: a picture of a problem, with or without a route."""

from typing import Any

import click

from orienteer.cli.options import READING, check_writable, read_problem, with_options


@click.command()
@click.argument("file", type=click.Path(), metavar="FILE")
@click.argument("tourfile", type=click.Path(), required=False, metavar="[TOURFILE]")
@with_options(*READING)
@click.option("--out", type=click.Path(), required=True, metavar="PNG|SVG", help="Where the picture goes (also PDF).")
@click.option("--title", metavar="TEXT", help="A line above prize and cost.")
def plot(file: str, tourfile: str | None, out: str, title: str | None, **how: Any) -> None:
    """Draw a problem, and a route if there is one."""
    from orienteer.data.files import read_tour
    from orienteer.plot import check_picture, save_picture

    check_writable(out, file, tourfile, how["matrix"])
    check_picture(out)
    instance = read_problem(file, how)
    save_picture(instance, out, None if tourfile is None else read_tour(tourfile, instance, how["index"] or 0), title)
