"""`orienteer warmup`: compiles everything ahead."""

import time
from collections.abc import Sequence

import click


@click.command()
@click.argument("solvers", nargs=-1, metavar="[SOLVER]...")
@click.option(
    "--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True, help="What to compile for."
)
def warmup(solvers: tuple[str, ...], device: str) -> None:
    """Compile ahead what solvers need, by default all of them, for images and for a fast first answer.

    Compiled code is kept in the package, in the user's cache, or where ORIENTEER_CACHE says; that of a GPU in Triton's
    cache, or where TRITON_CACHE_DIR says.
    """
    from orienteer.search.warmup import gpu_tasks, kept_at, tasks, warm_up, warm_up_gpu

    wanted = solvers or None
    needed: Sequence[object] = gpu_tasks(wanted) if device == "cuda" else tasks(wanted)
    total, done, began = len(needed), 0, time.monotonic()

    def tell(task: str) -> None:
        nonlocal done
        done += 1
        click.echo(f"{done} of {total}: {task.removeprefix('orienteer.')}")

    warm_up_gpu(wanted, tell) if device == "cuda" else warm_up(wanted, tell)
    place = "Triton's cache" if device == "cuda" else kept_at()
    click.echo(f"compiled, or found compiled, in {time.monotonic() - began:.0f} s: {place}")
