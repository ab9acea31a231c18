"""Stop criteria: they read a snapshot, hold no state and say how much is left."""

import math
import pickle
from collections.abc import Callable

import pytest

from orienteer import AnyOf, MaxSeconds, MaxSteps, Never, NoImprovement, Progress, Stop, TargetPrize
from orienteer.search.stop import PartOf, When, as_stop, ignore

NOW = Progress(seconds=2.0, steps=30, since_best=10, prize=5.0)


@pytest.mark.parametrize(
    ("stop", "ends"),
    [
        (MaxSeconds(2.0), True),
        (MaxSeconds(2.1), False),
        (MaxSeconds(0), True),
        (MaxSteps(30), True),
        (MaxSteps(31), False),
        (MaxSteps(0), True),
        (NoImprovement(10), True),
        (NoImprovement(11), False),
        (TargetPrize(5.0), True),
        (TargetPrize(5.1), False),
        (Never(), False),
        (When(lambda now: now.prize > 4), True),
        (AnyOf(), False),
        (AnyOf(MaxSteps(31), MaxSeconds(3)), False),
        (AnyOf(MaxSteps(31), MaxSeconds(1)), True),
        (AnyOf(Never(), lambda now: now.steps == 30), True),
    ],
)
def test_ends(stop: Stop, ends: bool) -> None:
    assert stop(NOW) is ends
    assert stop(NOW) is ends  # asking changes nothing


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MaxSeconds(-1), "MaxSeconds.seconds must be at least 0, got -1"),
        (lambda: MaxSeconds(math.nan), "MaxSeconds.seconds must be at least 0, got nan"),
        (lambda: MaxSteps(-3), "MaxSteps.steps must be at least 0, got -3"),
        (lambda: NoImprovement(0), "NoImprovement.steps must be at least 1, got 0"),
        (lambda: TargetPrize(math.nan), "TargetPrize.prize must be a number, got nan"),
        (
            lambda: as_stop(3),
            "stop must be a stop criterion, such as MaxSeconds(5), or a function of the progress, got 3",
        ),  # type: ignore[arg-type]
    ],
)
def test_wrong_settings_have_a_message(make: Callable[[], Stop], message: str) -> None:
    with pytest.raises(ValueError, match="must be") as caught:
        make()
    assert str(caught.value) == message


def test_fraction_used() -> None:
    assert MaxSeconds(8).fraction(NOW) == 0.25
    assert MaxSeconds(1).fraction(NOW) == 1
    assert MaxSeconds(0).fraction(NOW) == 1
    assert MaxSteps(60).fraction(NOW) == 0.5
    assert MaxSteps(0).fraction(NOW) == 1
    assert math.isnan(Never().fraction(NOW))
    assert math.isnan(AnyOf(Never(), TargetPrize(9)).fraction(NOW))
    assert AnyOf(MaxSeconds(8), MaxSteps(60), Never()).fraction(NOW) == 0.5


def test_what_is_left() -> None:
    assert (MaxSteps(40).steps_left(NOW), MaxSteps(3).steps_left(NOW)) == (10, 0)
    assert NoImprovement(15).steps_left(NOW) == 5
    assert MaxSeconds(2.5).seconds_left(NOW) == 0.5
    assert MaxSeconds(1).seconds_left(NOW) == 0
    assert Never().steps_left(NOW) == Never().seconds_left(NOW) == math.inf
    both = AnyOf(MaxSteps(40), MaxSeconds(2.5), NoImprovement(12))
    assert (both.steps_left(NOW), both.seconds_left(NOW)) == (2, 0.5)
    assert AnyOf().steps_left(NOW) == AnyOf().seconds_left(NOW) == math.inf


def test_criteria_travel_to_workers() -> None:
    stop = AnyOf(MaxSteps(5), MaxSeconds(1.5), NoImprovement(2), TargetPrize(3))
    assert pickle.loads(pickle.dumps(stop)) == stop


def test_a_criterion_without_a_rule_says_so() -> None:
    with pytest.raises(TypeError, match="Stop must define __call__"):
        Stop()(NOW)


def test_as_stop_keeps_criteria_and_wraps_functions() -> None:
    stop = MaxSteps(3)
    assert as_stop(stop) is stop
    assert as_stop(lambda now: now.steps > 3)(NOW)
    assert ignore(NOW) is None  # type: ignore[func-returns-value]


def test_a_part_of_an_allowance() -> None:
    half = PartOf(AnyOf(MaxSeconds(10), MaxSteps(100)), 0.5)
    early, later = Progress(2, 10, 0, 1.0), Progress(2, 50, 0, 1.0)
    assert (half(early), half.fraction(early), half.seconds_left(early), half.steps_left(early)) == (False, 0.4, 3, 40)
    assert (half(later), half.fraction(later), half.steps_left(later)) == (True, 1.0, 0)
    unknown = PartOf(NoImprovement(7), 0.5)
    assert not unknown(Progress(9, 6, 6, 1.0))
    assert unknown(Progress(9, 7, 7, 1.0))
    assert unknown.steps_left(Progress(9, 6, 4, 1.0)) == 3
    assert math.isnan(unknown.fraction(early))


def test_criteria_say_whether_prizes_matter_to_them() -> None:
    def quiet(now: Progress) -> bool:
        return False

    assert not any(one.reads_prize for one in (Never(), MaxSeconds(1), MaxSteps(1), AnyOf(MaxSeconds(1), MaxSteps(1))))
    assert all(one.reads_prize for one in (TargetPrize(1), NoImprovement(1), When(quiet), AnyOf(Never(), quiet)))
    assert PartOf(TargetPrize(1), 0.5).reads_prize
    assert not PartOf(MaxSteps(4), 0.5).reads_prize
    quiet.reads_prize = False  # type: ignore[attr-defined]
    assert not AnyOf(Never(), quiet).reads_prize
