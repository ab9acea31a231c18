"""Queues by level of cost, and the memory of expanded paths."""

import torch
from orienteer.beam.levels import CostLevels
from orienteer.beam.seen import Seen

from instances import small_instance
from orienteer.beam.candidates import Candidates
from orienteer.beam.expand import Offspring
from orienteer.beam.problems import Problems


def children(*rows):
    """Offspring from (instance, score, cost, stamp, last) rows."""
    instance, score, cost, stamp, last = zip(*rows, strict=True)
    numbers = torch.tensor([score, cost], dtype=torch.float64)
    candidates = Candidates.pack(numbers[0], numbers[1], torch.tensor(stamp), torch.tensor(last))
    return Offspring(torch.tensor(instance), candidates)


def two_problems():
    one = small_instance("euclidean", size=4).replace(limit=10.0)
    return Problems.from_instances([one, one])


def queues(width, spread=0.0):
    problems = two_problems()
    return CostLevels(problems, width, torch.ones_like(problems.limit), spread)


def test_a_path_waits_in_the_level_of_its_cost():
    levels = queues(2)
    levels.put(children((0, 1.0, 0.0, 1, 1), (0, 2.0, 1.0, 2, 2), (0, 3.0, 1.01, 3, 3)))
    assert [levels.pop().stamp.tolist() for _ in range(4)] == [[1], [2], [3], []]


def test_instances_do_not_wait_for_one_another():
    levels = queues(2)
    levels.put(children((0, 1.0, 0.0, 1, 1), (0, 2.0, 1.0, 2, 2), (1, 3.0, 5.01, 3, 3)))
    assert levels.pop().stamp.tolist() == [1, 3]
    levels.put(children((1, 3.0, 6.01, 4, 3), (0, 3.0, 0.5, 5, 3)))
    assert levels.pop().stamp.tolist() == [5, 2, 4]  # 0.5 is of the level of 1
    assert not len(levels.pop())


def test_instances_and_levels_do_not_mix():
    levels = queues(1)
    levels.put(children((0, 1.0, 1.0, 1, 1), (1, 2.0, 1.0, 1, 1), (0, 5.0, 2.0, 2, 2)))
    assert levels.pop().score.tolist() == [1.0, 2.0]
    assert levels.pop().score.tolist() == [5.0]
    assert len(levels.pop()) == 0


def test_a_full_queue_keeps_the_best_over_several_puts():
    levels = queues(2)
    for score in (3.0, 1.0, 4.0, 1.5, 9.0, 2.6):
        levels.put(children((0, score, 0.5, int(10 * score), 1)))
    assert levels.pop().score.tolist() == [9.0, 4.0]


def test_a_tie_with_the_worst_goes_to_the_cheaper():
    levels = queues(1)
    for stamp, cost in ((1, 0.9), (2, 0.5), (3, 0.6)):
        levels.put(children((0, 1.0, cost, stamp, stamp)))
    assert levels.pop().stamp.tolist() == [2]


def test_a_read_queue_starts_afresh():
    levels = queues(1)
    levels.put(children((0, 9.0, 0.5, 1, 1)))
    levels.pop()
    levels.put(children((0, 1.0, 0.6, 2, 1)))
    assert levels.pop().score.tolist() == [1.0]


def test_queues_without_bound_grow():
    levels = queues(None)
    levels.put(children(*((0, float(i), 0.5, i, 1) for i in range(50))))
    levels.put(children(*((0, float(i), 0.5, i, 1) for i in range(50, 120))))
    assert levels.pop().stamp.tolist() == list(range(119, -1, -1))


def test_of_two_orders_of_the_same_nodes_the_cheaper_waits():
    levels = queues(5)
    levels.put(children((0, 1.0, 0.9, 7, 1), (0, 1.0, 0.8, 7, 1)))
    levels.put(children((0, 1.0, 0.7, 7, 1)))
    levels.put(children((0, 1.0, 0.75, 7, 1)))
    assert levels.pop().cost.tolist() == [0.7]


def test_crowding_lets_other_last_nodes_in():
    """Prizes of a mean of one half: the second path at node 1 pays that much and falls behind node 2."""
    problems = two_problems()
    price = float(problems.mean_prize[0])
    rows = [(0, 3.0, 0.5, 1, 1), (0, 2.9, 0.5, 2, 1), (0, 3.0 - price, 0.5, 3, 2)]
    for spread, stamps in ((0.0, [1, 2]), (1.0, [1, 3])):
        levels = CostLevels(problems, 2, torch.ones_like(problems.limit), spread)
        levels.put(children(*rows))
        assert levels.pop().stamp.tolist() == stamps


def test_a_dearer_order_is_not_expanded_later():
    levels = queues(5)
    levels.put(children((0, 1.0, 0.9, 7, 1), (0, 1.0, 1.9, 7, 1), (1, 1.0, 1.9, 7, 1)))
    assert levels.pop().cost.tolist() == [0.9, 1.9]  # the second is the other instance's
    levels.put(children((0, 1.0, 1.8, 7, 1)))
    assert len(levels.pop()) == 0


def test_a_cheaper_order_found_late_is_expanded():
    levels = queues(5)
    levels.put(children((0, 1.0, 0.9, 7, 1)))
    levels.pop()
    levels.put(children((0, 1.0, 0.8, 7, 1)))
    assert levels.pop().cost.tolist() == [0.8]


def test_seen_keeps_instances_apart_and_grows():
    seen = Seen(2, torch.device("cpu"))
    zero, one = torch.zeros(300, dtype=torch.int64), torch.ones(300, dtype=torch.int64)
    stamp = torch.arange(300) * 2**20 + torch.arange(300)
    paths = Candidates.pack(torch.zeros(300).double(), torch.full((300,), 2.0).double(), stamp, stamp)
    assert len(seen.new(zero, paths)) == 300
    seen.add(zero, paths)
    assert len(seen.new(zero, paths)) == 0
    assert len(seen.new(one, paths)) == 300
