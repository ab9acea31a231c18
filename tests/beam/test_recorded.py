"""The recorded search against the search step by step, on the same backend with the same scores."""

from collections import Counter

import pytest
import torch

from gpu import DEVICE, needs_triton
from orienteer.beam.cost_level import CostLevelConfig, cost_level_search
from orienteer.beam.expand import Asked, Expander, Watch, never
from orienteer.beam.problems import Problems
from orienteer.beam.score import Children
from orienteer.beam.states import States
from orienteer.data.generate import generate
from orienteer.model.instance import Instance

pytestmark = needs_triton
FEW_LEVELS = 0.2
"""A wide level, in units of the limit: the interpreter calls Python for every level of every step."""


class Worth:
    """A score that knows nothing but a number for each node; with `doubt`, a path's earlier scores count as well."""

    def __init__(self, problems: Problems, doubt: float = 0.0, records: bool = True):
        generator = torch.Generator().manual_seed(3)
        table = torch.rand(problems.batch, problems.nodes, generator=generator, dtype=torch.float32)
        self.table, self.doubt, self.records, self.paths_seen = table.to(DEVICE), doubt, records, 0

    def children(self, states: States) -> Children:
        scores = states.prize[:, None] + self.table[states.instance]
        begun = (states.last != states.problems.start[states.instance]).to(torch.float64)
        return Children(scores + (self.doubt * begun * (states.score - states.prize - 0.5))[:, None])

    def paths(self, states: States) -> torch.Tensor:
        raise AssertionError("a search that ranks children by their parents asks for no paths")

    def trust(self, problems: Problems) -> torch.Tensor:
        return torch.full_like(problems.limit, 1 - self.doubt)

    def recorded(self, step):  # type: ignore[no-untyped-def]
        if not self.records:
            return None

        def launch() -> None:
            """Plain tensors: tests need no kernels of a network."""
            used, first = (int(step.counters[place]) for place in (0, 1))
            log, problems, rows = step.log, step.problems, slice(first, used)
            trail, instance = log.trail[rows], log.instance[rows]
            last = torch.where(trail < 0, problems.start[instance], trail % problems.nodes)
            columns = log.visited[rows], log.cost[rows], log.prize[rows], log.cost[rows]
            fits = States(problems, instance, last, *columns).feasible()
            step.action[: used - first] = torch.where(fits, self.table[instance], -torch.inf)
            step.value[: used - first] = 0.5

        return launch

    def looked(self, paths: int) -> None:
        self.paths_seen += paths


def searched(instances: list[Instance], config: CostLevelConfig, directions: int, doubt: float, records: bool,
             watch: Watch = never) -> tuple[Expander, Worth]:  # fmt: skip
    from orienteer.beam.backend.cuda.backend import CudaBackend

    backend = CudaBackend(DEVICE, memory=2**33, remembered=64)
    problems = backend.problems(instances, directions)
    score = Worth(problems, doubt, records)
    if DEVICE == "cuda" and records:
        pytest.skip("plain tensors that ask the GPU for sizes cannot be recorded")
    return cost_level_search(backend, problems, score, config, watch), score


def logged(found: Expander) -> Counter[tuple[int, float, float]]:
    """The paths of a search, by instance, cost and prize."""
    used = found.log.used
    columns = (one[:used].tolist() for one in (found.log.instance, found.log.cost, found.log.prize))
    return Counter(zip(*columns, strict=True))


@pytest.mark.parametrize(
    ("costs", "apart", "prizes", "config", "doubt"),
    [
        ("euclidean", False, "uniform", CostLevelConfig(beam=3, branch=4), 0.0),
        ("euclidean", True, "constant", CostLevelConfig(beam=5, branch=3, spread=0.5), 0.0),
        ("tmat", False, "uniform", CostLevelConfig(beam=4, branch=8, lag=0.6), 0.3),
        ("xasy", True, "uniform", CostLevelConfig(beam=4, branch=8, spread=0.0), 0.0),
    ],
)
def test_the_recorded_search_expands_the_same_paths(
    costs: str, apart: bool, prizes: str, config: CostLevelConfig, doubt: float
) -> None:
    instances = [one for size in (6, 9) for one in generate(size, prizes, costs, seed=size, separate_end=apart)]
    config = CostLevelConfig(**{**vars(config), "tau": FEW_LEVELS * instances[0].limit})
    directions = 2 if apart else 1
    plain, _ = searched(instances, config, directions, doubt, records=False)
    recorded, score = searched(instances, config, directions, doubt, records=True)
    assert logged(recorded) == logged(plain)
    assert recorded.best.prize.tolist() == plain.best.prize.tolist()
    assert recorded.best.cost.tolist() == plain.best.cost.tolist()
    assert recorded.routes() == plain.routes()
    assert score.paths_seen == recorded.log.used


def test_a_log_that_is_too_small_grows() -> None:
    from orienteer.beam.backend.cuda.backend import CudaBackend
    from orienteer.beam.backend.cuda.recorded import RecordedSearch

    if DEVICE == "cuda":
        pytest.skip("plain tensors that ask the GPU for sizes cannot be recorded")
    instances = list(generate(9, "uniform", seed=4))
    config = CostLevelConfig(beam=4, branch=4, tau=FEW_LEVELS * instances[0].limit)
    backend = CudaBackend(DEVICE, memory=2**33, remembered=64)
    problems = backend.problems(instances)
    tau = torch.full_like(problems.limit, config.tau or 0.0)
    small = RecordedSearch(backend, problems, Worth(problems), config, tau, beams=2)
    room = small.log.room
    found = small.run(never)
    assert found.log.used > room
    assert logged(found) == logged(searched(instances, config, 1, 0.0, records=False)[0])


def test_a_watch_ends_the_recorded_search() -> None:
    calls = []

    def enough(expander: Expander) -> bool:
        calls.append(expander.log.used)
        return len(calls) == 2

    instances = list(generate(9, "uniform", seed=4))
    config = CostLevelConfig(beam=4, branch=4, tau=FEW_LEVELS * instances[0].limit)
    found, _ = searched(instances, config, 1, 0.0, records=True, watch=Asked(enough))
    assert len(calls) == 2
    assert found.log.used == calls[1] > calls[0]
    assert all(found.routes())
