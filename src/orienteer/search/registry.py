"""All solvers by name: our own, and those of other packages, by the entry point `orienteer.solvers`."""

import importlib
import logging
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import entry_points
from typing import Any, TypeAlias

import numpy as np

from orienteer.model.errors import OrienteerError
from orienteer.model.rules import Feature
from orienteer.search.settings import check_known, field_types
from orienteer.search.solver import AnySolver, Solver

AnyMethod: TypeAlias = str | type[AnySolver] | AnySolver
"""How callers may name a solver: by its name, a path ``module:Class``, its class, or an object of it."""

_log = logging.getLogger("orienteer")

STOPS = {
    **dict.fromkeys(("seconds", "time_limit", "timeout"), "MaxSeconds"),
    **dict.fromkeys(("steps", "max_steps", "iterations"), "MaxSteps"),
}
"""Stop criteria by what callers may take for a setting."""

GROUP = "orienteer.solvers"
"""Entry points of this group name a sequence of `Entry`."""


@dataclass(frozen=True)
class Entry:
    """A registered solver: what it does, where it was published and where its class is."""

    name: str
    """What callers write for it."""
    summary: str
    """What the solver does, in a few words."""
    paper: str
    """Where the method was published."""
    target: str
    """The path module:Class, imported only when the solver is used."""


class Registry(MutableMapping[str, Entry]):
    """Solvers by name; the entry points of installed packages are read only when a name is not one of our own."""

    def __init__(self, own: tuple[Entry, ...]):
        self._own = {entry.name: entry for entry in own}

    def __getitem__(self, name: str) -> Entry:
        return self._own[name] if name in self._own else self._found[name]

    def __setitem__(self, name: str, entry: Entry) -> None:
        self._own[name] = entry

    def __delitem__(self, name: str) -> None:
        del (self._own if name in self._own else self._found)[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        yield from (name for name in self._found if name not in self._own)

    def __len__(self) -> int:
        return len(self._own | self._found)

    @cached_property
    def _found(self) -> dict[str, Entry]:
        """The solvers of installed packages; those of a package that cannot be loaded are left out with a warning."""
        found = {}
        for point in entry_points(group=GROUP):
            try:
                found.update({entry.name: entry for entry in point.load()})
            except Exception as error:
                _log.warning(f"the solvers of {point.value} are left out: {type(error).__name__}: {error}")
        return found


REGISTRY = Registry(
    (
        Entry(
            "auto",
            "picks by the costs and the machine: lns, widening beams, or the learned search of a batch on a GPU",
            "this project",
            "orienteer.search.auto:Auto",
        ),
        Entry(
            "lns",
            "large neighbourhood search: ruin, recreate, anneal; anytime",
            "after Christiaens and Vanden Berghe 2020",
            "orienteer.lns.solver:NeighbourhoodSearch",
        ),
        Entry(
            "compass",
            "EA4OP, the genetic algorithm",
            "Kobeaga, Merino and Lozano 2018",
            "orienteer.evolution.solver:Evolution",
        ),
        Entry(
            "exact",
            "branch and cut with SCIP, labels for plans: the best, with proof",
            "after Fischetti, Salazar and Toth 1998",
            "orienteer.exact.solve:Exact",
        ),
        Entry(
            "gurobi",
            "the same model with Gurobi, for those who have it",
            "baseline of Liu et al. 2021",
            "orienteer.exact.gurobi:Gurobi",
        ),
        Entry(
            "cs-p",
            "cost-level beam search CS(K, tau) scored by prize",
            "Liu, Xu, Su, Xiao and Yang 2021",
            "orienteer.beam.solvers:PrizeCostLevelSearch",
        ),
        Entry(
            "cs-l",
            "cost-level beam search CS(K, tau) scored by the attention network",
            "Liu, Xu, Su, Xiao and Yang 2021",
            "orienteer.network.solver:LearnedCostLevelSearch",
        ),
        Entry(
            "tsili",
            "greedy construction by desirability, or the best of many random ones",
            "Tsiligirides 1984",
            "orienteer.construct.tsili:Tsili",
        ),
        Entry(
            "tsili-beam",
            "step-by-step beam search scored by desirability",
            "Tsiligirides 1984; Liu et al. 2021",
            "orienteer.beam.solvers:TsiliBeam",
        ),
        Entry(
            "random",
            "a random node at every step",
            "baseline of Liu et al. 2021",
            "orienteer.construct.random:RandomSearch",
        ),
        Entry(
            "enumerate",
            "full enumeration of tiny instances, with proof",
            "the oracle of the tests",
            "orienteer.construct.enumerate:Enumerate",
        ),
    )
)


def solver_class(solver: str | type[AnySolver]) -> type[AnySolver]:
    """The class of a solver given by name or by a path ``module:Class``; a ValueError if the name is unknown."""
    if isinstance(solver, str):
        if ":" in solver:
            return _imported(solver)
        if solver not in REGISTRY:
            raise ValueError(f"solver must be one of {', '.join(REGISTRY)}, or MODULE:CLASS, got {solver!r}")
        return _loaded(REGISTRY[solver].target)
    if not (isinstance(solver, type) and issubclass(solver, Solver)):
        raise ValueError(f"solver must be a name, a subclass of Solver or an object of one, got {solver!r}")
    return solver


def solvers_for(features: frozenset[Feature]) -> list[str]:
    """The names of the registered solvers that know all these rules, as far as they are installed here."""
    known = {name: handled_by(name) for name in REGISTRY}
    return [name for name, handled in known.items() if handled is not None and features <= handled]


def handled_by(name: str) -> frozenset[Feature] | None:
    """What problems may have beyond the plain one for a registered solver; None where it is not installed here."""
    try:
        handled: frozenset[Feature] = _loaded(REGISTRY[name].target).handles
    except (ImportError, AttributeError, OrienteerError):
        return None
    return handled


def make_solver(solver: AnyMethod, **settings: Any) -> AnySolver:
    """A solver with these settings, made from a name, a path or a class; an object is returned as it is.

    An unknown name or setting raises a ValueError that lists the known ones.
    """
    if isinstance(solver, Solver):
        if settings:
            raise ValueError(f"an object of {solver.name} has its settings already, got {', '.join(settings)} too")
        return solver
    chosen = solver_class(solver)
    stops = {key: f"stop={STOPS[key]}({settings[key]!r})" for key in STOPS.keys() & settings.keys()}
    check_known(chosen.name, settings, field_types(chosen.config_class), stops)
    plain = {key: value.item() if isinstance(value, np.generic) else value for key, value in settings.items()}
    return chosen(chosen.config_class(**plain))


def _loaded(path: str) -> Any:
    """The object that a path ``module:Name`` stands for."""
    module, _, attribute = path.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _imported(path: str) -> type[AnySolver]:
    """The solver class that a user's path stands for; any error of the module becomes a ValueError of one line."""
    try:
        found = _loaded(path)
    except OrienteerError:
        raise
    except Exception as error:  # a user's module may fail in any way
        raise ValueError(f"solver {path!r} cannot be imported: {type(error).__name__}: {error}") from error
    if not (isinstance(found, type) and issubclass(found, Solver)):
        raise ValueError(f"solver {path!r} must be a subclass of orienteer.search.solver.Solver, got {found!r}")
    for wanted in ("name", "search"):
        if getattr(found, wanted, None) is getattr(Solver, wanted, None):
            raise ValueError(f"solver {path!r} must define {wanted}")
    return found
