"""Settings from texts, by the types of a dataclass's fields."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import pytest

from orienteer.search.settings import changed_settings, field_types, read_settings


@dataclass(frozen=True)
class Part:
    """A part of the settings."""

    bias: bool = True
    depth: int = 2


@dataclass(frozen=True)
class Example:
    """Settings of every kind."""

    beam: int | None = 20
    tau: float = 0.05
    score: Literal["parent", "child"] = "parent"
    weights: str = ""
    file: str | None = None
    sizes: tuple[int, ...] = (1,)
    span: tuple[float, float] = (0.0, 1.0)
    part: Part = field(default_factory=Part)
    shared: ClassVar[int] = 3

    def __post_init__(self) -> None:
        if self.part.depth > self.tau * 100:
            raise ValueError("Example.part.depth must be at most 100 tau")


def test_only_fields_are_settings() -> None:
    assert list(field_types(Example)) == ["beam", "tau", "score", "weights", "file", "sizes", "span", "part"]


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("beam=7", 7),
        ("beam=none", None),
        ("tau=3", 3.0),
        ("tau = 1e-3", 1e-3),
        ("score=child", "child"),
        ("weights=a=b", "a=b"),
        ("weights=", ""),
        ("weights=none", "none"),
        ("file=none", None),
        ("file=x.txt", "x.txt"),
        ("sizes=20,50, 100", (20, 50, 100)),
        ("sizes=", ()),
        ("span=0.5,2", (0.5, 2.0)),
    ],
)
def test_texts_become_values_of_the_fields_type(word: str, value: object) -> None:
    (found,) = read_settings("example", field_types(Example), [word]).values()
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("beam", "--set takes KEY=VALUE, got 'beam'"),
        ("beam=1.5", "--set beam must be a whole number or none, got '1.5'"),
        ("tau=none", "--set tau must be a number, got 'none'"),
        ("score=up", "--set score must be parent or child, got 'up'"),
        ("span=1", "--set span must be 2 values with commas between them, each a number, got '1'"),
        (
            "sizes=1,x",
            "--set sizes must be values with commas between them, each a whole number, got '1,x'",
        ),
        ("part=3", "--set part must be set part by part (bias, depth), got '3'"),
        ("part.bias=maybe", "--set part.bias must be true or false, got 'maybe'"),
        (
            "part.biass=true",
            "example has no setting 'part.biass'; it has part.bias, part.depth; did you mean 'part.bias'?",
        ),
        ("beam.more=1", "--set beam.more: beam has no parts"),
        ("shared=4", "example has no setting 'shared'; it has beam, tau, score, weights, file, sizes, span, part"),
    ],
)
def test_errors_name_the_key_the_value_and_the_wish(word: str, message: str) -> None:
    with pytest.raises(ValueError, match="set") as caught:
        changed_settings("example", Example(), [word])
    assert str(caught.value) == message


def test_the_later_word_counts_and_parts_change_together() -> None:
    words = ["part.depth=200", "beam=1", "tau=5", "part.bias=FALSE", "beam=2"]
    assert changed_settings("example", Example(), words) == Example(beam=2, tau=5.0, part=Part(bias=False, depth=200))
