"""`orienteer weights`: what is shipped, or what a file holds."""

import click


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME|FILE]...")
@click.option("--json", "as_json", is_flag=True, help="All that the files say about themselves.")
def weights(names: tuple[str, ...], as_json: bool) -> None:
    """List trained weights: those shipped with the package, or the named ones."""
    import json

    from orienteer.network.weights import find_weights, list_weights, read_header

    headers = [read_header(find_weights(name)) for name in names] if names else list_weights()
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
