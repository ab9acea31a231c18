"""The tree: SCIP branches on what the root left open and asks our separators at every node."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from orienteer.exact.cut import Cut
from orienteer.exact.missing import scip
from orienteer.exact.model import Ints, Model, offer_cycle, to_beat
from orienteer.exact.root import Root
from orienteer.exact.separate.base import Point, Separator
from orienteer.exact.separate.rules import budget_cover
from orienteer.exact.separate.subtour import Components
from orienteer.search.run import Run

MEMORY = 4000.0
"""The most memory that SCIP may use, in megabytes."""
LOOSE = 1e-8
"""Added to the limit as a share, beyond SCIP's rounding: a route too long is found out later, a lost one is not."""
ACCURACY = 1e-7
"""How far, as a share, SCIP's own bound may be below the truth."""

Answer = TypeVar("Answer")


class Tree:
    """SCIP's model of the links that the root left, for routes better than the run's best.

    `whole` says whether these are all links that a better route might use, so that SCIP's bound counts.
    """

    def __init__(self, model: Model, root: Root, separators: list[Separator], run: Run, whole: bool = True):
        self.model, self.run, self.separators, self.whole = model, run, separators, whole
        self.links = root.links
        self.components = Components(model)
        self.solver = scip().Model()
        self.error: BaseException | None = None
        self.nodes_seen = 0
        always = model.always
        self.y = [
            self.solver.addVar(
                f"y{v}",
                "B",
                lb=1.0 if root.always[v] or v in always else 0.0,
                ub=0.0 if v in model.barred or (root.never[v] and v not in always) else 1.0,
                obj=float(model.units.prizes[v]),
            )
            for v in range(model.size)
        ]
        self.x = [
            self.solver.addVar(f"x{link}", "B", lb=float(not model.closed and link == 0))
            for link in root.links.tolist()
        ]
        self._equations()
        for cut in root.cuts:
            self._constraint(cut)
        self._settings()
        self._handler()

    def solve(self) -> bool:
        """Searches until the stop criterion or the end; says whether the tree is exhausted: no better route exists."""
        beat = self.beat()
        self.solver.setObjlimit(beat - 0.5 if self.model.units.whole else beat)
        self.solver.optimize()
        if self.error is not None:
            raise self.error
        status = self.solver.getStatus()
        done = status in ("optimal", "infeasible", "inforunbd")
        if not done:
            self.note_bound()
        self.solver.freeProb()  # which unlocks variables by the handler
        self.handler.tree = self.handler.model = None  # model and handler hold each other
        return done

    def beat(self) -> float:
        """The fewest units of prize that make a route better than the run's best."""
        return to_beat(self.run, self.model)

    def note_bound(self) -> None:
        """Tells the run SCIP's bound; where the model has not the `whole` of the links, the bound says nothing."""
        bound = self.solver.getDualbound()
        if self.whole and not self.solver.isInfinity(abs(bound)):
            self.run.tighten(max(self.run.prize, self.model.units.bound(bound * (1 + ACCURACY))))

    def look(self, solution: Any = None) -> Point:
        """The values of a solution of SCIP, by default of its current linear program."""
        value = self.solver.getSolVal
        x = np.array([value(solution, variable) for variable in self.x])
        y = np.array([value(solution, variable) for variable in self.y])
        return Point(self.model, self.links, x, y)

    def accept(self, point: Point) -> bool:
        """Whether an integral point is a route that fits; if so, the run is offered the route."""
        return offer_cycle(self.run, self.model, point.links[point.x > 0.5])

    def add(self, cuts: list[Cut], force: bool = False) -> bool:
        """Adds rows to SCIP's program; says whether one of them shows the node to be empty."""
        for cut in cuts:
            row = self.solver.createEmptyRowUnspec(cut.family, lhs=None, rhs=cut.most, local=False, removable=True)
            self.solver.cacheRowExtensions(row)
            for variable, value in self._terms(cut):
                self.solver.addVarToRow(row, variable, value)
            self.solver.flushRowExtensions(row)
            empty = self.solver.addCut(row, forcecut=force)
            self.solver.releaseRow(row)
            if empty:
                return True
        return False

    def pulse(self) -> bool:
        """Counts new nodes as a step, reports, and interrupts SCIP if the run is to end; says whether it did."""
        nodes = int(self.solver.getNTotalNodes())
        fresh = nodes - self.nodes_seen
        if fresh:
            self.note_bound()
        ended = self.run.report()
        if not ended and fresh:
            self.nodes_seen = nodes
            self.run.steps += 1
        if ended:
            self.solver.interruptSolve()
        return ended

    def _equations(self) -> None:
        model, quick = self.model, scip().quicksum
        out: list[list[Any]] = [[] for _ in range(model.size)]
        back: list[list[Any]] = [[] for _ in range(model.size)] if model.directed else out
        ends = zip(model.tail[self.links].tolist(), model.head[self.links].tolist(), strict=True)
        for variable, (i, j) in zip(self.x, ends, strict=True):
            out[i].append(variable)
            back[j].append(variable)
        for v in range(model.size):
            self.solver.addCons(quick(out[v]) == (1 if model.directed else 2) * self.y[v])
            if model.directed:
                self.solver.addCons(quick(back[v]) == self.y[v])
        costs = model.costs[self.links].tolist()
        self.solver.addCons(quick(c * x for c, x in zip(costs, self.x, strict=True)) <= model.limit * (1 + LOOSE))
        for weights, most in model.rows:
            left = quick(float(weights[v]) * self.y[v] for v in np.flatnonzero(weights).tolist())
            whole = np.array_equal(weights, np.round(weights))
            self.solver.addCons(left <= (most if whole else most * (1 + LOOSE)))  # SCIP knows more of whole rows
        self.solver.setMaximize()

    def _constraint(self, cut: Cut) -> None:
        terms = self._terms(cut)
        if terms:
            left = scip().quicksum(value * variable for variable, value in terms)
            self.solver.addCons(left <= cut.most, enforce=False, check=False, removable=True)

    def _terms(self, cut: Cut) -> list[tuple[Any, float]]:
        nodes, links = cut.on_nodes(self.model), cut.on_links(self.model, self.links)
        terms = [(self.y[place], float(nodes[place])) for place in np.flatnonzero(nodes).tolist()]
        return terms + [(self.x[place], float(links[place])) for place in np.flatnonzero(links).tolist()]

    def _settings(self) -> None:
        solver = self.solver
        solver.hideOutput()
        solver.setHeuristics(scip().SCIP_PARAMSETTING.OFF)
        for name, value in SETTINGS.items():
            solver.setParam(name, value)
        left = self.run.stop.seconds_left(self.run.now())
        if left < 1e9:
            solver.setParam("limits/time", max(0.0, left))
        for variable in self.y:
            solver.chgVarBranchPriority(variable, 1)

    def _handler(self) -> None:
        self.handler = _handler_class()(self)
        self.solver.includeConshdlr(
            self.handler,
            "cycle",
            "one cycle through the start, within the limit",
            sepapriority=1,
            enfopriority=-1,
            chckpriority=-1,
            sepafreq=1,
            eagerfreq=-1,
            maxprerounds=0,
        )
        self.solver.addPyCons(self.solver.createCons(self.handler, "cycle"))


