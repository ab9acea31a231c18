"""`orienteer generate`: a set of random problems."""

import click

from orienteer.cli.options import SEED, check_npz, check_writable

COUNT = click.IntRange(min=1)


@click.command()
@click.option("--n", "nodes", type=COUNT, required=True, metavar="N", help="Prized nodes of a problem.")
@click.option("--prizes", default="uniform", metavar="KIND", help="constant, uniform, distance or clustered.")
@click.option("--costs", default="euclidean", metavar="KIND", help="euclidean, manhattan, tmat, xasy or road.")
@click.option("--limit", type=float, metavar="T", help="Cost limit; by default about half of the nodes fit.")
@click.option("--count", type=COUNT, default=1, metavar="B", help="Problems of the set.  [default: 1]")
@click.option("--seed", type=SEED, default=0, metavar="N", help="Same seed, same set.  [default: 0]")
@click.option("--separate-end", is_flag=True, help="End routes at a node of its own, not at the start.")
@click.option("--out", type=click.Path(), required=True, metavar="SET.npz", help="Where the set goes.")
def generate(
    nodes: int,
    prizes: str,
    costs: str,
    limit: float | None,
    count: int,
    seed: int,
    separate_end: bool,
    out: str,
) -> None:
    """Make a set of random problems.

    Node 0 is the start; with --separate-end the last node is the end.
    """
    from orienteer.data.files import write_set
    from orienteer.data.generate import generate as draw

    check_writable(out)
    check_npz(out)
    made = draw(nodes, prizes, costs, limit, count, seed, separate_end)
    write_set(made, out)
    click.echo(f"{len(made)} instances of {made.size} nodes, limit {made.limit[0]:.6g}: {out}")
