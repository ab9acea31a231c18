"""The kernels of single steps of a search, each against plain tensors or loops in Python."""

from itertools import accumulate, pairwise

import numpy as np
import pytest
import torch

from gpu import DEVICE, needs_triton
from instances import all_families
from orienteer.beam.candidates import Candidates
from orienteer.beam.states import States
from orienteer.data.generate import generate
from orienteer.model.instance import Instance

pytestmark = needs_triton
SEVERAL = 300
"""Paths for more than one program, the last of which has fewer than it could."""


def after(nodes: int, instances: list[Instance]) -> States:
    """The paths that have left their starts and those with that many more nodes, wherever these may be."""
    from orienteer.beam.backend.cuda.problems import TensorProblems

    problems = TensorProblems.from_instances(instances, DEVICE)
    levels = [States.initial(problems)]
    for _ in range(nodes):
        levels.append(levels[-1].extended(*levels[-1].feasible().nonzero(as_tuple=True)))
    columns = ("instance", "last", "visited", "cost", "prize", "score")
    return States(problems, *(torch.cat([getattr(one, name) for one in levels]) for name in columns))


@pytest.mark.parametrize("prizes", ["uniform", "constant"])  # with equal prizes the cost decides, or the first node
@pytest.mark.parametrize(("costs", "apart"), [("euclidean", True), ("tmat", False)])
def test_what_going_on_leads_to(prizes: str, costs: str, apart: bool) -> None:
    from orienteer.beam.backend.cuda.fused_search import fused_legs

    sizes = (3, 11)
    states = after(1, [one for size in sizes for one in generate(size, prizes, costs, seed=1, separate_end=apart)])
    _assert_same_legs(states, fused_legs(states))


def test_what_going_on_leads_to_in_all_families() -> None:
    """With missing ways, without prizes, and where nothing fits."""
    from orienteer.beam.backend.cuda.fused_search import fused_legs

    states = after(0, all_families(5))
    _assert_same_legs(states, fused_legs(states))


def _assert_same_legs(states: States, found: tuple[torch.Tensor, ...]) -> None:
    problems, row = states.problems, states.instance
    arrival = states.cost[:, None] + problems.costs[row, states.last]
    limit = problems.budget[row, None]
    fits = (arrival + problems.to_end[row] <= limit) & ~states.visited
    total = arrival + problems.straight[row]
    prize = torch.where(fits & (total <= limit), states.prize[:, None] + problems.prizes[row], -torch.inf)
    most = prize.amax(1)
    best = (prize == most[:, None]) & (prize > -torch.inf)
    cost = torch.where(best, total, torch.inf)
    closes = best.any(1)
    assert closes.any()
    for left, right in zip(found[:4], (arrival, fits, most, cost.amin(1)), strict=True):
        assert torch.equal(left, right)
    assert torch.equal(found[4][closes], cost.argmin(1)[closes])


def test_children_are_packed() -> None:
    from orienteer.beam.backend.cuda.fused_search import fused_pack

    states, nodes, first = 40, 30, 2**33  # numbers in a long log need more than 32 bits
    generator = torch.Generator().manual_seed(0)
    cell = torch.randperm(states * nodes, generator=generator)[:SEVERAL]
    score, arrival = torch.randn(2, states, nodes, dtype=torch.float64, generator=generator)
    node_set, keys = (torch.randint(-(2**62), 2**62, (size,), generator=generator) for size in (states, nodes))
    owner = torch.randint(5, (states,), generator=generator)
    row, node = cell // nodes, cell % nodes
    given = (one.to(DEVICE) for one in (cell, score, arrival.abs(), node_set, keys, owner))
    packed, instance = fused_pack(*given, first)
    plain = Candidates.pack(
        torch, score[row, node], arrival.abs()[row, node], node_set[row] + keys[node], (first + row) * nodes + node
    )
    assert torch.equal(packed.cpu(), plain.packed)
    assert torch.equal(instance.cpu(), owner[row])


