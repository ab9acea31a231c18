"""The replay memory."""

import pytest
import torch

from orienteer.lab.training.environment import Environment, advance
from orienteer.lab.training.instances import Recipe
from orienteer.lab.training.replay import Replay


def _world(count: int) -> Environment:
    return Environment(Recipe(4, 6, (), asymmetric=0.0), count, torch.Generator().manual_seed(1))


def test_what_comes_out_is_what_went_in_with_its_own_instance() -> None:
    world, memory = _world(6), Replay(6)
    before = world.states
    node = before.feasible().float().argmax(1)
    after = advance(before, node)
    reward = torch.arange(6.0)
    memory.push(before, node, reward, reward > 3, after, world.ways)
    kept = world.problems.costs[:6].clone()
    world.problems.costs.zero_()  # the memory has copies
    first, nodes, rewards, done, second, ways = memory.sample(50, torch.Generator().manual_seed(0))
    row = rewards.long()
    assert set(row.tolist()) == set(range(6))
    assert torch.equal(first.problems.costs, kept[row])
    assert torch.equal(ways, kept[row])
    assert torch.equal(nodes, node[row])
    assert torch.equal(done, row > 3)
    assert torch.equal(first.visited, before.visited[row])
    assert torch.equal(second.visited, after.visited[row])
    assert torch.equal(second.last, nodes)
    assert torch.equal(second.cost, after.cost[row])


def test_the_oldest_go_first_and_too_many_keep_the_newest() -> None:
    world, memory = _world(6), Replay(4)
    states = world.states
    for start in (0.0, 6.0):
        reward = torch.arange(start, start + 6)
        memory.push(states, states.last, reward, reward > 99, states, world.ways)
        assert len(memory) == 4
        assert sorted(memory.data["reward"].tolist()) == [start + 2, start + 3, start + 4, start + 5]
    small = Replay(8)
    small.push(states, states.last, torch.arange(6.0), states.last > 99, states, world.ways)
    small.push(states, states.last, torch.arange(6.0, 12.0), states.last > 99, states, world.ways)
    assert sorted(small.data["reward"].tolist()) == list(range(4, 12))
    copy = Replay(8)
    copy.load_state_dict(small.state_dict())
    one, two = (memory.sample(9, torch.Generator().manual_seed(5))[2] for memory in (small, copy))
    assert torch.equal(one, two)


def test_no_room_is_refused() -> None:
    with pytest.raises(ValueError, match="capacity must be at least 1, got 0"):
        Replay(0)
