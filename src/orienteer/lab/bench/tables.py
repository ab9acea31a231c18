"""Tables as Markdown, CSV, LaTeX and a page of HTML that sorts; nothing but text goes in."""

import base64
import csv
import html
import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from orienteer.data.text import write_file


@dataclass(frozen=True)
class Cell:
    """What a reader sees, and what a computer sorts by or reads."""

    text: str
    value: float | str | None = None
    error: float | None = None
    """The standard error of the value, where it has one."""


@dataclass(frozen=True)
class Table:
    """Rows of cells under heads."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.heads):
                raise ValueError(f"a row of {self.title!r} must have {len(self.heads)} cells, got {len(row)}")


def words(text: str) -> Cell:
    """A cell of text."""
    return Cell(text, text)


def number(value: float | None, form: str = ".2f") -> Cell:
    """A cell with a number, empty where there is none."""
    if value is None or math.isnan(value):
        return Cell("", None)
    return Cell(format(value, form), value)


def percent(share: float | None, form: str = ".2f") -> Cell:
    """A cell with a share as a percentage."""
    cell = number(None if share is None else 100 * share + 0.0, form)  # + 0.0: no minus before a zero
    return Cell(f"{cell.text} %" if cell.text else "", cell.value)


def duration(seconds: float | None) -> Cell:
    """A cell with seconds in the unit that suits them."""
    if seconds is None or math.isnan(seconds):
        return Cell("", None)
    return Cell(f"{1000 * seconds:.2g} ms" if seconds < 0.0995 else f"{seconds:.2f} s", seconds)


def with_error(value: float, error: float) -> Cell:
    """A cell with a mean and its standard error."""
    if math.isnan(value):
        return Cell("", None)
    spread = "" if math.isnan(error) else f" ± {error:.2f}"
    return Cell(f"{value:.2f}{spread}", value, None if math.isnan(error) else error)


def markdown(tables: Sequence[Table], notes: Sequence[str] = ()) -> str:
    """The tables one below the other, then the notes as a list."""
    parts = []
    for table in tables:
        lines = [f"### {table.title}", "", _line(table.heads), "|" + "---|" * len(table.heads)]
        lines += [_line([cell.text for cell in row]) for row in table.rows]
        parts.append("\n".join(lines))
    if notes:
        parts.append("\n".join(f"- {note}" for note in notes))
    return "\n\n".join(parts) + "\n"


def comma_separated(table: Table) -> str:
    """The values of one table, a head on top; behind a column with standard errors one of these."""
    erring = [any(row[column].error is not None for row in table.rows) for column in range(len(table.heads))]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        name for head, errs in zip(table.heads, erring, strict=True) for name in (head, f"{head}, error")[: 1 + errs]
    )
    for row in table.rows:
        writer.writerow(
            "" if value is None else value
            for cell, errs in zip(row, erring, strict=True)
            for value in (cell.value, cell.error)[: 1 + errs]
        )
    return text.getvalue()


def latex(tables: Sequence[Table], notes: Sequence[str] = ()) -> str:
    """A table environment each, without any package."""
    parts = []
    for table in tables:
        lines = [r"\begin{table}", r"\centering", rf"\caption{{{_tex(table.title)}}}"]
        lines += [rf"\begin{{tabular}}{{l{'r' * (len(table.heads) - 1)}}}", r"\hline"]
        lines += [" & ".join(_tex(head) for head in table.heads) + r" \\", r"\hline"]
        lines += [" & ".join(_tex(cell.text) for cell in row) + r" \\" for row in table.rows]
        lines += [r"\hline", r"\end{tabular}", r"\end{table}"]
        parts.append("\n".join(lines))
    parts += [f"% {_tex(note)}" for note in notes]
    return "\n\n".join(parts) + "\n"


def page(title: str, tables: Sequence[Table], notes: Sequence[str] = (), picture: Path | None = None) -> str:
    """A page of HTML that needs nothing else: a click on a head sorts."""
    parts = [f"<h1>{html.escape(title)}</h1>"]
    if picture is not None:
        data = base64.b64encode(picture.read_bytes()).decode()
        parts.append(f'<img alt="{html.escape(title)}" src="data:image/png;base64,{data}">')
    for table in tables:
        heads = "".join(f"<th>{html.escape(head)}</th>" for head in table.heads)
        rows = "\n".join(f"<tr>{''.join(_cell(cell) for cell in row)}</tr>" for row in table.rows)
        parts.append(
            f"<h2>{html.escape(table.title)}</h2>\n<table><thead><tr>{heads}</tr></thead>\n<tbody>{rows}</tbody></table>"
        )
    if notes:
        parts.append("<ul>" + "".join(f"<li>{html.escape(note)}</li>" for note in notes) + "</ul>")
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>\n'
        f"<style>{_STYLE}</style></head>\n<body>{body}\n<script>{_SCRIPT}</script></body></html>\n"
    )


def write_tables(
    folder: Path,
    title: str,
    wide: Sequence[Table],
    long: Table,
    notes: Sequence[str] = (),
    picture: Path | None = None,
) -> None:
    """Writes table.md and table.tex (for reading), table.csv (for computing) and table.html (for looking around)."""
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "table.md", f"# {title}\n\n{markdown(wide, notes)}")
    write_text(folder / "table.csv", comma_separated(long))
    write_text(folder / "table.tex", latex(wide, notes))
    write_text(folder / "table.html", page(title, [long], notes, picture))


def write_text(path: Path, text: str) -> None:
    """Writes a file whole or not at all."""

    def write(file: IO[bytes]) -> None:
        file.write(text.encode())

    write_file(path, write)


_STYLE = """
body { font: 15px/1.4 system-ui, sans-serif; margin: 2em; color: #222; }
table { border-collapse: collapse; }
th, td { padding: .25em .7em; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap; }
th { cursor: pointer; background: #f3f4f6; position: sticky; top: 0; }
th.up::after { content: " \\25B2"; } th.down::after { content: " \\25BC"; }
td.words { text-align: left; }
img { max-width: 100%; }
"""

_SCRIPT = """
const numeric = cell => cell.dataset.value === undefined ? NaN : Number(cell.dataset.value);
function compare(one, other, sign) {
  const a = numeric(one), b = numeric(other);
  if (!isNaN(a) && !isNaN(b)) return sign * (a - b);
  if (!one.textContent !== !other.textContent) return one.textContent ? -1 : 1;
  return sign * one.textContent.localeCompare(other.textContent, undefined, { numeric: true });
}
for (const head of document.querySelectorAll("th")) head.onclick = () => {
  const column = head.cellIndex, body = head.closest("table").tBodies[0], down = head.className === "up";
  for (const other of head.parentNode.cells) other.className = "";
  head.className = down ? "down" : "up";
  const rows = [...body.rows].sort((a, b) => compare(a.cells[column], b.cells[column], down ? -1 : 1));
  body.append(...rows);
};
"""


def _line(texts: Sequence[str]) -> str:
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"


def _cell(cell: Cell) -> str:
    if isinstance(cell.value, str):
        return f'<td class="words">{html.escape(cell.text)}</td>'
    if cell.value is None:
        return f"<td>{html.escape(cell.text)}</td>"
    return f'<td data-value="{cell.value!r}">{html.escape(cell.text)}</td>'


def _tex(text: str) -> str:
    escaped = re.sub(r"([&%$#_{}])", r"\\\1", text.replace("\\", r"\textbackslash "))
    return escaped.replace("±", r"$\pm$").replace("~", r"\textasciitilde{}").replace("^", r"\textasciicircum{}")
