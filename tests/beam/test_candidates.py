"""The selection that both searches make, against a slow twin."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from orienteer.beam.candidates import Candidates, Crowd, keep_best

NODES = 5

ROWS = st.lists(
    st.tuples(
        st.integers(0, 3),  # group
        st.sampled_from([-2.5, 0.0, 1.0, 1.5, 7.25]),  # score
        st.sampled_from([0.0, 0.25, 0.5, 1.0]),  # cost
        st.integers(0, 6),  # set of nodes, by name
        st.integers(0, NODES - 1),  # last node
    ),
    max_size=40,
)


def slow_keep_best(rows, width, price):
    """(group, place) to row number and price paid, one group after the other."""
    kept = {}
    for group in {row[0] for row in rows}:
        cheapest = {}
        for number, row in enumerate(rows):
            twin = cheapest.get(row[3:])
            if row[0] == group and (twin is None or row[2] < rows[twin][2]):
                cheapest[row[3:]] = number
        order = sorted(cheapest.values(), key=lambda number: (-rows[number][1], rows[number][2], number))
        ahead, paid = {}, {}
        for number in order:
            paid[number] = price * ahead.get(rows[number][4], 0)
            ahead[rows[number][4]] = ahead.get(rows[number][4], 0) + 1
        order.sort(key=lambda number: (paid[number] - rows[number][1], rows[number][2], number))
        for place, number in enumerate(order[:width]):
            kept[group, place] = number, rows[number][1] - paid[number]
    return kept


@settings(max_examples=300, deadline=None)
@given(ROWS, st.sampled_from([1, 2, 3, 10, None]), st.sampled_from([0.0, 0.3, 4.0]))
def test_keep_best_equals_its_slow_twin(rows, width, price):
    group, score, cost, node_set, last = (torch.tensor([row[i] for row in rows]) for i in range(5))
    stamp = node_set * 1_000_003 + last
    candidates = Candidates.pack(score.double(), cost.double(), stamp.long(), last.long())
    crowd = Crowd(last.long(), torch.full((len(rows),), price, dtype=torch.float64), NODES) if price else None
    kept = keep_best(candidates, group.long(), width, crowd)
    fast = {
        (int(g), int(p)): (int(i), pytest.approx(float(s)))
        for g, p, i, s in zip(kept.group, kept.place, kept.index, kept.score, strict=True)
    }
    assert len(fast) == len(kept.index)
    assert slow_keep_best(rows, width, price) == fast


def test_scores_of_any_size_are_ordered():
    score = torch.tensor([1e300, -1e300, 0.0, 1e-300, -1e-300, torch.inf, 3.0, 3.0000001], dtype=torch.float64)
    stamp = torch.arange(len(score))
    kept = keep_best(Candidates.pack(score, torch.zeros_like(score), stamp, stamp), torch.zeros_like(stamp), None)
    assert score[kept.index].tolist() == sorted(score.tolist(), reverse=True)


def test_packing_keeps_every_bit():
    numbers = torch.tensor([0.1, -0.0, 1e-320, torch.inf], dtype=torch.float64)
    whole = torch.tensor([-(2**63), 2**63 - 1, 0, 7])
    packed = Candidates.pack(numbers, numbers.flip(0), whole, whole.flip(0))
    assert torch.equal(packed.score.view(torch.int64), numbers.view(torch.int64))
    assert torch.equal(packed.cost, numbers.flip(0))
    assert torch.equal(packed.stamp, whole)
    assert torch.equal(packed.link, whole.flip(0))
