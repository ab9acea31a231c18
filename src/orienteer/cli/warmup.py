"""`orienteer warmup`: compiles everything ahead."""

import time

import click


@click.command()
@click.argument("solvers", nargs=-1, metavar="[SOLVER]...")
def warmup(solvers: tuple[str, ...]) -> None:
    """Compile ahead what solvers need, by default all of them, for images and for a fast first answer.

    Compiled code is kept in the package, in the user's cache, or where ORIENTEER_CACHE says.
    """
    from orienteer.search.warmup import kept_at, tasks, warm_up

    wanted = solvers or None
    total, done, began = len(tasks(wanted)), 0, time.monotonic()

    def tell(task: str) -> None:
        nonlocal done
        done += 1
        click.echo(f"{done} of {total}: {task.removeprefix('orienteer.')}")

    warm_up(wanted, tell)
    click.echo(f"compiled, or found compiled, in {time.monotonic() - began:.0f} s: {kept_at()}")
