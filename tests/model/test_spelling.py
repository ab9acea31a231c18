"""Suggestions for misspelt names."""

import pytest

from orienteer.model.spelling import did_you_mean, nearest_name


@pytest.mark.parametrize(
    ("word", "found"),
    [("Libary", "Library"), ("library ", "Library"), ("scores", "score"), ("Town", None), ("", None)],
)
def test_nearest_name(word: str, found: str | None) -> None:
    assert nearest_name(word, ["Library", "score", "Cathedral"]) == found


def test_the_first_of_equal_names_is_suggested() -> None:
    assert nearest_name("mil", ["Mill", "mill"]) == "Mill"


def test_the_words_of_a_suggestion() -> None:
    assert did_you_mean("Libary", ["Library"]) == "; did you mean 'Library'?"
    assert did_you_mean("Harbour", ["Library"]) == ""
    assert did_you_mean("Harbour", []) == ""
