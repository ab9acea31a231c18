"""The exact solver: a good route first, then the root's bound, then the tree; or labels, where these are better."""

import logging
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orienteer.exact.labels.columns import ManyRoutes
from orienteer.exact.labels.single import OneRoute
from orienteer.exact.lp import LinearProgram
from orienteer.exact.missing import highs, scip
from orienteer.exact.model import MANY, Model, links_of_best, offer_trivial, reduce, to_beat
from orienteer.exact.primal import offer_rounded
from orienteer.exact.root import NEAREST, Root, RootSolver
from orienteer.exact.separate.base import Point, Separator
from orienteer.exact.separate.blossom import Blossom
from orienteer.exact.separate.conditional import Conditional
from orienteer.exact.separate.cover import CycleCover
from orienteer.exact.separate.logical import Logical
from orienteer.exact.separate.rules import Rules
from orienteer.exact.separate.subtour import Components, Subtour
from orienteer.exact.tree import Tree
from orienteer.exact.units import finish
from orienteer.model.instance import Instance
from orienteer.model.reduce import with_choices
from orienteer.model.rules import FEATURES, Budget, Feature
from orienteer.search.auto import Auto, AutoConfig
from orienteer.search.registry import solver_class
from orienteer.search.run import Run
from orienteer.search.solver import Solver
from orienteer.search.stop import AnyOf, MaxSteps, Never, Stop

SEPARATORS: dict[str, type[Separator]] = {
    "components": Components,
    "logical": Logical,
    "subtour": Subtour,
    "conditional": Conditional,
    "blossom": Blossom,
    "cycle": CycleCover,
}
"""The separators by their names in the settings, in the order in which they are asked."""

CLOCKS: frozenset[Feature] = frozenset({"windows", "routes"})
"""What labels are for; all else is rows and costs of branch and cut."""
FIRST_LABELS, FEW_LABELS, MANY_LABELS = 1 << 17, 1 << 18, 1 << 21
"""The most labels of a first try, of a search for a bound and of a search for prices: 20, 40 and 300 megabytes."""


@dataclass(frozen=True)
class ExactConfig:
    """How far the proof goes, and by which means."""

    tree: bool = True
    """Whether to branch; without branching, the bound is the root's."""
    warm: float = 0.2
    """The share of the allowance that the warm start may take at most; 0 for no warm start."""
    cuts: str = "components,logical,subtour,conditional,blossom,cycle"
    """Families of cuts, by name. Subtours in integral solutions are cut off even without the families for them."""
    labels: int = 1 << 23
    """The most labels that a proof keeps, where labels prove: these take a gigabyte."""

    def __post_init__(self) -> None:
        if not 0 <= self.warm <= 1:
            raise ValueError(f"ExactConfig.warm must be from 0 to 1, got {self.warm}")
        if not isinstance(self.labels, int) or self.labels < 1:
            raise ValueError(f"ExactConfig.labels must be a whole number of at least 1, got {self.labels}")
        for name in self.families:
            if name not in SEPARATORS:
                raise ValueError(f"ExactConfig.cuts must name some of {', '.join(SEPARATORS)}, got {name!r}")

    @property
    def families(self) -> list[str]:
        """The names in `cuts`."""
        return [name.strip() for name in self.cuts.split(",") if name.strip()]


