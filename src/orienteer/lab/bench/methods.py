"""Methods of an experiment: a solver, its settings and its end, and a key that changes with any of them."""

import hashlib
import importlib
import inspect
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from orienteer.model.errors import OrienteerError
from orienteer.search.registry import REGISTRY, make_solver, solver_class
from orienteer.search.settings import field_types, read_settings
from orienteer.search.solver import AnySolver
from orienteer.search.stop import Stop, at_most
from orienteer.version import __version__

if TYPE_CHECKING:
    from orienteer.lab.bench.peer import Peer

PEERS = {
    "pyvrp": "orienteer.lab.bench.pyvrp_peer:PyVrpPeer",
    "ortools": "orienteer.lab.bench.ortools_peer:OrToolsPeer",
    "vroom": "orienteer.lab.bench.vroom_peer:VroomPeer",
}
"""Other people's solvers, behind our front door for comparison only."""
ENDS = {"seconds": float, "steps": int}
"""What a method is given beside its solver's settings: when an instance ends."""


@dataclass(frozen=True)
class Method:
    """A row of a table."""

    label: str
    solver: str
    settings: dict[str, Any] = field(default_factory=dict)
    seconds: float | None = None
    """Limit for an instance; None leaves the end to the solver."""
    steps: int | None = None

    @property
    def stop(self) -> Stop | None:
        """When an instance ends; None where the solver says."""
        return None if self.seconds is None and self.steps is None else at_most(self.seconds, self.steps)

    @property
    def about(self) -> str:
        """The method as words that `parse_methods` reads, without the device."""
        said = {key: value for key, value in self.settings.items() if key != "device"}
        ends = {"seconds": self.seconds, "steps": self.steps}
        said |= {key: value for key, value in ends.items() if value is not None}
        return ",".join([self.solver, *(f"{key}={_said(value)}" for key, value in said.items())])

    def make(self) -> AnySolver:
        """The solver, configured."""
        if self.solver in PEERS:
            found = peer_class(self.solver)
            return found(found.config_class(**self.settings))
        return make_solver(self.solver, **self.settings)

    def describe(self) -> dict[str, Any]:
        """All that a result depends on beside the instance: every setting, weights by their content, the version."""
        solver = self.make()
        settings = dict(solver.settings)
        if "device" in settings:
            settings["device"] = "cuda" if solver.on_gpu() else "cpu"
        if "weights" in settings:
            settings["weights"] = _weights_digest(solver)
        about = {} if type(solver).__module__.startswith("orienteer.") else {"source": _source_digest(solver)}
        return {
            **about,
            "solver": self.solver,
            "settings": settings,
            "seconds": self.seconds,
            "steps": self.steps,
            "version": getattr(solver, "version", __version__),
        }

    @cached_property
    def key(self) -> str:
        """A short name for all that, with the method's label so that a person can read it."""
        digest = hashlib.sha256(json.dumps(self.describe(), sort_keys=True).encode()).hexdigest()[:10]
        return f"{re.sub(r'[^a-z0-9]+', '-', self.label.lower()).strip('-')}-{digest}"


def peer_class(name: str) -> "type[Peer[Any]]":
    """The class behind a name of `PEERS`, imported now."""
    module, _, attribute = PEERS[name].partition(":")
    found: type[Peer[Any]] = getattr(importlib.import_module(module), attribute)
    return found


def parse_methods(text: str, named: dict[str, str], device: str = "auto") -> list[Method]:
    """Methods written as ``lns,seconds=0.5,cs-p,beam=20``: names, each followed by its settings.

    `named` are names that stand for a solver with settings, such as ``cs-paper``; `device` goes to those that have one.
    """
    found: list[list[str]] = []
    for word in (word.strip() for word in text.split(",")):
        if "=" in word and found:
            found[-1].append(word)
        elif word:
            found.append([word])
    if not found:
        raise ValueError("--methods must name at least one method")
    methods = [_method(words, named, device) for words in found]
    for place, method in enumerate(methods):
        if method.label in [other.label for other in methods[:place]]:
            raise ValueError(f"--methods names {method.label} twice")
    return methods


def _method(words: Sequence[str], named: dict[str, str], device: str) -> Method:
    name, *given = words
    solver, *ours = named.get(name, name).split(",")
    if solver not in REGISTRY and solver not in PEERS and ":" not in solver:
        others = [other for other in named if other not in REGISTRY]
        raise ValueError(f"--methods knows {', '.join([*REGISTRY, *others])} and MODULE:CLASS, got {name!r}")
    chosen: type[AnySolver] = peer_class(solver) if solver in PEERS else solver_class(solver)
    types = {**field_types(chosen.config_class), **ENDS}
    values = read_settings(solver, types, [*ours, *given], "--methods")
    seconds, steps = values.pop("seconds", None), values.pop("steps", None)
    if "device" in types:
        values.setdefault("device", device)
    return Method(",".join(words), solver, values, seconds, steps)


def _said(value: Any) -> str:
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def _source_digest(solver: AnySolver) -> str:
    """The content of the file of somebody's own solver, whose changes our version does not tell."""
    return hashlib.sha256(inspect.getsource(inspect.getmodule(type(solver)) or type(solver)).encode()).hexdigest()[:10]


def _weights_digest(solver: AnySolver) -> str:
    """The content of the weights, so that a retrained file under an old name is another method."""
    from orienteer.network.solver import LearnedSolver

    if not isinstance(solver, LearnedSolver):
        raise OrienteerError(f"{solver.name} has weights, but is no learned solver")
    path = solver.weights_file()
    return f"{path.stem}:{hashlib.sha256(path.read_bytes()).hexdigest()[:10]}"
