"""`orienteer train`: a network from nothing, or a better one."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from orienteer.search.settings import changed_settings

METHODS = ("dqn", "a2c", "at", "pn", "expert")


@click.command()
@click.argument("method", type=click.Choice(METHODS))
@click.option(
    "--preset",
    default="tuned",
    metavar="NAME",
    help="paper, tuned or small; for expert tuned, laptop or small.  [default: tuned]",
)
@click.option("--minutes", type=float, metavar="M", help="Wall-clock limit; schedules follow it.")
@click.option("--iterations", type=int, metavar="N", help="Limit in iterations; without either, the preset's.")
@click.option("--resume", type=click.Path(path_type=Path), metavar="FILE", help="A checkpoint to go on from.")
@click.option("--from", "begin", default="", metavar="WEIGHTS", help="Weights to begin with, by name or file (expert).")
@click.option("--device", default="auto", help="auto, cpu or cuda.  [default: auto]")
@click.option("--out", type=click.Path(path_type=Path), default=Path("out/train"), help="Folder.  [default: out/train]")
@click.option("--seed", type=int, default=0, metavar="N", help="For weights and instances.  [default: 0]")
@click.option("--every", type=float, default=20.0, metavar="S", help="Seconds between validations.  [default: 20]")
@click.option("--compile", "compiled", is_flag=True, help="Try torch.compile on the encoder.")
@click.option("--problem", type=click.Choice(("op", "tsp")), default="op", help="tsp: tours (expert).  [default: op]")
@click.option("--labels", "files", multiple=True, metavar="FILE", help="Of `orienteer labels`, for expert; repeatable.")
@click.option("--set", "more", multiple=True, metavar="KEY=VALUE", help="A setting of the preset; may be repeated.")
def train(
    method: str,
    preset: str,
    minutes: float | None,
    iterations: int | None,
    resume: Path | None,
    begin: str,
    device: str,
    out: Path,
    seed: int,
    every: float,
    compiled: bool,
    problem: str,
    files: Sequence[str],
    more: Sequence[str],
) -> None:
    """Train a network from nothing, or on from other weights.

    Leaves best.safetensors, last.safetensors, checkpoint.pt and log.jsonl in the folder. Ctrl-C ends the run after the
    current iteration. Several GPUs: torchrun --nproc-per-node G -m orienteer.lab.commands.train METHOD ...
    """
    from orienteer.lab.training import a2c, dqn, expert, reinforce
    from orienteer.lab.training.presets import for_tours, settings_for
    from orienteer.lab.training.session import Options

    if files and method != "expert":
        raise ValueError(f"--labels goes with expert, not with {method}")
    if problem != "op" and method != "expert":
        raise ValueError(f"--problem {problem} goes with expert, not with {method}")
    if begin and method != "expert":
        raise ValueError(f"--from goes with expert, not with {method}")
    if begin and any(word.startswith("network.") for word in more):
        raise ValueError("--from keeps the network of its weights: --set network.KEY does not go with it")
    settings = settings_for(method, preset)
    settings = changed_settings(method, for_tours(settings) if problem == "tsp" else settings, more)
    if files:
        settings = dataclasses.replace(settings, labels=tuple(files))
    if begin:
        settings = dataclasses.replace(settings, begin=begin)
    options = Options(
        out=out,
        minutes=minutes,
        iterations=iterations,
        device=device,
        resume=resume,
        seed=seed,
        every=every,
        compiled=compiled,
        say=click.echo,
    )
    loops: dict[str, Any] = {
        "dqn": dqn.train,
        "a2c": a2c.train,
        "at": reinforce.train,
        "pn": reinforce.train,
        "expert": expert.train,
    }
    session = loops[method](settings, options, preset)
    click.echo(f"best score {session.best:.4f} after {session.seconds / 60:.1f} minutes: {out / 'best.safetensors'}")


if __name__ == "__main__":
    train()