SETTINGS: dict[str, Any] = {
    "misc/catchctrlc": False,
    "misc/usesymmetry": 0,  # this and the next two would have to know what our constraint means
    "constraints/components/maxprerounds": 0,
    "constraints/components/propfreq": -1,
    "separating/rapidlearning/freq": -1,  # works on copies, which lack our constraint
    "separating/gomory/freq": -1,  # costs more time than it saves here
    "presolving/maxrestarts": 0,
    "limits/memory": MEMORY,
    "timing/clocktype": 2,
}


def too_long(model: Model, links: Ints) -> Cut:
    """Forbids one cycle: the program's tolerance let it through, `check_tour` did not."""
    return Cut("too long", len(links) - 1.0, links=links, link_values=np.ones(len(links)))


@functools.cache
def _handler_class() -> type:
    """SCIP's constraint handler; made here, since its base class is in the optional package."""
    result = scip().SCIP_RESULT

    class Cycle(scip().Conshdlr):  # type: ignore[misc]
        """One cycle through the start that `check_tour` passes."""

        def __init__(self, tree: Tree):
            self.tree: Tree = tree

        def conscheck(
            self,
            constraints: Any,
            solution: Any,
            checkintegrality: Any,
            checklprows: Any,
            printreason: Any,
            completely: Any,
        ) -> dict[str, Any]:
            good = self._guard(lambda: self.tree.accept(self.tree.look(solution)), False)
            return {"result": result.FEASIBLE if good else result.INFEASIBLE}

        def consenfolp(self, constraints: Any, useful: Any, infeasible: Any) -> dict[str, Any]:
            return {"result": self._guard(self._enforce, result.INFEASIBLE)}

        def consenfops(self, constraints: Any, useful: Any, infeasible: Any, objective: Any) -> dict[str, Any]:
            good = self._guard(lambda: self.tree.accept(self.tree.look()), False)
            return {"result": result.FEASIBLE if good else result.INFEASIBLE}

        def conssepalp(self, constraints: Any, useful: Any) -> dict[str, Any]:
            return {"result": self._guard(self._separate, result.DIDNOTRUN)}

        def conslock(self, constraint: Any, kind: Any, up: int, down: int) -> None:
            for variable in (*self.tree.x, *self.tree.y):
                self.model.addVarLocks(variable, up + down, up + down)

        def _separate(self) -> Any:
            tree = self.tree
            if tree.pulse():
                return result.DIDNOTRUN
            point, beat = tree.look(), tree.beat()
            for separator in tree.separators:
                cuts = separator(point, beat)
                if cuts:
                    return result.CUTOFF if tree.add(cuts) else result.SEPARATED
            return result.DIDNOTFIND

        def _enforce(self) -> Any:
            tree = self.tree
            tree.pulse()
            point = tree.look()
            if tree.accept(point):
                return result.FEASIBLE
            cuts = tree.components(point, tree.beat())
            if not cuts:
                links = point.links[point.x > 0.5]
                cuts = budget_cover(tree.model, links) or [too_long(tree.model, links)]
            return result.CUTOFF if tree.add(cuts, force=True) else result.SEPARATED

        def _guard(self, work: Callable[[], Answer], otherwise: Answer) -> Answer:
            """What `work` returns; SCIP cannot carry an error, so the first is kept, and `Tree.solve` raises it."""
            try:
                return work()
            except BaseException as error:
                self.tree.error = self.tree.error or error
                self.model.interruptSolve()
                return otherwise

    return Cycle
