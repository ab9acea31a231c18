"""Spreadsheets (.xlsx): their sheets, read and written, and a problem in the sheets places, matrix and routes."""

import datetime
import io
import re
import warnings
import zipfile
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import IO, Any, NamedTuple
from xml.parsers import expat

from orienteer.data.cells import NO_VALUE, WITHOUT_VALUE
from orienteer.data.csv_file import costs_of_rows, problem_tables
from orienteer.data.fields import Fields
from orienteer.data.legs import NOTHING, Given, Matrix
from orienteer.data.points import Header, Row, lists_routes
from orienteer.data.table import Setting, Table, fields_of_table, note
from orienteer.data.text import MAX_NODES, FilePath, read_bytes, shown, write_file
from orienteer.model.distances import LARGEST_TABLE
from orienteer.model.errors import BadFile, InSheet, MissingExtra
from orienteer.model.instance import Instance
from orienteer.model.numbers import EXACT_INTEGERS

MAX_UNPACKED = 64 * 2**20
"""The most bytes of all members of a file, unpacked."""

MAX_RATIO = 100
"""The most that members of more than a megabyte, one or all, may be compressed; more is refused as a zip bomb."""

MAX_ELEMENTS, MAX_STYLES = 4_000_000, 200_000
"""The most XML elements of the sheets and their texts, and of all other members, which take more memory."""

MAX_FORMULAS = 200_000
"""The most formulas without a value of all sheets."""

MAX_DEPTH = 100
"""How deeply elements may be nested; spreadsheets need a fifth of it."""

MAX_COLUMNS = LARGEST_TABLE + 1
"""The most cells of a row: those of a matrix with names."""

MAX_ROWS = MAX_NODES + 1000
"""The most rows of a sheet that are read: a header, settings and blank rows may stand above the places."""

LONGEST_TEXT = 32_767
"""The most characters of a cell."""

MOST_LOOKED_AT, TOP_ROWS = 20, 10
"""How many of the sheets that are not read are looked at, and how many rows of each: a table of routes may be there."""

MAX_TEXT = MAX_UNPACKED
"""The most characters of all cells that are read: a text that the file holds once may be that of many cells."""


def load_excel(path: FilePath, given: Given = NOTHING) -> Fields:
    """The problem in a spreadsheet; what is given overrides what the file says."""
    book = Book(path)
    table = book.table(book.places())
    settings = dict(table.settings)
    for key in book.sheets.keys() & {"matrix", "routes"}:  # sheets of these names need no setting
        settings.setdefault(key, Setting(key, 0))
    if "routes" not in settings and not given.routes:
        book.refuse_unread_routes(table, settings)
    table = Table(table.path, settings, table.header, table.rows)
    return fields_of_table(table, book, given)


def save_excel(instance: Instance, path: FilePath) -> None:
    """Writes a problem: the sheet places, and matrix and routes where the problem needs them."""
    write_book(path, problem_tables(instance, path))


def check_extra() -> Any:
    """The package that reads and writes spreadsheets, or `MissingExtra` where it is absent."""
    try:
        import openpyxl
    except ImportError as error:
        raise MissingExtra("a spreadsheet", "excel") from error
    return openpyxl


class Shown(NamedTuple):
    """A value of a cell, and the number format by which a spreadsheet shows it."""

    value: Any
    format: str


