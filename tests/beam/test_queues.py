"""The selection that both searches make, queues by level of cost, and the memory of expanded paths."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from backends import few, placed, read, remembering
from orienteer.beam.backend.protocol import Backend, Queues
from orienteer.beam.candidates import Candidates, Offspring
from orienteer.beam.problems import Problems
from orienteer.model.instance import Instance

NODES = 5

Row = tuple[int, float, float, int, int]
"""Instance, score, cost, stamp and last node of a child."""

ROWS = st.lists(
    st.tuples(
        st.integers(0, 3),  # instance
        st.sampled_from([-2.5, 0.0, 1.0, 1.5, 7.25]),  # score
        st.sampled_from([0.125, 0.25, 0.5, 1.0]),  # cost: one level
        st.integers(0, 6),  # set of nodes, by name
        st.integers(0, NODES - 1),  # last node
    ),
    min_size=1,
    max_size=40,
)
WIDTHS = st.sampled_from([1, 2, 3, 10, None])


def children(backend: Backend, *rows: Row) -> Offspring:
    """The rows as children, numbered in the log by their places; nothing but the last node of a trail is read here."""
    xp = problems(backend, 1).xp
    instance, score, cost, stamp, last = ([row[column] for row in rows] for column in range(5))
    trail = [place * NODES + node for place, node in enumerate(last)]
    floats = (placed(backend, one, np.float64) for one in (score, cost))
    whole = (placed(backend, one, np.int64) for one in (stamp, trail))
    return Offspring(placed(backend, instance, np.int64), Candidates.pack(xp, *floats, *whole))


def places(candidates: Candidates) -> list[int]:
    """The rows that the candidates were."""
    return (read(candidates.trail) // NODES).tolist()


def stamps(candidates: Candidates) -> list[int]:
    return read(candidates.stamp).tolist()


def problems(backend: Backend, count: int = 2) -> Problems:
    """Problems with a limit of 10 and prizes of 1."""
    return backend.problems([Instance(np.ones((NODES, NODES)), np.ones(NODES), 10.0)] * count)


def queues(
    backend: Backend, width: int | None, spread: float = 0.0, count: int = 2, lag: float | None = None
) -> Queues:
    """Queues with levels of width 1."""
    batch = problems(backend, count)
    return backend.queues(batch, width, batch.xp.ones_like(batch.limit), spread, lag)


def emptied(levels: Queues) -> list[int]:
    """The rows of all queues, from cheap to dear."""
    found: list[int] = []
    while len(paths := levels.pop()):
        found += places(paths)
    return found


def best_rows(rows: list[Row], width: int | None, price: float) -> list[int]:
    """The rows that stay, by instance and from best to worst, one instance after the other."""
    kept: list[int] = []
    for instance in sorted({row[0] for row in rows}):
        cheapest: dict[tuple[int, ...], int] = {}
        for number, row in enumerate(rows):
            twin = cheapest.get(row[3:])
            if row[0] == instance and (twin is None or row[2] < rows[twin][2]):
                cheapest[row[3:]] = number
        order = sorted(cheapest.values(), key=lambda number: (-rows[number][1], rows[number][2], number))
        ahead: dict[int, int] = {}
        paid: dict[int, float] = {}
        for number in order:
            last = rows[number][4]
            paid[number] = price * ahead.get(last, 0)
            ahead[last] = ahead.get(last, 0) + 1
        order.sort(key=lambda number: (paid[number] - rows[number][1], rows[number][2], number))
        kept += order[:width]
    return kept


def stamped(rows: list[Row]) -> list[Row]:
    """The rows with stamps that are equal for the same set of nodes and the same last node."""
    return [(own, score, cost, node_set * 1_000_003 + last, last) for own, score, cost, node_set, last in rows]


def test_the_best_of_each_instance_stay(backend: Backend) -> None:
    @settings(max_examples=few(backend, 300, 60))
    @given(ROWS, WIDTHS)
    def check(rows: list[Row], width: int | None) -> None:
        kept = backend.keep_best(children(backend, *stamped(rows)), width)
        assert places(kept) == best_rows(rows, width, 0.0)

    check()


def test_queues_keep_the_best_less_the_price_of_crowding(backend: Backend) -> None:
    @settings(max_examples=few(backend, 300, 60))
    @given(ROWS, WIDTHS, st.sampled_from([0.0, 0.3, 4.0]))
    def check(rows: list[Row], width: int | None, spread: float) -> None:
        levels = queues(backend, width, spread, count=4)
        levels.put(children(backend, *stamped(rows)))
        assert emptied(levels) == best_rows(rows, width, 0.0 if width is None else spread)

    check()


def test_many_paths_are_ranked_alike(backend: Backend) -> None:
    """More than one program of a kernel takes, with ties, in instances that lie next to each other."""
    rng = np.random.default_rng(0)
    rows: list[Row] = [
        (int(rng.integers(4)), float(rng.integers(30)), float(rng.integers(1, 9)) / 8, number, int(rng.integers(NODES)))
        for number in range(600)
    ]
    kept = backend.keep_best(children(backend, *rows), 70)
    assert places(kept) == best_rows(rows, 70, 0.0)


def test_scores_of_any_size_are_ordered(backend: Backend) -> None:
    scores = [1e300, -1e300, 0.0, 1e-300, -1e-300, np.inf, 3.0, 3.0000001]
    rows = [(0, score, 0.5, stamp, stamp % NODES) for stamp, score in enumerate(scores)]
    order = sorted(scores, reverse=True)
    assert read(backend.keep_best(children(backend, *rows), None).score).tolist() == order
    levels = queues(backend, 20)
    levels.put(children(backend, *rows))
    assert read(levels.pop().score).tolist() == order


def test_packing_keeps_every_bit(backend: Backend) -> None:
    xp = problems(backend).xp
    numbers = np.array([0.1, -0.0, 1e-320, np.inf])
    whole = np.array([-(2**63), 2**63 - 1, 0, 7])
    given = (placed(backend, one) for one in (numbers, numbers[::-1], whole, whole[::-1]))
    packed = Candidates.pack(xp, *given)
    assert np.array_equal(read(packed.score).view(np.int64), numbers.view(np.int64))
    assert np.array_equal(read(packed.cost), numbers[::-1])
    assert np.array_equal(read(packed.stamp), whole)
    assert np.array_equal(read(packed.trail), whole[::-1])


def test_a_path_waits_in_the_level_of_its_cost(backend: Backend) -> None:
    levels = queues(backend, 2)
    levels.put(children(backend, (0, 1.0, 0.0, 1, 1), (0, 2.0, 1.0, 2, 2), (0, 3.0, 1.01, 3, 3)))
    assert [stamps(levels.pop()) for _ in range(4)] == [[1], [2], [3], []]


def test_instances_do_not_wait_for_one_another(backend: Backend) -> None:
    levels = queues(backend, 2)
    levels.put(children(backend, (0, 1.0, 0.0, 1, 1), (0, 2.0, 1.0, 2, 2), (1, 3.0, 5.01, 3, 3)))
    assert stamps(levels.pop()) == [1, 3]
    levels.put(children(backend, (1, 3.0, 6.01, 4, 3), (0, 3.0, 0.5, 5, 3)))
    assert stamps(levels.pop()) == [5, 2, 4]  # 0.5 is of the level of 1
    assert not len(levels.pop())


def test_instances_and_levels_do_not_mix(backend: Backend) -> None:
    levels = queues(backend, 1)
    levels.put(children(backend, (0, 1.0, 1.0, 1, 1), (1, 2.0, 1.0, 1, 1), (0, 5.0, 2.0, 2, 2)))
    assert levels.pop().score.tolist() == [1.0, 2.0]
    assert levels.pop().score.tolist() == [5.0]
    assert len(levels.pop()) == 0


def test_a_full_queue_keeps_the_best_over_several_puts(backend: Backend) -> None:
    levels = queues(backend, 2)
    for score in (3.0, 1.0, 4.0, 1.5, 9.0, 2.6):
        levels.put(children(backend, (0, score, 0.5, int(10 * score), 1)))
    assert levels.pop().score.tolist() == [9.0, 4.0]


def test_a_tie_with_the_worst_goes_to_the_cheaper(backend: Backend) -> None:
    levels = queues(backend, 1)
    for stamp, cost in ((1, 0.9), (2, 0.5), (3, 0.6)):
        levels.put(children(backend, (0, 1.0, cost, stamp, stamp)))
    assert stamps(levels.pop()) == [2]


def test_a_read_queue_starts_afresh(backend: Backend) -> None:
    levels = queues(backend, 1)
    levels.put(children(backend, (0, 9.0, 0.5, 1, 1)))
    levels.pop()
    levels.put(children(backend, (0, 1.0, 0.6, 2, 1)))
    assert levels.pop().score.tolist() == [1.0]


def test_queues_without_bound_grow(backend: Backend) -> None:
    levels = queues(backend, None)
    levels.put(children(backend, *((0, float(i), 0.5, i, 1) for i in range(50))))
    levels.put(children(backend, *((0, float(i), 0.5, i, 1) for i in range(50, 120))))
    assert stamps(levels.pop()) == list(range(119, -1, -1))


def test_of_two_orders_of_the_same_nodes_the_cheaper_waits(backend: Backend) -> None:
    levels = queues(backend, 5)
    levels.put(children(backend, (0, 1.0, 0.9, 7, 1), (0, 1.0, 0.8, 7, 1)))
    levels.put(children(backend, (0, 1.0, 0.7, 7, 1)))
    levels.put(children(backend, (0, 1.0, 0.75, 7, 1)))
    assert levels.pop().cost.tolist() == [0.7]


def test_crowding_lets_other_last_nodes_in(backend: Backend) -> None:
    """The second path at node 1 pays a mean prize, which is 1, and falls behind node 2."""
    for spread, left in ((0.0, [1, 2]), (1.0, [1, 3])):
        levels = queues(backend, 2, spread)
        levels.put(children(backend, (0, 3.0, 0.5, 1, 1), (0, 2.9, 0.5, 2, 1), (0, 2.0, 0.5, 3, 2)))
        assert stamps(levels.pop()) == left


def test_paths_that_lag_behind_the_best_of_their_queue_are_left_out(backend: Backend) -> None:
    """Prizes are 1; the queue of the second instance has a lower best."""
    levels = queues(backend, 5, lag=1.5)
    levels.put(children(backend, (0, 9.0, 0.5, 1, 1), (0, 7.5, 0.5, 2, 2), (0, 7.4, 0.5, 3, 3), (1, 7.4, 0.5, 4, 3)))
    levels.put(children(backend, (0, 7.4, 1.5, 5, 1)))
    assert stamps(levels.pop()) == [1, 2, 4]
    assert stamps(levels.pop()) == [5]
    assert not len(levels.pop())


def test_a_dearer_order_is_not_expanded_later(backend: Backend) -> None:
    levels = queues(backend, 5)
    levels.put(children(backend, (0, 1.0, 0.9, 7, 1), (0, 1.0, 1.9, 7, 1), (1, 1.0, 1.9, 7, 1)))
    assert levels.pop().cost.tolist() == [0.9, 1.9]  # the second is the other instance's
    levels.put(children(backend, (0, 1.0, 1.8, 7, 1)))
    assert len(levels.pop()) == 0


def test_a_cheaper_order_found_late_is_expanded(backend: Backend) -> None:
    levels = queues(backend, 5)
    levels.put(children(backend, (0, 1.0, 0.9, 7, 1)))
    levels.pop()
    levels.put(children(backend, (0, 1.0, 0.8, 7, 1)))
    assert levels.pop().cost.tolist() == [0.8]


def test_dearer_orders_are_known_as_long_as_the_slot_of_their_stamp_is_theirs(backend: Backend) -> None:
    """Stamps share 16 slots of an instance: the one that was read last is remembered."""
    rng, slots = np.random.default_rng(0), 16

    def drawn(count: int) -> list[Row]:
        instance, stamp = rng.integers(3, size=count), rng.integers(-20, 20, size=count)
        score, cost = rng.permutation(count), rng.integers(1, 9, size=count) / 8
        return list(zip(instance.tolist(), score.tolist(), cost.tolist(), stamp.tolist(), [0] * count, strict=True))

    levels = queues(remembering(backend, slots), None, count=3)
    first, second = drawn(60), drawn(300)
    levels.put(children(backend, *first))
    remembered = {}
    for row in places(levels.pop()):
        instance, _, cost, stamp, _ = first[row]
        remembered[instance, stamp % slots] = stamp, cost
    new = []
    for instance, score, cost, stamp, last in second:
        holder, least = remembered.get((instance, stamp % slots), (None, 0.0))
        if holder != stamp or cost < least:
            new.append((instance, score, cost, stamp, last))
    levels.put(children(backend, *second))
    found = [second[row] for row in places(levels.pop())]
    assert found == [new[row] for row in best_rows(new, None, 0.0)]
    assert 10 < len(new) < len(second) - 10