def test_paths_are_known_where_a_cheaper_one_is_remembered() -> None:
    from orienteer.beam.backend.cuda.fused_search import fused_known

    slots, instances = 16, 3
    generator = torch.Generator().manual_seed(0)
    stamp, cost = torch.randint(-20, 20, (SEVERAL,), generator=generator), torch.arange(SEVERAL) % 7 / 2.0
    owner = torch.arange(SEVERAL) % instances
    remembered = {}  # the slot of an instance: its stamp and cost, in the order in which they were written
    for number in range(instances * slots):
        if number % 4:
            holder = int(torch.randint(-20, 20, (), generator=generator))
            remembered[number % instances, holder % slots] = (holder, number % 5 / 2.0)
    slot = torch.full((instances * slots,), -1)
    for row, (own, place) in enumerate(remembered):
        slot[own * slots + place] = row
    held_stamp = torch.tensor([one for one, _ in remembered.values()])
    held_cost = torch.tensor([one for _, one in remembered.values()], dtype=torch.float64)
    truth = []
    for own, one, spent in zip(owner.tolist(), stamp.tolist(), cost.tolist(), strict=True):
        other, least = remembered.get((own, one % slots), (None, 0.0))
        truth.append(other == one and least <= spent)
    packed = Candidates.pack(torch, torch.zeros(SEVERAL, dtype=torch.float64), cost.double(), stamp, owner).packed
    given = (one.to(DEVICE) for one in (packed, owner, slot, held_stamp, held_cost))
    assert fused_known(*given, slots).tolist() == truth
    assert 10 < sum(truth) < SEVERAL - 10


def test_ranks_sort_by_group_and_falling_score() -> None:
    from orienteer.beam.backend.cuda.fused_search import fused_rank

    bits = 42
    generator = torch.Generator().manual_seed(0)
    score = torch.randn(SEVERAL, dtype=torch.float64, generator=generator) * 100
    score[:4] = torch.tensor([torch.inf, -torch.inf, 0.0, 1e300])
    score[10:20] = score[20:30]  # equals keep their order
    group = torch.randint(4, (SEVERAL,), generator=generator)
    dropped = torch.rand(SEVERAL, generator=generator) < 0.2
    rank = fused_rank(score.to(DEVICE), group.to(DEVICE), dropped.to(DEVICE), bits).cpu()
    numbers, out = range(SEVERAL), dropped.tolist()
    truth = sorted(numbers, key=lambda one: (4, 0.0) if out[one] else (int(group[one]), -float(score[one])))
    assert rank.argsort(stable=True).tolist() == truth
    assert torch.equal((rank >> bits)[~dropped], group[~dropped])
    assert (rank[dropped] == 2**63 - 1).all()


def test_routes_are_surveyed() -> None:
    from orienteer.beam.backend.cuda.backend import CudaBackend
    from orienteer.beam.backend.cuda.fused_exchange import _surveyed
    from orienteer.beam.backend.cuda.paths import TensorLog

    sizes, row = (2, 3, 40, 9), [1, 0, 1, 1]
    instances = list(generate(70, "uniform", "tmat", count=2, seed=3))
    nodes, problems = instances[0].size, CudaBackend(DEVICE).problems(instances)
    log = TensorLog(problems)
    log.begin()
    rng = np.random.default_rng(0)
    routes = [[0, *rng.permutation(np.arange(1, nodes))[: size - 2].tolist(), 0] for size in sizes]
    filled = torch.tensor([route + [0] * (nodes + 1 - len(route)) for route in routes])
    given = (one.to(DEVICE) for one in (torch.tensor(row), filled, torch.tensor(sizes)))
    for own, route, place, spent, won, passed in zip(
        row, routes, *(one.cpu().numpy() for one in _surveyed(problems, log.by_cost(), *given)), strict=True
    ):
        costs, prizes, stops = instances[own].costs, instances[own].prizes, route[1:-1]
        assert place.tolist() == [stops.index(node) + 1 if node in stops else -1 for node in range(nodes)]
        legs = [0.0 if one == other else costs[one, other] for one, other in pairwise(route)]
        assert spent[: len(route)] == pytest.approx([0.0, *accumulate(legs)])
        assert won[: len(stops) + 1] == pytest.approx([0.0, *accumulate(prizes[stops])])
        for at in range(len(stops) + 1):
            words = [sum(1 << node % 64 for node in stops[:at] if node // 64 == word) for word in range(2)]
            assert passed[at].astype(np.uint64).tolist() == words