class Book:
    """The sheets of a workbook, whose members have been checked."""

    def __init__(self, path: FilePath):
        self.path, self.text = path, 0
        data = read_bytes(path)
        openpyxl = check_extra()
        try:
            self.formulas = _check_members(path, data)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of extensions that are not kept
                self.book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
            self.sheets = {sheet.title.strip().lower(): sheet for sheet in self.book.worksheets}
        except (BadFile, MemoryError):
            raise
        except Exception as error:  # zipfile, zlib and openpyxl raise all kinds of things on damaged bytes
            raise BadFile(path, f"not a readable spreadsheet: {_one_line(error)}") from error

    def places(self) -> Any:
        """The sheet places, or the first that is neither matrix nor routes."""
        others = [sheet for name, sheet in self.sheets.items() if name not in ("matrix", "routes")]
        if "places" not in self.sheets and not others:
            raise BadFile(self.path, "there is no sheet with places")
        return self.sheets.get("places", others[0] if others else None)

    def rows(self, sheet: Any, most: int = MAX_ROWS) -> Iterator[tuple[int, list[Any]]]:
        """Number and values of each row that is not empty, without the empty cells at its end.

        A `BadFile` ends them where there is more than `most` rows.
        """
        sheet.reset_dimensions()  # which may be any lie
        path = InSheet(self.path, sheet.title)
        formulas = self.formulas.get(sheet._worksheet_path, set())
        found = iter(sheet.iter_rows(values_only=True))
        for number in range(1, most + 2):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of dates that are none
                    row = next(found, None)
            except Exception as error:
                raise BadFile(path, f"not readable: {_one_line(error)}") from error
            if row is None:
                return
            if len(row) > MAX_COLUMNS:
                raise BadFile(path, f"a row of more than {MAX_COLUMNS} cells", number)
            cells = [_value(value) for value in row]
            if formulas:
                cells = [_or_no_value(cell, column, number, formulas) for column, cell in enumerate(cells, start=1)]
            self._count(path, cells, number)
            while cells and cells[-1] in (None, ""):
                cells.pop()
            if any(cell not in (None, "") for cell in cells):
                if number > most:
                    raise BadFile(path, f"more than {most} rows")
                yield number, cells

    def _count(self, path: FilePath, cells: Sequence[Any], number: int) -> None:
        """Refuses texts that no spreadsheet writes, and more texts than are read."""
        for cell in cells:
            if isinstance(cell, str):
                self.text += len(cell)
                if len(cell) > LONGEST_TEXT:
                    raise BadFile(path, f"a cell of {len(cell)} characters, at most {LONGEST_TEXT} are read", number)
        if self.text > MAX_TEXT:
            raise BadFile(path, f"its cells hold more than the {MAX_TEXT} characters that are read", number)

    def table(self, sheet: Any) -> Table:
        """The table of a sheet, with the settings above it."""
        settings: dict[str, Setting] = {}
        rows, path = self.rows(sheet), InSheet(self.path, sheet.title)
        for number, cells in rows:
            first = text_in(path, cells[0], number).strip()
            if not first.startswith("#"):
                titles = [text_in(path, cell, number) for cell in cells]
                return Table(path, settings, Header(titles, number), _filled(rows, len(titles)))
            if len(cells) > 1 and "=" not in first:  # the value may stand in a cell of its own
                first = f"{first} = {text_in(path, cells[1], number)}"
            note(path, settings, first, number)
        raise BadFile(path, "there is no table in it")

    def matrix(self, setting: Setting) -> Matrix:
        """The costs in the sheet that the setting names."""
        sheet = self._sheet(setting)
        lines, path = self.rows(sheet), InSheet(self.path, sheet.title)

        def costs(size: int, names: Sequence[str] | None) -> Any:
            width = size
            rows: list[tuple[int, list[str]]] = []
            for number, cells in islice(lines, size + 2):
                texts = [text_in(path, cell, number) for cell in cells]
                width = size + 1 if not rows and len(texts) == size + 1 else width
                rows.append((number, texts + [""] * (width - len(texts))))
            return costs_of_rows(path, iter(rows), size, names)

        return costs

    def routes(self, setting: Setting) -> Table:
        """The table in the sheet that the setting names."""
        return self.table(self._sheet(setting))

    def refuse_unread_routes(self, places: Table, settings: Mapping[str, Setting]) -> None:
        """Raises `BadFile` if a sheet that is not read looks like a table of routes: all of them would be left out."""
        read = {"matrix", settings["matrix"].text.strip().lower()} if "matrix" in settings else set[str]()
        own = places.path.sheet if isinstance(places.path, InSheet) else ""
        others = [sheet for name, sheet in self.sheets.items() if sheet.title != own and name not in read]
        for sheet in others[:MOST_LOOKED_AT]:
            if self._lists_routes(sheet):
                wish = f"call it 'routes', or write '# routes = {sheet.title}' above the header of the places"
                none = "'# routes = 1' if it lists no routes"
                raise BadFile(InSheet(self.path, sheet.title), f"looks like a table of routes: {wish}, or {none}")

    def _lists_routes(self, sheet: Any) -> bool:
        """Whether one of the first rows is the header of a table of routes; False also where they are not readable."""
        with suppress(BadFile):
            for _, cells in self.rows(sheet, most=TOP_ROWS):
                if lists_routes([text_of(cell) for cell in cells if isinstance(cell, str)]):
                    return True
        return False

    def _sheet(self, setting: Setting) -> Any:
        if setting.text.strip().lower() not in self.sheets:
            raise BadFile(self.path, f"there is no sheet {shown(setting.text)}", setting.line or None)
        return self.sheets[setting.text.strip().lower()]


