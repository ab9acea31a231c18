"""The plan among columns that collects most, chosen by SCIP."""

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from orienteer.exact.labels.graph import Floats
from orienteer.exact.labels.single import threshold
from orienteer.exact.missing import scip

if TYPE_CHECKING:
    from orienteer.exact.labels.columns import Column, ManyRoutes


class Choice:
    """A program of SCIP: which of these columns make the plan that collects most."""

    def __init__(self, routes: "ManyRoutes", columns: list["Column"]):
        self.routes, self.columns = routes, columns
        self.error: BaseException | None = None
        self.solver: Any = scip().Model()
        self.solver.hideOutput()
        self.solver.setParam("misc/catchctrlc", False)
        self.solver.setMaximize()
        counts = np.array([routes.counts(column) for column in columns]).reshape(len(columns), len(routes.nodes))
        values = counts @ routes.worth
        self.x = [self.solver.addVar(f"x{place}", "B", obj=float(value)) for place, value in enumerate(values)]
        for row, coefficients in enumerate((counts @ routes.rules.T).T):
            self._row(coefficients, float(routes.least[row]), float(routes.most[row]))
        for number, kind in enumerate(routes.kinds):
            own = np.array([column.kind == number for column in columns], dtype=np.float64)
            self._row(own, -np.inf if kind.idle else float(len(kind.which)), float(len(kind.which)))

    def _row(self, coefficients: Floats, least: float, most: float) -> None:
        chosen = np.flatnonzero(coefficients).tolist()
        left = scip().quicksum(float(coefficients[place]) * self.x[place] for place in chosen)
        if chosen:
            self.solver.addCons(left <= most)
            if np.isfinite(least):
                self.solver.addCons(left >= least)
        elif least > 0:
            self.solver.addCons(scip().quicksum(self.x) >= len(self.x) + 1.0)  # nobody visits what is required

    def solve(self) -> bool:
        """Offers the best choice; says whether no plan is better than the run's best after that."""
        routes, run = self.routes, self.routes.run
        left = run.stop.seconds_left(run.now())
        if left < 1e9:
            self.solver.setParam("limits/time", max(0.0, left))
        self.solver.setObjlimit(threshold(run, routes.units, routes.always) - routes.always)
        listener = _listener_class()(self)
        self.solver.includeEventhdlr(listener, "asks", "asks the run whether to end")
        self.solver.optimize()
        done, chosen = self.solver.getStatus() in ("optimal", "infeasible", "inforunbd"), self._chosen()
        self.solver.freeProb()  # which takes the listener off
        listener.choice = listener.model = None  # choice and listener hold each other
        if self.error is not None:
            raise self.error
        return (chosen is None or routes.offer(chosen)) and done

    def _chosen(self) -> "list[Column] | None":
        """The columns of SCIP's best solution, if there is one."""
        if not self.solver.getNSols():
            return None
        solution = self.solver.getBestSol()
        return [
            column for column, x in zip(self.columns, self.x, strict=True) if self.solver.getSolVal(solution, x) > 0.5
        ]

    def pulse(self) -> None:
        """Interrupts SCIP if the run is to end; keeps an error, which SCIP cannot carry."""
        try:
            ended = self.routes.run.report()
        except BaseException as error:
            self.error, ended = self.error or error, True
        if ended:
            self.solver.interruptSolve()


@functools.cache
def _listener_class() -> type:
    """SCIP's event handler; made here, since its base class is in the optional package."""
    kinds = scip().SCIP_EVENTTYPE
    often = (kinds.PRESOLVEROUND, kinds.NODEFOCUSED, kinds.LPSOLVED)

    class Listener(scip().Eventhdlr):  # type: ignore[misc]
        """Asks the run whether to end, after each linear program and each round of presolving."""

        def __init__(self, choice: Choice):
            self.choice: Choice = choice

        def eventinit(self) -> None:
            for kind in often:
                self.model.catchEvent(kind, self)

        def eventexit(self) -> None:
            for kind in often:
                self.model.dropEvent(kind, self)

        def eventexec(self, event: Any) -> None:
            self.choice.pulse()

    return Listener
