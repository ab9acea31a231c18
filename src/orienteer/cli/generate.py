"""`orienteer generate`: a set of random problems."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from orienteer.cli.options import SEED, check_npz, check_writable, names_folder
from orienteer.cli.progress import Bar

if TYPE_CHECKING:
    from orienteer.data.instance_set import InstanceSet

COUNT = click.IntRange(min=1)


@click.command()
@click.option("--n", "nodes", type=COUNT, required=True, metavar="N", help="Prized nodes of a problem.")
@click.option("--prizes", default="uniform", metavar="KIND", help="constant, uniform, distance or clustered.")
@click.option("--costs", default="euclidean", metavar="KIND", help="euclidean, manhattan, tmat, xasy or road.")
@click.option("--limit", type=float, metavar="T", help="Cost limit; by default about half of the nodes fit.")
@click.option("--count", type=COUNT, default=1, metavar="B", help="Problems of the set.  [default: 1]")
@click.option("--seed", type=SEED, default=0, metavar="N", help="Same seed, same set.  [default: 0]")
@click.option("--separate-end", is_flag=True, help="End routes at a node of its own, not at the start.")
@click.option("--shard", type=COUNT, default=10_000, metavar="B", help="Problems of a file.  [default: 10000]")
@click.option("--out", type=click.Path(), required=True, metavar="SET", help="Where the set goes: .npz or folder.")
def generate(
    nodes: int,
    prizes: str,
    costs: str,
    limit: float | None,
    count: int,
    seed: int,
    separate_end: bool,
    shard: int,
    out: str,
) -> None:
    """Make a set of random problems.

    Node 0 is the start; with --separate-end the last node is the end. The set is one file SET.npz, or a folder of files
    with --shard problems each, which may be larger than memory.
    """
    from orienteer.data.generate import generate as draw

    def drawn(first: int, amount: int) -> "InstanceSet":
        return draw(nodes, prizes, costs, limit, amount, seed, separate_end, first)

    made = _folder(drawn, count, shard, out) if names_folder(out) else _one_file(drawn, count, out)
    click.echo(f"{count} instances of {made.size} nodes, limit {made.limit[0]:.6g}: {out}")


def _one_file(drawn: Callable[[int, int], "InstanceSet"], count: int, out: str) -> "InstanceSet":
    """The whole set, which is written to a file."""
    from orienteer.data.files import write_set

    check_writable(out)
    check_npz(out)
    made = drawn(0, count)
    write_set(made, out)
    return made


def _folder(drawn: Callable[[int, int], "InstanceSet"], count: int, shard: int, out: str) -> "InstanceSet":
    """The first part of the set, all parts of which are written to a folder, one after the other."""
    from orienteer.data.stored_set import SetFolder

    parts = -(-count // shard)
    first = drawn(0, min(shard, count))  # before the folder is made: a wrong option leaves nothing behind
    folder = SetFolder(out, parts)
    with Bar() as bar:
        for part in range(parts):
            amount = min(shard, count - part * shard)
            folder.write(part, first if part == 0 else drawn(part * shard, amount))
            bar.batch(part * shard + amount, count)
    return first