class Exact(Solver[ExactConfig]):
    """Branch and cut, and labels where places have opening hours or there are several routes.

    A step is one step of the warm start, one linear program of the root, one node of the tree, or two thousand labels.
    """

    name = "exact"
    config_class = ExactConfig
    handles = frozenset(FEATURES)
    nearest: ClassVar[int] = NEAREST
    many: ClassVar[int] = MANY
    few_links: ClassVar[int] = 10_000
    """Where the root leaves more links than this, a tree on the root's own columns looks for a better route first."""
    most_links: ClassVar[int] = 200_000
    """Where the root leaves more links than this, a tree would take gigabytes."""

    def __init__(self, config: ExactConfig | None = None):
        for needed in (scip, highs):
            needed()  # raises now if it is missing, not in the middle of a run
        super().__init__(config)

    def kernels(self, instance: Instance) -> list[str]:
        """The kernels of the warm start and of the separators."""
        ours = "label_a_little" if instance.features & CLOCKS else "separate_a_little"
        return [*(_heuristic().kernels(instance) if can_warm(instance) else []), f"{__name__}:{ours}"]

    def search(self, run: Run, seed: int) -> None:
        if run.problem.features & CLOCKS:
            self._search_labels(run, seed)
        else:
            self._branch_and_cut(run, seed)

    def _search_labels(self, run: Run, seed: int) -> None:
        """Several routes by columns. One route by few labels; if these do not do, by prices, then by many labels."""
        several = "routes" in run.problem.features
        warm_start(run, run.problem.size * (MORE_WARM if several else 1), seed, self.config.warm)
        if run.report():
            return
        if several:
            ManyRoutes(run).prove(self.config.labels if self.config.tree else FEW_LABELS, listing=self.config.tree)
            return
        labels = OneRoute(run)
        labels.prove(min(FIRST_LABELS, self.config.labels))
        if run.report():
            return
        warm_start(run, run.problem.size * MOST_WARM, seed + 1, self.config.warm)
        if run.report():
            return
        with run.share(PRICE_SHARE if self.config.tree else 1.0):
            labels.price(min(MANY_LABELS, self.config.labels) if self.config.tree else FEW_LABELS)
        if self.config.tree and not run.report():
            labels.prove(self.config.labels)

    def _branch_and_cut(self, run: Run, seed: int) -> None:
        instance = with_choices(run.problem) if run.instance.features else run.instance
        offer_trivial(run, instance)
        model = reduce(instance, self.many)
        if len(model.required) < len(instance.required):
            run.infeasible = True
            return
        warm_start(run, model.size * (RULED_WARM if run.instance.features else 1), seed, self.config.warm)
        if run.report():
            return
        separators = make_separators(model, self.config.families)
        root = solve_root(run, model, separators, self.nearest, whole=self.config.tree)
        if run.report() or not self.config.tree or not root.whole:
            return
        beat = to_beat(run, model)
        if root.bound > (1 + WIDE_GAP) * beat:
            warm_start(run, model.size * MORE_WARM, seed + 1, self.config.warm)
            if run.report():
                return
            root = root.after(to_beat(run, model))
        if len(root.links) > self.few_links:
            root = _search_sparse(run, model, root, separators)
        if run.report():
            return
        if len(root.links) > self.most_links:
            _log.warning("exact: %d links are left, too many for a tree; the bound is the root's", len(root.links))
            return
        if Tree(model, root, separators, run).solve():
            finish(run, model.units)


WARM_STEPS = 100
"""Steps of the warm start for each node within reach."""
RULED_WARM = 2
"""How many times as many steps where there are rules of plans: such a step takes half the time."""
MORE_WARM = 5
"""How many times as many steps where a good plan is needed most: for labels, and where the root leaves a wide gap."""
WIDE_GAP = 0.015
"""The distance of the root's bound from the best prize, as a share of it, from which on a second warm start pays."""
MOST_WARM = 40
"""And where few labels did not do for a proof."""
PRICE_SHARE = 0.7
"""The share of the time left that prices get on a problem with one route."""

SPARSE_SHARE = 0.4
"""The share of the remaining allowance that the tree on the root's own columns may take."""
SPARSE_STEPS = 200
"""The most nodes of that tree where no time limit ends it."""
ROUND_EVERY = 4
"""Every how many steps of the root a route is made of the linear program's solution."""

_log = logging.getLogger("orienteer")


