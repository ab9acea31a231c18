"""`orienteer weights`: what is shipped, or what a file holds."""

from collections.abc import Sequence
from pathlib import Path

import click


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME|FILE]...")
@click.option("--json", "as_json", is_flag=True, help="All that the files say about themselves.")
@click.option("--average", type=click.Path(), metavar="FILE", help="Write the mean of the named networks (of expert).")
@click.option("--shares", metavar="F,...", help="Of each in the mean.  [default: equal]")
def weights(names: tuple[str, ...], as_json: bool, average: str | None, shares: str | None) -> None:
    """List trained weights: those shipped with the package, or the named ones.

    With --average, write the mean of several, which are best of one training run, and list that.
    """
    import json

    from orienteer.network.weights import find_weights, list_weights, read_header

    if shares is not None and average is None:
        raise click.UsageError("--shares goes with --average")
    paths = [find_weights(name) for name in names]
    if average is not None:
        paths = [_averaged(paths, average, shares)]
    headers = [read_header(path) for path in paths] if paths else list_weights()
    if as_json:
        told = [
            {
                "name": one.name,
                "method": one.method,
                "bytes": one.path.stat().st_size,
                "config": one.config,
                "record": one.record,
                "scores": one.scores,
            }
            for one in headers
        ]
        click.echo(json.dumps(told))
        return
    if not headers:
        click.echo("no weights are shipped with this installation")
    for one in headers:
        record = one.record
        click.echo(
            f"{one.name}: {one.method}, {one.path.stat().st_size / 1e6:.2f} MB, preset {record.get('preset', '?')}, "
            f"{record.get('minutes', '?')} min on {record.get('hardware', '?')}"
        )
        for name, prize in one.scores.items():
            click.echo(f"    {name}: greedy {prize:.3f}")


def _averaged(paths: Sequence[Path], out: str, shares: str | None) -> Path:
    """The path of the mean, after validation."""
    from orienteer.cli.options import check_writable, positive_numbers
    from orienteer.lab.training.average import average_weights

    check_writable(out, *paths)
    portions = None if shares is None else positive_numbers("--shares", shares)
    click.echo("greedy routes on the validation sets ...", err=True)
    return average_weights(paths, out, portions)