def _filled(rows: Iterable[tuple[int, list[Any]]], width: int) -> Iterator[Row]:
    """Rows as wide as the header, where a sheet ends earlier."""
    return (Row(cells + [None] * (width - len(cells)), number) for number, cells in rows)


def _or_no_value(cell: Any, column: int, row: int, formulas: Container[str]) -> Any:
    """The value of a cell, `NO_VALUE` where it is that of a formula and missing."""
    from openpyxl.utils import get_column_letter

    return NO_VALUE if cell is None and f"{get_column_letter(column)}{row}" in formulas else cell


def _check_members(path: FilePath, data: bytes) -> dict[str, set[str]]:
    """The cells of each member with a formula that has no value, such as D4.

    Raises `BadFile` if the members take more memory than a sheet of places may, or declare entities.
    """
    formulas: dict[str, set[str]] = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        if (total := sum(info.file_size for info in members)) > MAX_UNPACKED:
            raise BadFile(path, f"its members claim {total} bytes, more than the {MAX_UNPACKED} that are read")
        for name, size, packed in [
            *((info.filename, info.file_size, info.compress_size) for info in members),
            ("the file", total, len(data)),  # of many small members, or members that share their bytes
        ]:
            if size > 2**20 and size > MAX_RATIO * packed:
                raise BadFile(path, f"{name} claims {size} bytes from {packed}: refused as a zip bomb")
        left = {"sheets": MAX_ELEMENTS, "others": MAX_STYLES, "formulas": MAX_FORMULAS}
        for info in members:  # a member is never read beyond the size that it claims
            kind = "sheets" if re.search(r"/worksheets/|sharedStrings", info.filename) else "others"
            with archive.open(info) as member:
                try:
                    count, found = _elements(path, info.filename, member, left[kind], left["formulas"])
                    left[kind] -= count
                    left["formulas"] -= len(found)
                    formulas |= {info.filename: found} if found else {}
                except expat.ExpatError:
                    if info.filename.endswith((".xml", ".rels", ".vml")):
                        raise  # others, such as pictures, need not be XML
    return formulas


def _elements(path: FilePath, name: str, member: IO[bytes], most: int, most_formulas: int) -> tuple[int, set[str]]:
    """How many elements a member has, and its formulas without a value; `BadFile` for too many, or a document type."""
    count = cells = depth = 0
    parser = expat.ParserCreate()
    formulas = _Formulas(parser)

    def refuse(*_: Any) -> None:
        raise BadFile(path, f"{name} declares a document type or an entity, which is not read")

    def start(element: str, attributes: Mapping[str, str]) -> None:
        nonlocal count, cells, depth
        count, depth = count + 1, depth + 1
        local = element.rpartition(":")[2]
        cells = cells + 1 if local == "c" else 0 if local == "row" else cells
        if count > most or cells > MAX_COLUMNS:
            raise BadFile(path, f"{name} has more elements than are read")
        if depth > MAX_DEPTH:
            raise BadFile(path, f"{name} is nested more than {MAX_DEPTH} deep")
        if local in ("c", "f", "v"):
            formulas.start(local, attributes)
            if len(formulas.without_value) > most_formulas:
                raise BadFile(path, f"{name} has more than {MAX_FORMULAS} formulas without a value")

    def end(element: str) -> None:
        nonlocal depth
        depth -= 1

    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.ParseFile(member)
    return count, formulas.without_value


