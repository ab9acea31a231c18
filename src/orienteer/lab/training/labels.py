"""Random problems with good routes, for networks to imitate: made by many processes, kept in small files.

A label names the arguments of its problem's generator, not the problem: files stay small. Beside whole problems there
are tails: the rest of a route that has begun well and then strayed, which shows a network how to go on after a mistake.
"""

import math
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from orienteer.data.generate import COSTS, PRIZES, default_limit, generate
from orienteer.lab.tours.heuristic import good_route
from orienteer.lab.tours.instance import tour_problem
from orienteer.model.errors import BadFile, InvalidInstance
from orienteer.model.instance import Instance
from orienteer.model.tour import check_tour, route_cost
from orienteer.model.view import in_order
from orienteer.search.solver import AnySolver
from orienteer.search.stop import MaxSeconds

Problem = Literal["op", "tsp"]
"""Orienteering, or tours through every node."""

FORMAT = 1
FIRST_SEED = 10**9
"""Seeds of labelled problems begin here; tests and benchmarks stay below."""
MOST_NODES = 1000
"""The largest problems to label; node numbers fit into 16 bits."""
SLACK = 0.1
"""The most slack in the limit of tours' labels, as a share of the dearest tour's cost."""
PIECE = 1024
"""Problems that a batch solver gets at a time."""


@dataclass(frozen=True)
class Source:
    """The arguments of a problem's generator."""

    n: int
    prizes: str
    costs: str
    limit: float
    seed: int
    separate_end: bool

    @property
    def stops(self) -> int:
        """How many stops a route through every node has, start and end included."""
        return self.n + 2

    def instance(self) -> Instance:
        """The problem itself."""
        return generate(self.n, self.prizes, self.costs, self.limit, 1, self.seed, self.separate_end)[0]


@dataclass(frozen=True)
class Label:
    """A route of a problem: its first `given` nodes are a beginning, good or bad, the others the best known rest."""

    source: Source
    nodes: tuple[int, ...]
    given: int


@dataclass(frozen=True)
class LabelRecipe:
    """Which problems are labelled and how long each is searched."""

    problem: Problem = "op"
    """With tsp all problems are tours: round trips with the cost of a quick tour as the limit."""
    sizes: tuple[int, int] = (10, 200)
    """Fewest and most nodes beside the start."""
    favoured: tuple[int, ...] = (20, 50, 100, 100)
    """Sizes drawn more often, with the default limit."""
    favour: float = 0.6
    costs: tuple[str, ...] = ("euclidean",) * 5 + ("manhattan", "tmat", "road")
    """Families of costs, each entry as likely as any other."""
    stretch: tuple[float, float] = (0.4, 1.6)
    """Range of factors on the default limit, for sizes that are not favoured."""
    apart: float = 0.15
    """Share of problems whose end is another node than the start."""
    tails: int = 2
    """Tails labelled for each whole problem."""
    seconds: float = 0.1
    """Search time for 100 nodes; for other sizes in proportion."""
    kicks: int = 10
    """For tours, instead of `seconds`: kicks of the iterated local search for each node."""

    def __post_init__(self) -> None:
        low, high = self.sizes
        if not 2 <= low <= high <= MOST_NODES:
            raise ValueError(f"LabelRecipe.sizes must be from 2 to {MOST_NODES}, low before high, got {self.sizes}")
        if self.problem not in get_args(Problem):
            raise ValueError(f"LabelRecipe.problem must be op or tsp, got {self.problem!r}")
        if self.kicks < 0:
            raise ValueError(f"LabelRecipe.kicks must be at least 0, got {self.kicks}")
        unknown = set(self.costs) - set(COSTS)
        if unknown or not self.costs:
            raise ValueError(f"LabelRecipe.costs must be some of {', '.join(COSTS)}, got {', '.join(self.costs)}")
        if not 0 < self.seconds < math.inf:
            raise ValueError(f"LabelRecipe.seconds must be above 0, got {self.seconds}")


