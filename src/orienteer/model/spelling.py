"""Suggestions for misspelt names."""

import difflib
from collections.abc import Iterable

LONGEST = 60
"""The most letters of a word that may be a mistyped name; longer words take long to compare."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``; did you mean 'Library'?`` with the known name most like `word`, to end an error message; or nothing."""
    found = nearest_name(word, known)
    return "" if found is None else f"; did you mean {found!r}?"


def nearest_name(word: str, known: Iterable[str]) -> str | None:
    """The known name most like `word`, capitals and outer blanks aside; None where no name is much like it."""
    if len(word) > LONGEST:
        return None
    short = [name for name in known if len(name) <= LONGEST]
    by_folded = {name.strip().casefold(): name for name in reversed(short)}  # of equal names the first wins
    close = difflib.get_close_matches(word.strip().casefold(), by_folded, n=1, cutoff=0.7)
    return by_folded[close[0]] if close else None
