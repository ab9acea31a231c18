"""The exact solver: a good route first, then the root's bound, then the tree."""

from dataclasses import dataclass
from typing import Any, ClassVar

from orienteer.core.instance import Instance
from orienteer.core.run import Run
from orienteer.core.solver import Solver
from orienteer.core.stop import AnyOf, MaxSeconds, MaxSteps
from orienteer.exact.missing import scip
from orienteer.exact.model import Model, offer_trivial, reduce
from orienteer.exact.root import Root, RootSolver
from orienteer.exact.separate.base import Point, Separator
from orienteer.exact.separate.logical import Logical
from orienteer.exact.separate.subtour import Components, Subtour
from orienteer.exact.tree import Tree
from orienteer.heuristics.auto import Auto


@dataclass(frozen=True)
class ExactConfig:
    """How far the proof goes."""

    tree: bool = True
    """Whether to branch; without, the bound is the root's."""
    warm: float = 0.2
    """The most of the time that the first route may take, as a share; 0 for none."""

    def __post_init__(self) -> None:
        if not 0 <= self.warm <= 1:
            raise ValueError(f"ExactConfig.warm must be from 0 to 1, got {self.warm}")


class Exact(Solver):
    """Branch and cut; a step is one step of the warm start, one linear program of the root or one node of the tree."""

    name: ClassVar[str] = "exact"
    config_class: ClassVar[type] = ExactConfig

    def __init__(self, config: Any = None):
        scip()  # says at once if it is missing
        super().__init__(config)

    def prepare(self, instance: Instance) -> None:
        Auto().prepare(instance)

    def search(self, run: Run, seed: int) -> None:
        offer_trivial(run)
        model = reduce(run.instance)
        self._warm_start(run, model, seed)
        if run.report():
            return
        separators = make_separators(model)
        root = solve_root(run, model, separators)
        if run.report() or not self.config.tree:
            return
        if Tree(model, root, separators, run).solve():
            finish(run, model)

    def _warm_start(self, run: Run, model: Model, seed: int) -> None:
        """A route of the default heuristic, bounded by steps, so that it is the same every time, and by time."""
        if not self.config.warm:
            return
        now = run.now()
        steps = min(WARM_STEPS * model.size, run.stop.steps_left(now) / 2)
        share = self.config.warm * run.stop.seconds_left(now)
        with run.within(AnyOf(MaxSteps(run.steps + int(steps)), MaxSeconds(now.seconds + share))):
            if not run.report():
                Auto().search(run, seed)


WARM_STEPS = 100
"""Steps of the warm start for each node within reach."""


def make_separators(model: Model) -> list[Separator]:
    """One of each family, cheapest first."""
    return [Components(model), Logical(model), Subtour(model)]


def solve_root(run: Run, model: Model, separators: list[Separator]) -> Root:
    """The root of the run's problem; the run hears of its bound."""

    def ended(bound: float, point: Point) -> bool:
        run.tighten(max(run.best.prize, model.units.bound(bound)))
        return run.step()

    def beat() -> float:
        return model.units.beats(run.best.prize)

    root = RootSolver(model, separators, beat, ended, model.links_of(run.best.nodes)).solve()
    if root.bound < beat():
        finish(run, model)
    return root


def finish(run: Run, model: Model) -> None:
    """Notes that no route in the model is better by what the program can see."""
    run.tighten(run.best.prize + model.units.hidden)
