"""Environments and the instances they draw."""

import numpy as np
import pytest
import torch

from orienteer import Instance, check_tour
from orienteer.beam.backend.cuda.problems import cheapest_ways
from orienteer.beam.problems import Problems
from orienteer.lab.training.environment import Environment
from orienteer.lab.training.instances import Recipe, draw, fixed_size, paper_limit


def _generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def _instance(problems: Problems, row: int) -> Instance:
    """A row without its padding; the limit is raised by what float32 may have rounded away."""
    size = int((problems.to_end[row] < torch.inf).sum())
    costs = problems.costs[row, :size, :size].double().numpy().copy()
    np.fill_diagonal(costs, 0.0)
    limit = float(problems.limit[row]) * (1 + 1e-5)
    prizes = problems.prizes[row, :size].double().numpy()
    return Instance(costs, prizes, limit, int(problems.start[row]), int(problems.end[row]))


def test_random_routes_are_feasible_and_their_rewards_add_up() -> None:
    generator = _generator()
    world = Environment(Recipe(4, 12, (12,), asymmetric=0.5, apart=0.5), 12, generator)
    routes = [[int(world.problems.start[row])] for row in range(12)]
    won = [0.0] * 12
    finished = 0
    for step in range(40):
        if step % 5 == 4:
            world.refresh()
        feasible = world.states.feasible()
        stuck = ~feasible.any(1)
        node = torch.where(feasible, torch.rand(feasible.shape, generator=generator), -1.0).argmax(1)
        rows = world.states.instance.tolist()
        reward, done, _ = world.step(node, stuck)
        for i in range(12):
            won[i] += float(reward[i])
            if not stuck[i]:
                routes[i].append(int(node[i]))
            if done[i]:
                instance = _instance(world.problems, rows[i])
                if len(routes[i]) > 1 and instance.costs[routes[i][-1], instance.end] <= instance.to_end[routes[i][-1]]:
                    assert check_tour(instance, [*routes[i], instance.end]).prize == pytest.approx(won[i], abs=1e-5)
                    finished += 1
                routes[i], won[i] = [int(world.problems.start[world.states.instance[i]])], 0.0
    assert finished > 20


def test_a_new_beginning_is_on_the_other_row_and_refresh_spares_rows_in_use() -> None:
    world = Environment(Recipe(4, 6, (), apart=0.0), 5, _generator(3))
    done = torch.zeros(5, dtype=torch.bool)
    while not done.any():
        feasible = world.states.feasible()
        _, done, _ = world.step(feasible.float().argmax(1), ~feasible.any(1))
    flipped = done.nonzero()[:, 0]
    assert (world.states.instance[flipped] == flipped + 5).all()
    rows = world.states.instance
    before = world.problems.costs.clone()
    world.refresh()
    other = (rows + 5) % 10
    assert torch.equal(world.problems.costs[rows], before[rows])
    assert not torch.equal(world.problems.costs[other], before[other])


def test_recipes_are_repeatable_and_of_the_paper() -> None:
    for kind in ("constant", "uniform", "distance"):
        one, ways = draw(fixed_size(20, kind), 50, _generator(7))
        two, _ = draw(fixed_size(20, kind), 50, _generator(7))
        assert torch.equal(one.costs, two.costs)
        assert torch.equal(one.prizes, two.prizes)
        assert ways is one.costs
        assert one.limit.tolist() == [2.0] * 50
        assert (one.prizes[:, 0] == 0).all()
        assert (one.prizes[:, 1:] > 0).all()
        assert one.prizes.max() <= 1
    constant = draw(fixed_size(20, "constant"), 3, _generator())[0]
    assert constant.prizes.sum(1).tolist() == [20.0] * 3
    distance = draw(fixed_size(30, "distance"), 3, _generator())[0]
    farthest = distance.costs[:, 0].argmax(1)
    assert distance.prizes[torch.arange(3), farthest].tolist() == [1.0] * 3


def test_limits_of_the_paper() -> None:
    torch.testing.assert_close(paper_limit(torch.tensor([20.0, 50.0, 100.0])), torch.tensor([2.0, 3.0, 4.0]))


def test_mixed_batches_hold_all_families_and_true_ways() -> None:
    problems, ways = draw(Recipe(5, 15, (15,), asymmetric=0.5, apart=0.3), 60, _generator(2))
    inner = problems.to_end < torch.inf
    pairs = inner[:, :, None] & inner[:, None, :]
    torch.testing.assert_close(ways[pairs], cheapest_ways(problems.costs)[pairs], rtol=1e-5, atol=1e-6)
    rows = torch.arange(60)
    torch.testing.assert_close(problems.to_end, ways[rows, :, problems.end], rtol=0, atol=0)
    sizes = (problems.to_end < torch.inf).sum(1)
    assert sizes.min() >= 6
    assert sizes.max() == 16
    asymmetric = (problems.costs.nan_to_num(posinf=0.0) != problems.costs.transpose(1, 2).nan_to_num(posinf=0.0)).any(2)
    assert 25 <= int(asymmetric.any(1).sum()) <= 30
    assert 5 < int(problems.end.sum()) < 35
    assert (problems.limit >= problems.to_end[:, 0]).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"smallest": 1}, "smallest must be from 2 to largest 100, got 1"),
        ({"prizes": ("golden",)}, "prizes must be some of constant, uniform, distance"),
        ({"favoured": (200,)}, "favoured must lie from smallest to largest"),
        ({"apart": 2.0}, "apart must be from 0 to 1, got 2.0"),
    ],
)
def test_impossible_recipes_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Recipe(**changes)  # type: ignore[arg-type]
