"""Text files: reading of bounded size, numbers whose errors name the line, and writing that leaves no partial file."""

import contextlib
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

from orienteer.model.distances import LARGEST_TABLE
from orienteer.model.errors import BadFile, InSheet

FilePath = str | Path

MAX_NODES = 200_000
"""The most nodes of a problem; larger ones are refused early."""

MAX_WHOLE = 64 * 2**20
"""The most bytes of a file that is read as a whole, such as JSON, whose values may take twenty times that in memory."""

MAX_LINE = 4 * 2**20
"""The most bytes of a line of text."""


def read_bytes(path: FilePath, limit: int = MAX_WHOLE) -> bytes:
    """All bytes of a file, or `BadFile` if it holds more than `limit`."""
    parts, size = list[bytes](), 0
    try:
        with open(path, "rb") as file:
            while size <= limit and (part := file.read(2**20)):  # in parts: a read of many bytes takes their room first
                parts.append(part)
                size += len(part)
    except OSError as error:
        raise unreadable(path, error) from error
    if size > limit:
        raise BadFile(path, f"more than {limit} bytes, the most that is read of such a file")
    return b"".join(parts)


def read_text(path: FilePath, limit: int = MAX_WHOLE) -> str:
    """The UTF-8 text of a file, with or without a byte order mark."""
    data = read_bytes(path, limit)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadFile(path, f"byte {data[error.start]:#04x} is not UTF-8 text", line) from error


def read_lines(path: FilePath) -> Iterator[tuple[int, str]]:
    """Number and stripped text of each line that is not blank, read one by one so that the file is never held whole.

    Bytes that are not UTF-8 become the replacement character: harmless in a comment, refused in a number.
    """
    try:
        with open(path, "rb") as file:
            number = 0
            while raw := file.readline(MAX_LINE + 1):
                number += 1
                if len(raw) > MAX_LINE:
                    raise BadFile(path, f"a line of more than {MAX_LINE} bytes", number)
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8", errors="replace").strip()
                if line:
                    yield number, line
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: FilePath, error: OSError) -> BadFile:
    """The error for a file that cannot be opened or read."""
    return BadFile(path, f"cannot be read: {error.strerror or error}")


def is_real(token: str) -> bool:
    """Whether a token spells a number."""
    return _REAL.fullmatch(token) is not None


def real(path: FilePath, token: str, what: str, line: int | None = None) -> float:
    """The finite number that a token spells; `what` names it, and `line` its line, in errors."""
    if not is_real(token):
        raise BadFile(path, f"{what} must be a number, got {shown(token)}{comma_hint(path, token)}", line)
    value = float(token)
    if math.isinf(value):
        raise BadFile(path, f"{what} is too large: {shown(token)}", line)
    return value


def comma_hint(path: FilePath, token: str) -> str:
    """What an error says besides about a token that is a number with a decimal comma; else nothing."""
    if not _DECIMAL_COMMA.fullmatch(token.strip()):
        return ""
    number = token.strip().replace(",", ".")
    if isinstance(path, InSheet):
        return f"; the cell holds a text: enter {number} as a number"
    return f"; write {number}: a comma is read so only in a CSV with semicolons or tabs where no number has a point"


def amount(path: FilePath, token: str, what: str, line: int | None = None) -> float:
    """The finite number, not below zero, that a token spells."""
    value = real(path, token, what, line)
    if value < 0:
        raise BadFile(path, f"{what} must not be negative, got {shown(token)}", line)
    return value


def costs_of(path: FilePath, tokens: list[str], what: str, line: int | None = None) -> list[float]:
    """The numbers, not below zero, that the tokens spell; "inf" stands for no leg.

    All tokens are checked together first: a matrix has many, and one by one takes long.
    """
    if _PLAIN.fullmatch("".join(tokens)):
        with contextlib.suppress(ValueError):
            values = list(map(float, tokens))
            if min(values, default=0.0) >= 0 and max(values, default=0.0) < math.inf:
                return values
    return [math.inf if token == "inf" else amount(path, token, what, line) for token in tokens]


def whole(path: FilePath, token: str, what: str, line: int | None = None) -> int:
    """The whole number that a token spells."""
    if not _WHOLE.fullmatch(token):
        raise BadFile(path, f"{what} must be a whole number, got {shown(token)}", line)
    return int(token)


def check_size(path: FilePath, size: int, line: int | None = None, table: bool = False) -> None:
    """Raises `BadFile` if `size`, the number of nodes, is below 1 or above `MAX_NODES`, or too large for a `table`."""
    if size < 1:
        raise BadFile(path, f"a problem needs at least one node, got {size}", line)
    if size > MAX_NODES:
        raise BadFile(path, f"{size} nodes are more than the {MAX_NODES} that are read", line)
    if table and size > LARGEST_TABLE:
        raise BadFile(path, f"a table of costs between {size} nodes is larger than the {LARGEST_TABLE} allowed", line)


def shown(value: object) -> str:
    """A value as an error message shows it: quoted, and shortened to 60 characters."""
    text = repr(value)
    if len(text) <= 60:
        return text
    return f"{text[:56]}...{text[-1]}" if isinstance(value, str) else f"{text[:57]}..."


def csv_line(values: Iterable[object]) -> str:
    """Texts and numbers as a line of CSV, from which they are read back the same."""
    return ",".join(_quoted(value) if isinstance(value, str) else repr(value) for value in values)


def _quoted(text: str) -> str:
    return text if _PLAIN_TEXT.fullmatch(text) else '"' + text.replace('"', '""') + '"'


def write_lines(path: FilePath, lines: Iterable[str], durable: bool = False) -> None:
    """Writes a UTF-8 file of these lines; `durable` as for `write_file`."""
    try:
        write_file(path, lambda file: file.writelines(f"{line}\n".encode() for line in lines), durable)
    except UnicodeEncodeError as error:
        raise BadFile(path, f"cannot be written: {error.object[error.start]!r} is not a character") from error


def write_file(path: FilePath, write: Callable[[IO[bytes]], None], durable: bool = False) -> None:
    """Lets `write` fill a draft, which gets the name `path` only when it is complete.

    A `durable` file is on the disk when this returns: it survives a loss of power.
    """
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():  # a pipe or a device cannot be renamed over
            with open(target, "wb") as file:
                write(file)
            return
        draft = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            with open(draft, "wb") as file:
                write(file)
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            os.replace(draft, target)
            if durable:
                _sync_folder(target.parent)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise BadFile(path, f"cannot be written: {error.strerror or error}") from error


def lock_alone(file: IO[bytes]) -> bool:
    """Whether this process holds the open file alone from now on; closing the file, or a kill, frees it."""
    try:
        import fcntl
    except ImportError:  # not on Windows; there two runs at a time are the user's own care
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _sync_folder(folder: Path) -> None:
    """Brings the names of a folder's files to the disk, where the system can."""
    with contextlib.suppress(OSError):  # Windows opens no folders
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


_REAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)
_PLAIN = re.compile(r"[0-9.eE+-]*")
_PLAIN_TEXT = re.compile(r"[\w .:;-]*", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)