def separate_a_little() -> None:
    """Compiles the kernels of all separators on tiny problems."""
    for back in (1.0, 2.0):
        costs = [[0.0, 1, 1, 1], [back, 0, 1, 1], [back, 1, 0, 1], [back, 1, 1, 0]]
        model = reduce(Instance(costs, [0, 1, 1, 1], 3.5))
        half = np.full(len(model.tail), 0.5)
        point = Point(model, np.arange(len(model.tail)), half, np.ones(model.size))
        for kind in SEPARATORS.values():
            kind(model)(point, 1.0)
        for many in (0, MANY):
            model = reduce(model.instance, many)
            program = LinearProgram(model, np.arange(len(model.tail)))
            program.solve()
            program.reduced(program.prices())


def label_a_little() -> None:
    """Compiles the kernels of the labels on a tiny problem."""
    costs = 1.0 - np.eye(3)
    problem = Instance(
        costs, [0, 1, 1], 9.0, windows={1: (0, 5)}, groups=[[1, 2]], budgets=[Budget("fees", [0, 1, 1], 1)]
    )
    OneRoute(Run(problem, Never())).prove(FEW_LABELS)


def can_warm(instance: Instance) -> bool:
    """Whether the default heuristic knows the problem's rules."""
    return instance.features <= solver_class("lns").handles


def _heuristic() -> Auto:
    """The default heuristic, without the labels that this solver has itself."""
    return Auto(AutoConfig(labels=False))


def warm_start(run: Run, size: int, seed: int, share: float) -> None:
    """Runs the default heuristic on a share of the allowance, for at most `WARM_STEPS` steps for each of `size` nodes.

    A run without any limit also ends the warm start at the heuristic's default stop. Where the run is bounded by steps,
    nothing here reads the clock, so that the result is the same every time.
    """
    if not share or not can_warm(run.instance):
        return
    now = run.now()
    cut: Stop = MaxSteps(run.steps + WARM_STEPS * size)
    if math.isinf(run.stop.seconds_left(now)) and math.isinf(run.stop.steps_left(now)):
        cut = AnyOf(cut, _heuristic().default_stop(run.instance))
    with run.share(share), run.within(cut):
        if not run.report():
            _heuristic().search(run, seed)


def make_separators(model: Model, families: list[str] | None = None) -> list[Separator]:
    """A separator of each family, by default of the families in the default settings, cheapest first."""
    wanted = ExactConfig().families if families is None else families
    rules: list[Separator] = [Rules(model)] if model.rows else []
    return rules + [kind(model) for name, kind in SEPARATORS.items() if name in wanted]


def solve_root(
    run: Run, model: Model, separators: list[Separator], nearest: int = NEAREST, whole: bool = False
) -> Root:
    """The root of the run's problem; the run is told its bounds and offered routes near its solutions.

    `nearest` as for `RootSolver`, `whole` as for its `solve`.
    """

    def ended(bound: float, point: Point) -> bool:
        if run.steps % ROUND_EVERY == 0 and not model.partial:  # of many nodes rounding is slow, and seldom a gain
            offer_rounded(run, point)
        run.tighten(max(run.prize, model.units.bound(bound)))
        return run.step()

    def beat() -> float:
        return to_beat(run, model)

    def halfway(bound: float) -> bool:
        run.tighten(max(run.prize, model.units.bound(bound)))
        return run.report()

    root = RootSolver(model, separators, beat, ended, links_of_best(run, model), nearest, halfway).solve(whole)
    if root.bound < beat():
        finish(run, model.units)
    return root


def _search_sparse(run: Run, model: Model, root: Root, separators: list[Separator]) -> Root:
    """The root after a tree on its own columns, without the links that the better routes found there rule out."""
    timed = math.isfinite(run.stop.seconds_left(run.now()))
    with run.share(SPARSE_SHARE), run.within(Never() if timed else MaxSteps(run.steps + SPARSE_STEPS)):
        Tree(model, root.sparse(), separators, run, whole=False).solve()
    return root.after(to_beat(run, model))
