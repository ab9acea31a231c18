"""`orienteer warmup`: compiles everything ahead."""

import time

import click


@click.command()
def warmup() -> None:
    """Compile ahead what all solvers need, for images and for a fast first answer.

    Compiled code is kept in the package, in the user's cache, or where ORIENTEER_CACHE says.
    """
    from orienteer.search.warmup import kept_at, tasks, warm_up

    total, done, began = len(tasks()), 0, time.monotonic()

    def tell(task: str) -> None:
        nonlocal done
        done += 1
        click.echo(f"{done} of {total}: {task.removeprefix('orienteer.')}")

    warm_up(tell)
    click.echo(f"compiled, or found compiled, in {time.monotonic() - began:.0f} s: {kept_at()}")
