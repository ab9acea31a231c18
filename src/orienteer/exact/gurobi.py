"""The model of branch and cut solved by Gurobi instead of SCIP; Gurobi's pip licence covers some 2,000 variables."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from orienteer.exact.cut import Cut
from orienteer.exact.missing import gurobi
from orienteer.exact.model import Model, fitting, offer_trivial, reduce
from orienteer.exact.separate.base import Point
from orienteer.exact.separate.subtour import Components
from orienteer.exact.solve import make_separators, warm_start
from orienteer.exact.tree import ACCURACY, LOOSE, too_long
from orienteer.exact.units import finish
from orienteer.model.errors import OrienteerError
from orienteer.model.instance import Instance
from orienteer.search.auto import Auto
from orienteer.search.run import Run
from orienteer.search.solver import Solver

TOO_LARGE = 10010
"""Gurobi's error number for a model that the licence does not cover."""


@dataclass(frozen=True)
class GurobiConfig:
    """How the search begins."""

    warm: float = 0.2
    """The share of the allowance that the warm start may take at most; 0 for no warm start."""

    def __post_init__(self) -> None:
        if not 0 <= self.warm <= 1:
            raise ValueError(f"GurobiConfig.warm must be from 0 to 1, got {self.warm}")


class Gurobi(Solver[GurobiConfig]):
    """Branch and cut by Gurobi; a step is one step of the warm start or one node of the tree."""

    name = "gurobi"
    config_class = GurobiConfig

    def __init__(self, config: GurobiConfig | None = None):
        gurobi()  # raises now if Gurobi is missing, not in the middle of a run
        super().__init__(config)

    def kernels(self, instance: Instance) -> list[str]:
        return Auto().kernels(instance)

    def search(self, run: Run, seed: int) -> None:
        offer_trivial(run)
        model = reduce(run.instance)
        warm_start(run, model.size, seed, self.config.warm)
        if not run.report() and _Search(model, run).solve(seed):
            finish(run, model.units)


class _Search:
    """Gurobi's model, and the answers to its callbacks while it solves."""

    def __init__(self, model: Model, run: Run):
        self.model, self.run = model, run
        self.separators, self.components = make_separators(model), Components(model)
        self.nodes_seen = -1.0
        self.error: BaseException | None = None

    def solve(self, seed: int) -> bool:
        """Searches until the stop criterion or the end of the tree; says whether no better route exists."""
        api = gurobi()
        with api.Env(empty=True) as environment:
            environment.setParam("OutputFlag", 0)
            environment.start()
            with api.Model(env=environment) as solver:
                self._build(solver, seed)
                try:
                    solver.optimize(self._answer)
                except api.GurobiError as error:
                    if error.errno == TOO_LARGE:
                        raise OrienteerError(
                            f"gurobi: the licence does not cover {self.model.size} nodes and "
                            f"{len(self.model.tail)} links; the solver exact has no such limit"
                        ) from error
                    raise
                if self.error is not None:
                    raise self.error
                status = api.GRB.Status
                done = solver.Status in (status.OPTIMAL, status.INFEASIBLE, status.CUTOFF)
                if not done:
                    self._note(solver.ObjBound)
                return done

    def _build(self, solver: Any, seed: int) -> None:
        model, api = self.model, gurobi()
        prizes = model.units.prizes.tolist()
        self.y = [solver.addVar(vtype="B", lb=float(v in model.ends), obj=prizes[v]) for v in range(model.size)]
        always = [float(not model.closed and link == 0) for link in range(len(model.tail))]
        self.x = [solver.addVar(vtype="B", lb=low) for low in always]
        for v in range(model.size):
            out = [self.x[link] for link in np.flatnonzero(model.tail == v).tolist()]
            back = [self.x[link] for link in np.flatnonzero(model.head == v).tolist()]
            if model.directed:
                solver.addConstr(api.quicksum(out) == self.y[v])
                solver.addConstr(api.quicksum(back) == self.y[v])
            else:
                solver.addConstr(api.quicksum(out + back) == 2 * self.y[v])
        solver.addConstr(api.LinExpr(model.costs.tolist(), self.x) <= model.limit * (1 + LOOSE))
        solver.ModelSense = api.GRB.MAXIMIZE
        beat = self._beat()
        parameters = {
            "LazyConstraints": 1,
            "PreCrush": 1,
            "Threads": 1,
            "Seed": seed % 2_000_000_000,
            "MIPGap": 0.0,
            "MIPGapAbs": 0.0,
            "Cutoff": beat - 0.5 if model.units.whole else beat,
        }
        left = self.run.stop.seconds_left(self.run.now())
        if left < 1e9:
            parameters["TimeLimit"] = max(0.0, left)
        for name, value in parameters.items():
            solver.setParam(name, value)

    def _answer(self, solver: Any, where: int) -> None:
        """Gurobi's callback; Gurobi swallows errors in callbacks, so the first is kept and raised by `solve`."""
        try:
            code = gurobi().GRB.Callback
            if where == code.MIP and self._pulse(solver.cbGet(code.MIP_NODCNT), solver.cbGet(code.MIP_OBJBND)):
                solver.terminate()
            elif where == code.MIPSOL:
                point = Point(
                    self.model,
                    np.arange(len(self.x)),
                    np.array(solver.cbGetSolution(self.x)),
                    np.array(solver.cbGetSolution(self.y)),
                )
                for cut in self._lazy(point):
                    solver.cbLazy(self._left(cut) <= cut.most)
            elif where == code.MIPNODE and solver.cbGet(code.MIPNODE_STATUS) == gurobi().GRB.OPTIMAL:
                point = Point(
                    self.model,
                    np.arange(len(self.x)),
                    np.array(solver.cbGetNodeRel(self.x)),
                    np.array(solver.cbGetNodeRel(self.y)),
                )
                found = (cuts for separator in self.separators if (cuts := separator(point, self._beat())))
                for cut in next(found, []):
                    solver.cbLazy(self._left(cut) <= cut.most)  # conditional cuts hold for better routes only
        except BaseException as error:
            self.error = self.error or error
            solver.terminate()

    def _lazy(self, point: Point) -> list[Cut]:
        """Cuts that an integral point breaks; none if the point is a route that fits, which the run is offered."""
        links = point.links[point.x > 0.5]
        cycle = self.model.route(links)
        route = None if cycle is None else fitting(self.model, cycle)
        if route is not None:
            self.run.offer(route)
            return []
        return self.components(point, self._beat()) or [too_long(self.model, links)]

    def _pulse(self, nodes: float, bound: float) -> bool:
        """Counts new nodes as steps and reports; says whether to end."""
        self._note(bound)
        ended = self.run.report()
        if not ended and nodes > self.nodes_seen:
            self.nodes_seen = nodes
            self.run.steps += 1
        return ended

    def _note(self, bound: float) -> None:
        if abs(bound) < 1e99:
            self.run.tighten(max(self.run.best.prize, self.model.units.bound(bound * (1 + ACCURACY))))

    def _beat(self) -> float:
        return self.model.units.beats(self.run.best.prize)

    def _left(self, cut: Cut) -> Any:
        everything = np.arange(len(self.x))
        nodes, links = cut.on_nodes(self.model), cut.on_links(self.model, everything)
        left = gurobi().LinExpr()
        left.addTerms(nodes[nodes != 0].tolist(), [self.y[place] for place in np.flatnonzero(nodes).tolist()])
        left.addTerms(links[links != 0].tolist(), [self.x[place] for place in np.flatnonzero(links).tolist()])
        return left
