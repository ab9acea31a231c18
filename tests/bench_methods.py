"""Solvers for tests of the benchmarks: one that counts and can be killed, one that fails, one that proves."""

import os
import sys
from pathlib import Path

from orienteer import REGISTRY, Entry
from orienteer.construct.enumerate import Enumerate
from orienteer.search.run import Run
from orienteer.search.solver import Solver


class Counted(Solver):
    """Visits the most prized node that fits.

    Notes every call in the file CALLS of the environment, and waits for ever at call number BLOCKED of the process.
    """

    name = "counted"
    count = 0

    def search(self, run: Run, seed: int) -> None:
        type(self).count += 1
        if type(self).count == int(os.environ.get("BLOCKED", "0")):
            print("waiting", flush=True)
            sys.stdin.read()
        calls = os.environ.get("CALLS")
        if calls:
            with Path(calls).open("a") as file:
                file.write(f"{run.instance.prizes.sum()!r} {seed}\n")
        instance = run.instance
        fits = instance.costs[instance.start] + instance.costs[:, instance.end] <= instance.budget
        fits[[instance.start, instance.end]] = False
        if fits.any():
            best = int((instance.prizes * fits).argmax())
            run.offer([instance.start, best, instance.end])
        run.step()


class Fragile(Counted):
    """Fails where the seed, which is the index of the instance, is 1."""

    name = "fragile"

    def search(self, run: Run, seed: int) -> None:
        if seed == 1:
            raise RuntimeError("the second one is too hard")
        super().search(run, seed)


class Cheat(Solver):
    """Reports a route that is no route."""

    name = "cheat"

    def search(self, run: Run, seed: int) -> None:
        object.__setattr__(run.best, "nodes", (0, 1, 1, 0))


class Useless(Solver):
    """Needs something that is not there."""

    name = "useless"

    def search(self, run: Run, seed: int) -> None:
        raise RuntimeError("no licence")


class Prover(Enumerate):
    """The oracle under the name of the exact solver."""

    name = "prover"


def register() -> None:
    """Puts these solvers behind the front door."""
    for name in ("Counted", "Fragile", "Cheat", "Prover"):
        REGISTRY[name.lower()] = Entry(name.lower(), "", "", f"bench_methods:{name}")


def main(arguments: list[str]) -> None:
    """The command line, with these solvers."""
    from orienteer.cli.main import main as command_line

    register()
    command_line(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
