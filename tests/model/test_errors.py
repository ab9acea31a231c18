"""Errors: their place in the family, their words, their way through a process boundary."""

import pickle

import pytest

from orienteer import BadFile, InfeasibleTour, InvalidInstance, MissingExtra, OrienteerError


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (BadFile("town.csv", "line is empty", 4), "town.csv:4: line is empty"),
        (BadFile("town.csv", "no such file"), "town.csv: no such file"),
        (MissingExtra("plot", "plot"), "plot needs an optional package: pip install 'orienteer[plot]'"),
        (InvalidInstance("limit is odd"), "limit is odd"),
        (InfeasibleTour("too long"), "too long"),
    ],
)
def test_message_survives_pickling(error: OrienteerError, message: str) -> None:
    assert isinstance(error, OrienteerError)
    assert str(error) == message
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == message
    assert again.__dict__ == error.__dict__
