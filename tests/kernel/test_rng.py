"""The random numbers against a slow twin in Python's whole numbers."""

import numpy as np
import pytest

from orienteer.kernel import next_float, next_int, next_word, seed_state

WORD = 2**64 - 1


def slow_words(state, count):
    """xoshiro256++ in unbounded integers."""
    s = [int(word) for word in state]

    def rotate(word, bits):
        return ((word << bits) | (word >> (64 - bits))) & WORD

    words = []
    for _ in range(count):
        words.append((rotate((s[0] + s[3]) & WORD, 23) + s[0]) & WORD)
        shifted = (s[1] << 17) & WORD
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = rotate(s[3], 45)
    return words


def test_seed_state_matches_published_splitmix64():
    """The first outputs of splitmix64 from seed 1234567, as its reference program prints them."""
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert seed_state(1234567).tolist() == expected


@pytest.mark.parametrize("seed", [0, 1, 2**63, -5, 2**70 + 3])
def test_words_match_the_slow_twin(seed):
    expected = slow_words(seed_state(seed), 200)
    state = seed_state(seed)
    assert [int(next_word(state)) for _ in range(200)] == expected


def test_floats_and_ints_stay_in_range_and_spread():
    state = seed_state(3)
    floats = np.array([next_float(state) for _ in range(20_000)])
    assert floats.min() >= 0
    assert floats.max() < 1
    assert abs(floats.mean() - 0.5) < 0.01
    counts = np.bincount([next_int(state, 7) for _ in range(14_000)], minlength=7)
    assert len(counts) == 7
    assert abs(counts - 2000).max() < 250


def test_streams_of_near_seeds_differ():
    one, other = seed_state(1), seed_state(2)
    assert all(next_word(one) != next_word(other) for _ in range(50))
