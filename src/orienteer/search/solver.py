"""The base class of all solvers: settings go to the constructor, the problem to `solve`."""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeAlias, TypeVar, runtime_checkable

from orienteer.data.text import FilePath
from orienteer.model.errors import Unsupported
from orienteer.model.instance import Instance
from orienteer.model.levels import OnReading
from orienteer.model.plan import Plan
from orienteer.model.reduce import REDUCED
from orienteer.model.result import Result
from orienteer.model.rules import Feature
from orienteer.search.run import Run
from orienteer.search.stop import Never, OnProgress, Stop, ignore

OnDone = Callable[[int, int], None]
"""Called with the number of a batch's instances that are done, and the number of all."""


def no_news(done: int, total: int) -> None:
    """An `OnDone` that does nothing."""


class Settings(Protocol):
    """Any dataclass: a solver's settings, each with a default."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]


@dataclasses.dataclass(frozen=True)
class NoSettings:
    """The settings of a solver that has nothing to set."""


@runtime_checkable
class ShowsLevels(Protocol):
    """A solver that searches by cost levels, and tells a listener what its queues hold."""

    on_reading: OnReading | None


Config = TypeVar("Config", bound=Settings)


class Solver(ABC, Generic[Config]):
    """A method that `orienteer.solve` can use; subclasses set `name` and `config_class` and define `search`.

    `Solver[MyConfig]` tells type checkers the class of the settings; `config_class` makes the default settings.
    """

    name: ClassVar[str]
    config_class: ClassVar[type[Any]] = NoSettings
    """The class of `config`; a class variable cannot name the type parameter."""
    handles: ClassVar[frozenset[Feature]] = REDUCED
    """What problems may have beyond the plain one. Visit times and a free end come as plain problems (`reduced`); a
    solver that names more is given the problem as it is, in a run that it offers plans to."""
    shortest: ClassVar[bool] = False
    """Whether the solver seeks the cheapest of the best routes, and goes on when all prizes are collected."""

    def __init__(self, config: Config | None = None):
        self.config: Config = self.config_class() if config is None else config

    @classmethod
    def read(cls, path: FilePath, **how: Any) -> Instance:
        """The problem that a file holds for this kind of solver; `how` is passed to `orienteer.data.files.read`."""
        from orienteer.data.files import read  # here, so that `import orienteer` need not load the readers

        return read(path, **how)

    def default_stop(self, instance: Instance) -> Stop:
        """When to end if the caller does not say: unless overridden, the solver ends by itself."""
        return Never()

    def kernels(self, instance: Instance) -> list[str]:
        """The tasks for `orienteer.kernel.prepare` that compile what a search of this problem calls."""
        return []

    def prepare(self, instance: Instance) -> None:
        """Does anything else that is slow, happens once and should not count as solving, such as reading weights."""

    def get_ready(self, instance: Instance) -> None:
        """Compiles the kernels that are not compiled yet, with a notice, and calls `prepare`."""
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
        initial: Sequence[int] | Plan | None = None,
    ) -> Result:
        """The result with the best plan found, which is never worse than the route or plan `initial`, if any."""
        self.check_handled(instance)
        problem = instance.reduced
        self.get_ready(problem)
        run = Run(instance, self.default_stop(problem) if stop is None else stop, on_progress, self.shortest)
        if initial is not None:
            run.begin_with(initial)
        if not run.report():
            self.search(run, seed)
        return run.result(self.name, seed, self.settings)

    def check_handled(self, instance: Instance) -> None:
        """Nothing, or an `Unsupported` where the problem has a rule that this solver does not know."""
        if missing := instance.features - self.handles:
            from orienteer.search.registry import solvers_for  # which imports this module

            able = solvers_for(instance.features)
            raise Unsupported(f"{self.name} has no {' and no '.join(sorted(missing))}; {', '.join(able)} have")

    def solve_batch(
        self,
        instances: Sequence[Instance],
        stop: Stop | None = None,
        *,
        seed: int = 0,
        on_done: OnDone = no_news,
    ) -> list[Result]:
        """A result for each instance, the i-th with seed + i; unless overridden, one instance after the other."""
        results = []
        for index, instance in enumerate(instances):
            results.append(self.solve(instance, stop, seed=seed + index))
            on_done(index + 1, len(instances))
        return results

    def takes_batches(self) -> bool:
        """Whether `solve_batch` works on many instances at a time, not on one after the other."""
        return type(self).solve_batch is not Solver.solve_batch

    def on_gpu(self) -> bool:
        """Whether the solver computes on a GPU, by its settings and this machine."""
        return False

    @property
    def settings(self) -> dict[str, Any]:
        """The configuration as plain values."""
        return dataclasses.asdict(self.config)


AnySolver: TypeAlias = Solver[Any]
"""A solver whose settings do not matter to the caller."""