def make_label(recipe: LabelRecipe, seed: int) -> list[Label]:
    """The labels of the problem with this seed: of the whole problem and of its tails."""
    from orienteer.lns.solver import NeighbourhoodSearch

    if recipe.problem == "tsp":
        return make_tour_label(recipe, seed)
    rng = np.random.default_rng(seed)
    source = draw_source(recipe, seed, rng)
    instance, solver = source.instance(), NeighbourhoodSearch()
    whole = solver.solve(instance, MaxSeconds(_seconds(recipe, instance)), seed=seed).tour.nodes
    labels = [Label(source, whole, 1)]
    for _ in range(recipe.tails):
        begun = stray(instance, whole, rng)
        left = tail(instance, begun)
        if left is None or int(left[0].reachable.sum()) <= 2:
            continue
        rest, names = left
        route = solver.solve(rest, MaxSeconds(_seconds(recipe, rest)), seed=seed).tour.nodes
        nodes = (*begun, *(int(names[node]) for node in route[1:]))
        check_tour(instance, nodes)
        labels.append(Label(source, nodes, len(begun)))
    return labels


def make_tour_label(recipe: LabelRecipe, seed: int) -> list[Label]:
    """The labels of the tour with this seed, by iterated local search; their limit leaves a slack of up to `SLACK`."""
    rng = np.random.default_rng(seed)
    source = draw_source(recipe, seed, rng)
    instance = source.instance()
    whole = good_route(instance.costs, instance.start, instance.end, seed, recipe.kicks)
    assert whole is not None, "generated problems lack no ways"
    routes = [(whole, 1)]
    loose = instance.replace(limit=2 * instance.limit)  # a path may stray and still visit every node
    for _ in range(recipe.tails):
        begun = stray(loose, whole, rng)
        left = tail(loose, begun)
        if left is None or left[0].size <= 3:
            continue
        rest, names = left
        route = good_route(rest.costs, rest.start, rest.end, seed, recipe.kicks)
        assert route is not None, "generated problems lack no ways"
        routes.append(([*begun, *(int(names[node]) for node in route[1:])], len(begun)))
    dearest = max(route_cost(instance, nodes) for nodes, _ in routes)
    source = replace(source, limit=dearest * (1 + rng.uniform(0, SLACK)))
    return [Label(source, tuple(nodes), given) for nodes, given in routes]


def draw_source(recipe: LabelRecipe, seed: int, rng: np.random.Generator) -> Source:
    """A random problem of the recipe."""
    costs, prizes = str(rng.choice(recipe.costs)), str(rng.choice(PRIZES))
    favoured = bool(rng.random() < recipe.favour) and bool(recipe.favoured)
    low, high = recipe.sizes
    # As many small problems as large ones: a large one teaches as much in its tails.
    n = int(rng.choice(recipe.favoured)) if favoured else round(math.exp(rng.uniform(math.log(low), math.log(high))))
    factor = 1.0 if favoured else rng.uniform(*recipe.stretch)
    if recipe.problem == "tsp":
        return _tour_source(n, costs, seed)
    apart = bool(rng.random() < recipe.apart)
    limit = round(default_limit(n, costs) * factor, 4)
    if apart:
        limit = max(limit, 1.5 if costs != "xasy" else 0.2)  # most pairs of places are nearer than that
    return Source(n, prizes, costs, limit, seed, apart)


def stray(instance: Instance, nodes: Sequence[int], rng: np.random.Generator) -> list[int]:
    """The beginning of a route, followed by one to three nodes nearby that the route does not visit next."""
    path = list(nodes[: int(rng.integers(1, max(2, len(nodes) - 1)))])
    cost = route_cost(instance, path)
    free = np.ones(instance.size, dtype=bool)
    free[[*path, instance.end]] = False
    for _ in range(int(rng.integers(1, 4))):
        leg = instance.costs[path[-1]]
        fits = np.flatnonzero(free & (cost + leg + instance.to_end <= instance.budget))
        if not len(fits):
            break
        near = fits[np.argsort(leg[fits], kind="stable")[:10]]
        node = int(near[min(int(rng.exponential(2.0)), len(near) - 1)])
        cost += float(leg[node])
        path.append(node)
        free[node] = False
    return path


