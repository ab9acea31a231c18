"""What every solver looks like: settings to the constructor, the question to `solve`."""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeAlias, TypeVar

from orienteer.data.text import FilePath
from orienteer.model.instance import Instance
from orienteer.model.result import Result
from orienteer.search.run import Run
from orienteer.search.stop import Never, OnProgress, Stop, ignore

OnDone = Callable[[int, int], None]
"""Told how many of a batch's instances are done, and how many there are."""


def no_news(done: int, total: int) -> None:
    """The batch listener that does nothing."""


class Settings(Protocol):
    """Any dataclass: a solver's settings, each with a default."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]


@dataclasses.dataclass(frozen=True)
class NoSettings:
    """The settings of a solver that has nothing to set."""


Config = TypeVar("Config", bound=Settings)


class Solver(ABC, Generic[Config]):
    """A method behind the front door; subclasses set `name`, `config_class` and define `search`.

    `Solver[MyConfig]` says of what class the settings are, `config_class` makes them where none are given.
    """

    name: ClassVar[str]
    config_class: ClassVar[type[Any]] = NoSettings
    """The class of `config`; a class variable cannot name the type parameter."""
    shortest: ClassVar[bool] = False
    """Whether it seeks the cheapest of the best routes, and goes on when everything is collected."""

    def __init__(self, config: Config | None = None):
        self.config: Config = self.config_class() if config is None else config

    @classmethod
    def read(cls, path: FilePath, **how: Any) -> Instance:
        """The problem that a file holds for this kind of solver; `how` as for `orienteer.data.files.read`."""
        from orienteer.data.files import read  # only those who read files wait for their readers

        return read(path, **how)

    def default_stop(self, instance: Instance) -> Stop:
        """When to end if the caller does not say: by default the solver finishes by itself."""
        return Never()

    def kernels(self, instance: Instance) -> list[str]:
        """What has to be compiled for a problem like this one: tasks of `orienteer.kernel.prepare`."""
        return []

    def prepare(self, instance: Instance) -> None:
        """Anything else that is slow, happens once and should not count as solving, such as reading weights."""

    def get_ready(self, instance: Instance) -> None:
        """Compiles what is not compiled yet, with a notice, and prepares."""
        tasks = self.kernels(instance)
        if tasks:
            from orienteer.kernel.prepare import compile_kernels  # loads numba

            compile_kernels(tasks, f"{self.name}: compiling its kernels for this machine, once")
        self.prepare(instance)

    @abstractmethod
    def search(self, run: Run, seed: int) -> None:
        """Offers routes to `run` until the method is done or `run` says to end."""

    def solve(
        self,
        instance: Instance,
        stop: Stop | None = None,
        *,
        seed: int = 0,
        on_progress: OnProgress = ignore,
        initial: Sequence[int] | None = None,
    ) -> Result:
        """The best route found; never a worse one than `initial`, if that is given."""
        self.get_ready(instance)
        run = Run(instance, self.default_stop(instance) if stop is None else stop, on_progress, self.shortest)
        if initial is not None:
            run.offer(initial)
        if not run.report():
            self.search(run, seed)
        return run.result(self.name, seed, self.settings)

    def solve_batch(
        self,
        instances: Sequence[Instance],
        stop: Stop | None = None,
        *,
        seed: int = 0,
        on_done: OnDone = no_news,
    ) -> list[Result]:
        """A result for each instance, one after the other, the i-th with seed + i; batched solvers do better."""
        results = []
        for index, instance in enumerate(instances):
            results.append(self.solve(instance, stop, seed=seed + index))
            on_done(index + 1, len(instances))
        return results

    def takes_batches(self) -> bool:
        """Whether `solve_batch` does better than one instance after the other."""
        return type(self).solve_batch is not Solver.solve_batch

    def on_gpu(self) -> bool:
        """Whether it computes on a GPU, as its settings and this machine have it."""
        return False

    @property
    def settings(self) -> dict[str, Any]:
        """The configuration as plain values."""
        return dataclasses.asdict(self.config)


AnySolver: TypeAlias = Solver[Any]
"""A solver whose settings do not matter to the caller."""
