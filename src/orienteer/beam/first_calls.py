"""First calls of the host's loops for beam searches, on a tiny problem, so that they are compiled before a search."""

import numpy as np

from orienteer.beam.backend.host.backend import HostBackend
from orienteer.beam.backend.host.exchange import exchanged
from orienteer.beam.backend.host.meet import best_meeting
from orienteer.beam.backend.host.problems import cheapest_ways
from orienteer.beam.cost_level import CostLevelConfig, cost_level_search
from orienteer.beam.polish import polish
from orienteer.beam.score import PrizeScore
from orienteer.beam.step import StepConfig, step_search
from orienteer.model.instance import Instance


def search_levels() -> None:
    """Compiles the queues of a cost-level search and the expansion of paths."""
    _search_levels(2)


def search_all_levels() -> None:
    """Compiles what queues without bound need in addition to `search_levels`."""
    _search_levels(None)


def search_steps() -> None:
    """Compiles the beams of a step-by-step search and the expansion of paths."""
    backend = HostBackend()
    step_search(backend, backend.problems([_tiny()]), PrizeScore(), StepConfig(2))


def join_paths() -> None:
    """Compiles the search for two paths that meet."""
    paths = np.zeros(1, dtype=np.int64), np.zeros(1), np.zeros(1), np.zeros((1, 1), dtype=np.int64)
    best_meeting(*paths, *paths, 1.0 - np.eye(2), 1.0, 1.0, True)


def exchange_stretches() -> None:
    """Compiles the exchanges of stretches of a route for stretches of logged paths."""
    last, parent = np.zeros(1, dtype=np.int64), np.full(1, -1)
    cost, prize, stops = np.zeros(1), np.zeros(1), np.zeros((1, 1), dtype=np.int64)
    exchanged(np.array([0, 1, 0]), -1, parent, last, cost, prize, stops, 1, 1.0 - np.eye(2), np.ones(2), 2.0, True)


def find_ways() -> None:
    """Compiles the search for the cheapest ways between all nodes."""
    cheapest_ways(1.0 - np.eye(2)[None])


def polish_symmetric() -> None:
    """Compiles the local search on routes for symmetric costs."""
    polish([_tiny()], [[0, 1, 0]])


def polish_directed() -> None:
    """Compiles the local search on routes for costs that differ by direction."""
    polish([_tiny(2.0)], [[0, 1, 0]])


def _tiny(back: float = 1.0) -> Instance:
    """A problem of three nodes, where ways back to the start cost `back` and all others 1."""
    return Instance([[0.0, 1.0, 1.0], [back, 0.0, 1.0], [back, 1.0, 0.0]], [1.0] * 3, 4.0)


def _search_levels(beam: int | None) -> None:
    backend, config = HostBackend(), CostLevelConfig(beam, device="cpu")
    cost_level_search(backend, backend.problems([_tiny()]), PrizeScore(), config)
