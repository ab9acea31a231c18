"""The learned search: the cost-level beam search with a network's score."""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from orienteer.beam.backend import choose_backend
from orienteer.beam.backend.protocol import Backend, Over
from orienteer.beam.cost_level import CostLevelConfig
from orienteer.beam.polish import polish
from orienteer.beam.solvers import BeamSettings, BeamSolver, CostLevelSolver
from orienteer.lns.large.search import is_large
from orienteer.lns.solver import NeighbourhoodConfig, NeighbourhoodSearch
from orienteer.model.errors import MissingExtra, OrienteerError
from orienteer.model.instance import Instance
from orienteer.network.score import KNOWN, Look, NetworkScore, ValueScore
from orienteer.network.weights import Header, Method, find_weights, open_weights
from orienteer.search.stop import AnyOf, MaxSteps, When

THREADS = 16
"""The most threads of the host that work on the problems of a GPU."""
STEPS, MOST_STEPS = 0.016, 100_000
"""Steps of the neighbourhood search after the learned search on a CPU: for each node to the power of three, and the
most. Small problems are solved already, in large ones a step takes longer."""
ANNEALING = NeighbourhoodConfig(start_share=0.0)
"""That search's settings: the route to begin with is there already."""
SOON = 500
"""Nodes up to which the route known before a search is polished, not only filled up: a tenth of a second."""
LARGE_STEPS = 1100
"""Steps for each node of the neighbourhood search of large problems beside a GPU: less time than the GPU takes."""
BEAMS = {"cuda": 20, "cpu": 10}
"""How wide the learned cost-level search is where the settings name no width: a CPU is to answer within a second."""
WIDE = 50
"""Beams that are at least this wide are chosen for quality rather than for speed."""
LAG, GPU_LAG, WIDE_GPU_LAG = 3.0, 2.0, 2.6
"""The lag where the settings name none: on a CPU, on a GPU, and there in wide beams. On a GPU the smaller lag saves a
narrow beam a seventh of its time and costs 0.01 % of the prize; wide beams then find 0.001 % less."""
GROUP = "orienteer.networks"
"""Entry points of this group are named after a method of training; each makes the score of its weights on a backend."""


@dataclass(frozen=True)
class LearnedLevelConfig(CostLevelConfig):
    """Settings of the cost-level beam search with the learned score."""

    beam: int | None = 0
    """K, the most paths in a queue; 0 is 20 on a GPU and 10 elsewhere, None keeps them all."""
    branch: int | None = 8
    """How many of a path's children, the best ones, enter the queues; None is all of them."""
    spread: float = 0.5
    """How many mean prizes a path's rank falls for each better path of its queue that ends at the same node."""
    lag: float | None = -1.0
    """How many mean prizes a path's score may be below the best of its queue for the path to be expanded; below 0 is
    2 on a GPU, 2.6 there with a beam of 50 or more, and 3 elsewhere, None is any number. Of a beam of 20 a tenth of the
    paths lag more than 3, of a beam of 100 a quarter, and they lead nowhere."""
    both: bool = True
    """Search from both ends, each with half of the beam, where a problem is not the same backwards: where costs differ
    by direction, or the end is not the start. A beam of 1 or without bound is not divided."""
    polish: bool = True
    """Try a local search on the best route when the search is over and recombined, and on a CPU a short neighbourhood
    search after that."""
    weights: str = ""
    """Shipped weights by name, or a file; empty for flagship on a GPU and flagship-small elsewhere. The paper's network
    is an-dqn."""

    def __post_init__(self) -> None:
        if self.beam == 0:
            object.__setattr__(self, "beam", BEAMS[choose_backend(self.device).name])
        if self.lag is not None and self.lag < 0:
            object.__setattr__(self, "lag", lag_for(choose_backend(self.device).name, self.beam))
        super().__post_init__()


def lag_for(backend: str, beam: int | None) -> float:
    """The lag where the settings name none."""
    if backend != "cuda":
        return LAG
    return GPU_LAG if beam is not None and beam < WIDE else WIDE_GPU_LAG


class LearnedSettings(BeamSettings, Protocol):
    """Settings that every beam search with a network has."""

    @property
    def weights(self) -> str:
        """Shipped weights by name, or a file; empty for the method's own."""


LearnedConfig = TypeVar("LearnedConfig", bound=LearnedSettings)


class LearnedSolver(BeamSolver[LearnedConfig]):
    """A beam search scored by a network; subclasses say which network and which search.

    A step is one look of the network at all paths of a beam.
    """

    methods: ClassVar[tuple[Method, ...]]
    """Methods of training whose weights the solver takes."""
    weights: ClassVar[str]
    """Shipped weights that the solver takes by default."""
    gpu_weights: ClassVar[str] = ""
    """Shipped weights by default on a GPU, where a larger network costs little more; empty for `weights`."""

    @classmethod
    def default_weights(cls, backend: Backend) -> str:
        """The name of the shipped weights that the solver takes on a backend."""
        return {"cuda": cls.gpu_weights}.get(backend.name, "") or cls.weights

    def weights_file(self) -> Path:
        """The file of the weights that the solver takes."""
        return find_weights(self.config.weights or self.default_weights(self.backend))

    def scorer(self) -> NetworkScore:
        """The score with its weights; one object for all calls, so that its passes can be counted."""
        path = self.weights_file()
        return _loaded(str(path.resolve()), path.stat().st_mtime_ns, self.backend, self.methods)