def tail(instance: Instance, path: Sequence[int]) -> tuple[Instance, npt.NDArray[np.int64]] | None:
    """The problem that is left after a path, and the number of each of its nodes in the whole problem.

    None where the end can no longer be reached: without a triangle inequality the way may lead through the path.
    """
    last, end = path[-1], instance.end
    free = np.ones(instance.size, dtype=bool)
    free[[*path]] = False
    names = in_order(free, last, end)
    if end == last:
        names = names[:-1]  # the only stop of that number
    left = instance.limit - route_cost(instance, path)
    place = len(names) - 1 if end != last else 0
    prizes = instance.prizes[names].copy()
    prizes[[0, place]] = 0.0
    costs = instance.costs[np.ix_(names, names)]
    try:
        return Instance(costs, prizes, max(left, float(instance.to_end[last])), 0, place), names
    except InvalidInstance:
        return None


def make_labels(
    recipe: LabelRecipe, seeds: Sequence[int], processes: int, ended: Callable[[], bool] = lambda: False
) -> Iterator[Label]:
    """The labels of many seeds, as they come; once `ended()` is true, no further seeds are begun."""
    chunk = 20
    pieces = [seeds[first : first + chunk] for first in range(0, len(seeds), chunk)]
    with ProcessPoolExecutor(processes) as pool:
        for start in range(0, len(pieces), 2 * processes):
            if ended():
                return
            for labels in pool.map(_make_piece, [(recipe, piece) for piece in pieces[start : start + 2 * processes]]):
                yield from labels


def search_labels(
    recipe: LabelRecipe, seeds: Sequence[int], solver: AnySolver, ended: Callable[[], bool] = lambda: False
) -> Iterator[Label]:
    """Labels of whole problems from any solver, many at a time, as they come."""
    for first in range(0, len(seeds), PIECE):
        if ended():
            return
        sources = [draw_source(recipe, seed, np.random.default_rng(seed)) for seed in seeds[first : first + PIECE]]
        results = solver.solve_batch([source.instance() for source in sources])
        made = (Label(source, one.tour.nodes, 1) for source, one in zip(sources, results, strict=True))
        yield from (label for label in made if is_lesson(recipe.problem, label))


def improve_labels(
    labels: Sequence[Label], solver: AnySolver, ended: Callable[[], bool] = lambda: False
) -> Iterator[Label]:
    """The labels in their order; where the solver finds a better rest of a label's route, that rest takes its place.

    Once `ended()` is true, the remaining labels come unchanged.
    """
    for first in range(0, len(labels), PIECE):
        piece = labels[first : first + PIECE]
        if ended():
            yield from piece
            continue
        wholes = [label.source.instance() for label in piece]
        rests = [_rest(label, whole) for label, whole in zip(piece, wholes, strict=True)]
        results = iter(solver.solve_batch([rest[0] for rest in rests if rest is not None]))
        for label, whole, rest in zip(piece, wholes, rests, strict=True):
            yield label if rest is None else _better(label, whole, rest[1], next(results).tour.nodes)


def is_lesson(problem: Problem, label: Label) -> bool:
    """Whether a label can teach a network for `problem`: a tour has to visit every node."""
    return problem == "op" or len(label.nodes) == label.source.stops


def save_labels(path: str | Path, labels: Sequence[Label]) -> None:
    """Writes labels, whole or not at all."""
    path = Path(path)
    sources = [label.source for label in labels]
    part = path.with_name(f"{path.stem}.part.npz")
    np.savez_compressed(
        part,
        format=np.array(FORMAT),
        n=np.array([one.n for one in sources], dtype=np.int16),
        prizes=np.array([PRIZES.index(one.prizes) for one in sources], dtype=np.int8),
        costs=np.array([COSTS.index(one.costs) for one in sources], dtype=np.int8),
        limit=np.array([one.limit for one in sources]),
        seed=np.array([one.seed for one in sources], dtype=np.int64),
        separate_end=np.array([one.separate_end for one in sources]),
        given=np.array([label.given for label in labels], dtype=np.int16),
        length=np.array([len(label.nodes) for label in labels], dtype=np.int16),
        nodes=np.array([node for label in labels for node in label.nodes], dtype=np.int16),
    )
    os.replace(part, path)


