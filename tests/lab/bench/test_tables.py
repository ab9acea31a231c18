"""The four formats of a table."""

import csv
import math
from html.parser import HTMLParser
from pathlib import Path

import pytest

from orienteer.lab.bench.tables import (
    Table,
    comma_separated,
    duration,
    latex,
    markdown,
    number,
    page,
    percent,
    with_error,
    words,
    write_tables,
)

TABLE = Table(
    "50 % & more",
    ("method", "objective", "gap"),
    (
        (words("a_b | <c>"), with_error(1.234, 0.05), percent(0.0123)),
        (words("none"), with_error(math.nan, math.nan), percent(None)),
    ),
)


class Page(HTMLParser):
    """The cells of a page, and what it would load."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[tuple[str | None, str]] = []
        self.loads: list[str] = []
        self.inside = False
        self.value: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.loads += [str(given[name]) for name in ("src", "href") if name in given]
        if tag == "td":
            self.inside, self.value = True, given.get("data-value")
            self.cells.append((self.value, ""))

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "td"

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.cells[-1] = (self.value, data)


def test_markdown() -> None:
    assert markdown([TABLE], ["a note"]) == (
        "### 50 % & more\n\n"
        "| method | objective | gap |\n|---|---|---|\n"
        "| a_b \\| <c> | 1.23 ± 0.05 | 1.23 % |\n| none |  |  |\n\n"
        "- a note\n"
    )


def test_csv_holds_values_not_texts() -> None:
    rows = list(csv.reader(comma_separated(TABLE).splitlines()))
    assert rows == [
        ["method", "objective", "objective, error", "gap"],
        ["a_b | <c>", "1.234", "0.05", "1.23"],
        ["none", "", "", ""],
    ]


def test_latex_escapes() -> None:
    text = latex([TABLE])
    assert r"\caption{50 \% \& more}" in text
    assert r"a\_b | <c> & 1.23 $\pm$ 0.05 & 1.23 \% \\" in text
    assert text.count(r"\begin{tabular}{lrr}") == text.count(r"\end{tabular}") == 1


def test_the_page_loads_nothing(tmp_path: Path) -> None:
    picture = tmp_path / "chart.png"
    picture.write_bytes(b"\x89PNG")
    shown = Page()
    shown.feed(page("A <title>", [TABLE], ["a & b"], picture))
    assert shown.cells[:3] == [(None, "a_b | <c>"), ("1.234", "1.23 ± 0.05"), ("1.23", "1.23 %")]
    assert [one[:22] for one in shown.loads] == ["data:image/png;base64,"]


def test_all_four_files_are_written(tmp_path: Path) -> None:
    write_tables(tmp_path / "new", "Title", [TABLE], TABLE)
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        *("table.csv", "table.html", "table.md", "table.tex")
    ]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (duration(0.00012), "0.12 ms"),
        (duration(0.0995), "0.10 s"),
        (duration(12.3456), "12.35 s"),
        (duration(None), ""),
        (percent(-0.0), "0.00 %"),
        (number(3, "d"), "3"),
        (with_error(2.0, math.nan), "2.00"),
    ],
)
def test_texts(cell: object, text: str) -> None:
    assert cell.text == text  # type: ignore[attr-defined]


def test_a_row_of_the_wrong_length_is_an_error() -> None:
    with pytest.raises(ValueError, match="must have 2 cells, got 1"):
        Table("t", ("a", "b"), ((words("a"),),))