class LearnedCostLevelSearch(LearnedSolver[LearnedLevelConfig], CostLevelSolver[LearnedLevelConfig]):
    """CS(K, tau) with the learned score: the paper's method."""

    name, weights, methods, config_class = "cs-l", "flagship-small", ("expert", "dqn"), LearnedLevelConfig
    gpu_weights = "flagship"

    def kernels(self, instance: Instance) -> list[str]:
        if not self.backend.compiles_ahead:
            return NeighbourhoodSearch().kernels(instance) if self._polishes and is_large(instance) else []
        annealing = NeighbourhoodSearch(ANNEALING).kernels(instance) if self._polishes else []
        return [*super().kernels(instance), "orienteer.network.host.policy:compile_policy", *annealing]

    def prepare(self, instance: Instance) -> None:
        super().prepare(instance)
        if self.on_gpu() and self._polishes:
            _load_polishing(instance.symmetric)

    def first_calls(self, symmetric: bool) -> list[str]:
        polishing = ["polish_symmetric" if symmetric else "polish_directed"] if self._polishes else []
        return [*polishing, *super().first_calls(symmetric), "find_ways"]

    def fallback(self, instance: Instance) -> list[int] | None:
        """A route filled up without a search: in large problems a search closes its first good routes late."""
        if not self._polishes or instance.size <= self._quick:
            return None
        return polish([instance], [instance.cheapest_route()], instance.size, over=lambda: instance.size > SOON)[0]

    @contextmanager
    def beside(self, instances: Sequence[Instance], over: Over) -> Iterator[Callable[[], list[list[int]]]]:
        """On a GPU cores of the host search large problems meanwhile, which the network has not learned from."""
        able = self.on_gpu() and self._polishes
        large = [row for row, one in enumerate(instances) if one.size > KNOWN and is_large(one)] if able else []
        if not large:
            yield lambda: [[]] * len(instances)
            return
        left = threading.Event()  # by an error or Ctrl-C
        pool = ThreadPoolExecutor(_threads())
        seeds = range(max(1, _threads() // len(large)))  # several searches of a problem rather than idle cores
        try:
            found = {
                row: [pool.submit(_searched, instances[row], seed, lambda: left.is_set() or over()) for seed in seeds]
                for row in large
            }
            yield lambda: [_best_of(one, found.get(row, ())) for row, one in enumerate(instances)]
        finally:
            left.set()
            pool.shutdown(cancel_futures=True)

    def finish(self, instances: Sequence[Instance], routes: list[list[int]], over: Over) -> list[list[int]]:
        if not self._polishes:
            return routes
        begun = [route or one.cheapest_route() for one, route in zip(instances, routes, strict=True)]
        threads = _threads() if self._quick else 1
        polished = polish(instances, begun, self._quick, threads, over)
        if self._quick:
            return polished
        return [_annealed(one, route, over) for one, route in zip(instances, polished, strict=True)]

    @property
    def _quick(self) -> int:
        """Nodes of the largest problems that the backend solves faster than a few cores could polish them with care."""
        return {"cuda": KNOWN}.get(self.backend.name, 0)

    @property
    def _polishes(self) -> bool:
        return bool(self.config.polish) and self._recombines


@cache
def _load_polishing(symmetric: bool) -> None:
    """Begins to load the loops that polish routes; they are there when a GPU has found the first routes."""
    from orienteer.beam import first_calls

    threading.Thread(target=first_calls.polish_symmetric if symmetric else first_calls.polish_directed).start()


def _threads() -> int:
    return min(THREADS, os.cpu_count() or 1)


def _searched(instance: Instance, seed: int, over: Over) -> list[int]:
    """The route of a neighbourhood search of a large problem, which begins anew, not with a route that is known.

    A route of the network is no better a beginning: at 1,000 nodes as many steps from there end 0.6 % lower.
    """
    stop = AnyOf(MaxSteps(LARGE_STEPS * instance.size), When(lambda now: over()))
    return list(NeighbourhoodSearch().solve(instance, stop, seed=seed).tour.nodes)


def _best_of(instance: Instance, found: Sequence[Future[list[int]]]) -> list[int]:
    """The route with the most prize of several searches; empty where there was no search."""
    routes = [one.result() for one in found]
    return max(routes, key=lambda route: float(instance.prizes[route].sum()), default=[])


def _annealed(instance: Instance, route: list[int], over: Over) -> list[int]:
    """The route, or a better one by a short neighbourhood search: with 100 nodes a quarter of the beam search's time.

    Of the gap to the optimum that the beam search leaves there, half is closed.
    """
    steps = int(min(MOST_STEPS, STEPS * instance.size**3))
    search = NeighbourhoodSearch(ANNEALING)
    stop = AnyOf(MaxSteps(steps), When(lambda now: over()))
    return list(search.solve(instance, stop, initial=route).tour.nodes)


@lru_cache(maxsize=8)
def _loaded(path: str, changed: int, backend: Any, methods: tuple[Method, ...]) -> NetworkScore:
    """The score with the weights of a file; read again only when the file has changed."""
    header = open_weights(path, methods)
    if header.method == "expert":
        return ValueScore(flagship(header, backend), KNOWN)
    for point in entry_points(group=GROUP, name=header.method):
        try:
            made: NetworkScore = point.load()(header, backend)
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            raise MissingExtra(f"a network trained by {header.method}", "gpu") from error
        return made
    raise OrienteerError(f"{header.path}: no installed package has a network for weights of {header.method}")


def flagship(header: Header, backend: Backend) -> Look:
    """The flagship's network with the weights of a file, on a backend."""
    if backend.name == "cuda":
        from orienteer.network.cuda.place import cuda_look

        return cuda_look(header, backend)
    from orienteer.network.host.look import host_look

    return host_look(header)
