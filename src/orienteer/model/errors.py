"""The few error classes of the package; plain ``ValueError`` is used for bad arguments."""

from pathlib import Path


class OrienteerError(Exception):
    """The base class of the package's own errors."""


class InvalidInstance(OrienteerError, ValueError):
    """A problem that breaks a rule of `Instance`: the message names the field, the place and the value."""


class InfeasibleTour(OrienteerError, ValueError):
    """A route that breaks the rules of its instance."""


class Unsupported(OrienteerError, ValueError):
    """A problem with a rule that the solver does not know; the message names solvers that do."""


class InSheet(str):
    """The path of a workbook, for messages about one of its sheets."""

    sheet: str

    def __new__(cls, path: str | Path, sheet: str = "") -> "InSheet":
        """The path, which knows the title of the `sheet`."""
        found = super().__new__(cls, path)
        found.sheet = sheet
        return found


class BadFile(OrienteerError, ValueError):
    """A file that cannot be read or written; the message names the line at fault, or the sheet and row, if known."""

    def __init__(self, path: str | Path, message: str, line: int | None = None, field: str | None = None):
        """`field` is the path of the key at fault, such as ``places[3].prize``, where the caller asks for that."""
        self.path, self.message, self.line, self.field = str(path), message, line, field
        where = f"{path}:{line}" if line is not None else str(path)
        if isinstance(path, InSheet):
            self.path, where = path, f"{path}: sheet {path.sheet!r}" + ("" if line is None else f", row {line}")
        super().__init__(f"{where}: {message}")

    def __reduce__(self) -> tuple[type["BadFile"], tuple[str, str, int | None, str | None]]:
        return BadFile, (self.path, self.message, self.line, self.field)


class MissingExtra(OrienteerError, ImportError):
    """An optional package is absent; the message holds the pip line that brings it."""

    def __init__(self, feature: str, extra: str, command: str = ""):
        """`feature` needs `extra`, an extra of orienteer, or a package that the pip `command` installs."""
        self.feature, self.extra, self.command = feature, extra, command or f"pip install 'orienteer[{extra}]'"
        super().__init__(f"{feature} needs an optional package: {self.command}")

    def __reduce__(self) -> tuple[type["MissingExtra"], tuple[str, str, str]]:
        return MissingExtra, (self.feature, self.extra, self.command)