class _Formulas:
    """Collects the cells of a sheet whose formula has no value, while the sheet is parsed."""

    def __init__(self, parser: expat.XMLParserType):
        self.parser, self.cell = parser, ""
        self.without_value: set[str] = set()

    def start(self, element: str, attributes: Mapping[str, str]) -> None:
        """Notes a cell `c`, its formula `f` or its value `v`."""
        if element == "c":
            self.parser.CharacterDataHandler = None
            self.cell = "" if attributes.get("t") == "str" else attributes.get("r", "")  # a text may be empty
        elif element == "f" and self.cell:
            self.without_value.add(self.cell)
        elif self.cell in self.without_value:
            self.parser.CharacterDataHandler = self._value

    def _value(self, text: str) -> None:
        if text.strip():
            self.without_value.discard(self.cell)


def _value(value: Any) -> Any:
    """A cell's value, times as texts such as 09:30."""
    if isinstance(value, datetime.timedelta):
        minutes, seconds = divmod(round(value.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02d}" + (f":{seconds:02d}" if seconds else "")
    if isinstance(value, datetime.time):
        return value.strftime("%H:%M:%S" if value.second else "%H:%M")
    if isinstance(value, (datetime.datetime, datetime.date)):
        return value.isoformat()
    if type(value) is int and EXACT_INTEGERS < abs(value) < 1e300:
        return float(value)  # which every number in a workbook is, though it may be written without a point
    return value


def text_of(value: Any) -> str:
    """A value as CSV would have it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    return "" if value is None else str(value)


def text_in(path: FilePath, value: Any, line: int) -> str:
    """As `text_of`, or `BadFile` for a formula without a value."""
    if value is NO_VALUE:
        raise BadFile(path, f"a cell {WITHOUT_VALUE}", line)
    return text_of(value)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


def sheet_name(name: str, taken: Iterable[str]) -> str:
    """A name that Excel allows: at most 31 characters, none of some, and different from the others."""
    text = re.sub(r"[\[\]:*?/\\]", " ", name).strip(" '")[:31] or "sheet"
    others = {other.lower() for other in taken}
    found, count = text, 2
    while found.lower() in others:
        found, count = f"{text[:25]} {count}", count + 1
    return found


def write_book(
    path: FilePath,
    sheets: Mapping[str, Iterable[Sequence[Any]]],
    widths: Mapping[str, Sequence[float]] | None = None,
) -> None:
    """Writes a workbook: the rows of each sheet by title.

    `widths` are those of the columns of each sheet, in characters; where they are given, the first row stays in view.
    """
    openpyxl = check_extra()
    checked = {title: [[_held(path, value) for value in row] for row in rows] for title, rows in sheets.items()}
    book = openpyxl.Workbook(write_only=True)
    for title, rows in checked.items():
        sheet = book.create_sheet(title)
        if widths is not None:
            _lay_out(sheet, widths[title])
        for row in rows:
            sheet.append([_cell(sheet, value) for value in row])
    data = io.BytesIO()
    book.save(data)
    write_file(path, lambda file: _put(file, data))


def _lay_out(sheet: Any, widths: Sequence[float]) -> None:
    """Sets the widths of columns, and keeps the first row in view; before any row is written."""
    from openpyxl.utils import get_column_letter

    for number, width in enumerate(widths, start=1):
        sheet.column_dimensions[get_column_letter(number)].width = width
    sheet.freeze_panes = "A2"


def _put(file: IO[bytes], data: io.BytesIO) -> None:
    file.write(data.getvalue())


def _held(path: FilePath, value: Any) -> Any:
    """A value that a cell holds exactly: numbers of more than sixteen digits become texts."""
    if isinstance(value, float) and float(f"{value:.16g}") != value:
        return repr(value)
    if isinstance(value, str) and (len(value) > LONGEST_TEXT or _NO_TEXT.search(value)):
        raise BadFile(path, f"cannot be written: a spreadsheet does not hold the text {shown(value)}")
    return value


def _cell(sheet: Any, value: Any) -> Any:
    """A cell with this value; a text is never a formula."""
    from openpyxl.cell import WriteOnlyCell

    if isinstance(value, Shown):
        cell = WriteOnlyCell(sheet, value.value)
        cell.number_format = value.format
        return cell
    if not isinstance(value, str):
        return value
    cell = WriteOnlyCell(sheet, value)
    cell.data_type = "s"
    return cell


_NO_TEXT = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]|_x[0-9A-Fa-f]{4}_")
"""Characters that XML does not hold or changes, and what spreadsheets read as characters."""