def load_labels(path: str | Path) -> list[Label]:
    """What `save_labels` wrote; `BadFile` for anything else."""
    path = Path(path)
    try:
        with np.load(path, allow_pickle=False) as file:
            table = {name: file[name] for name in file.files}
        if int(table["format"]) > FORMAT:
            raise BadFile(path, f"has format {table['format']}; this version reads up to {FORMAT}: update orienteer")
        _check(path, table)
        ends = np.cumsum(table["length"].astype(np.int64))
        nodes = [tuple(part.tolist()) for part in np.split(table["nodes"], ends[:-1])]
        return [
            Label(
                Source(int(n), PRIZES[prizes], COSTS[costs], float(limit), int(seed), bool(apart)), route, int(given)
            )
            for n, prizes, costs, limit, seed, apart, route, given in zip(
                table["n"], table["prizes"], table["costs"], table["limit"], table["seed"], table["separate_end"],
                nodes, table["given"], strict=True,
            )
        ]  # fmt: skip
    except (OSError, ValueError, KeyError, IndexError, TypeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise BadFile(path, f"cannot be read as labels: {error}") from error


def _check(path: Path, table: dict[str, Any]) -> None:
    """Whether the columns of a file belong together and its numbers are those of nodes."""
    length, given = table["length"].astype(np.int64), table["given"].astype(np.int64)
    columns = ("n", "prizes", "costs", "limit", "seed", "separate_end", "given", "length")
    if len({len(table[name]) for name in columns}) != 1 or len(table["nodes"]) != length.sum():
        raise BadFile(path, "has columns of different lengths")
    size = np.repeat(table["n"].astype(np.int64) + 1 + table["separate_end"], length)
    if (table["nodes"] < 0).any() or (table["nodes"] >= size).any():
        raise BadFile(path, "names a node that its problem does not have")
    if (length < 2).any() or (given < 1).any() or (given > length).any():
        raise BadFile(path, "has a route that is too short")
    for name, known in (("prizes", PRIZES), ("costs", COSTS)):
        if (table[name] < 0).any() or (table[name] >= len(known)).any():
            raise BadFile(path, f"has an unknown kind of {name}")
    if not (np.isfinite(table["limit"]) & (table["limit"] > 0)).all() or not (table["n"] > 0).all():
        raise BadFile(path, "has a limit or a size that is not positive")


def _rest(label: Label, whole: Instance) -> tuple[Instance, npt.NDArray[np.int64]] | None:
    """The problem that is left after a label's beginning, and the numbers of its nodes in the whole problem."""
    if label.given == 1:
        return whole, np.arange(whole.size)
    return tail(whole, label.nodes[: label.given])


def _better(label: Label, whole: Instance, names: npt.NDArray[np.int64], route: Sequence[int]) -> Label:
    """The label, or a copy with `route` as its rest if that collects more, or as much at less cost."""
    nodes = (*label.nodes[: label.given], *(int(names[node]) for node in route[1:]))
    old, new = check_tour(whole, label.nodes), check_tour(whole, nodes)
    better = new.prize > old.prize or (new.prize == old.prize and new.cost < old.cost)
    return replace(label, nodes=nodes) if better else label


def _tour_source(n: int, costs: str, seed: int) -> Source:
    source = Source(n, "constant", costs, default_limit(n, costs), seed, False)
    return replace(source, limit=tour_problem(source.instance().costs).limit)


def _make_piece(task: tuple[LabelRecipe, Sequence[int]]) -> list[Label]:
    recipe, seeds = task
    return [label for seed in seeds for label in make_label(recipe, seed)]


def _seconds(recipe: LabelRecipe, instance: Instance) -> float:
    share = int(instance.reachable.sum()) / 100
    return recipe.seconds * share * (1.0 if share < 1 else math.sqrt(share))
