"""Loops in place of numpy's functions: the same results."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from orienteer.kernel import copy, ranked


@given(st.lists(st.integers(-3, 3), max_size=200))
def test_ranks_are_those_of_a_stable_sort(keys: list[int]) -> None:
    whole = np.array(keys, dtype=np.int64)
    expected = np.argsort(whole, kind="stable").tolist()
    assert ranked(whole).tolist() == expected
    assert ranked(whole / 7).tolist() == expected


def test_a_copy_leaves_what_is_behind_it() -> None:
    target = np.array([7, 7, 7, 7])
    copy(np.array([1, 2]), target[1:])
    assert target.tolist() == [7, 1, 2, 7]
