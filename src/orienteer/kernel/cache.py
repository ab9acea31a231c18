"""Compiled kernels kept in files, so that they are compiled once for a machine and not in every process.

numba's own cache takes a kernel for up to date as long as the file of that kernel is the same, whatever code of other
files it calls, and refuses to work where it finds no place to write. Here a file's name holds a fingerprint of all code
that the kernel reaches, files are read from every place that may have them, and without a place nothing is kept.
"""

import contextlib
import functools
import hashlib
import logging
import os
import pickle
import stat
import sys
import tempfile
import time
import types
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

VARIABLE = "ORIENTEER_CACHE"
"""The environment variable that names a directory for compiled kernels."""
SUFFIX = ".kernel"
UNUSED_SECONDS = 30 * 24 * 3600.0
"""Files of other versions of a kernel are removed when they have not been used for so long."""

_log = logging.getLogger("orienteer")


class KernelCache(NullCache):  # type: ignore[misc]
    """The cache of one kernel, in the form that numba's dispatchers ask for."""

    def __init__(self, function: Callable[..., Any]):
        self.function = function

    @property
    def cache_path(self) -> str | None:
        """The directory that new files go to."""
        place = writable_place()
        return None if place is None else str(place)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The compiled kernel for a signature, from the first place that has it; None if it must be compiled."""
        context.refresh()
        name = self._file_name(signature, context.codegen())
        for place in places():
            # Whatever is wrong with a file, such as one cut short by a full disk, compiling anew mends it.
            with contextlib.suppress(Exception):
                data = (place / name).read_bytes()
                found = CompileResult._rebuild(context, *pickle.loads(data))
                _note_use(place / name)
                return found
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Writes the compiled kernel where that is possible."""
        place = writable_place()
        if place is None or result.library.has_dynamic_globals:
            return
        with contextlib.suppress(OSError):  # a full disk must not end a search
            _write(place / self._file_name(signature, result.codegen), dumps(result._reduce()))
            self._remove_old(place)

    @functools.cached_property
    def _name(self) -> str:
        return f"{self.function.__module__}.{self.function.__qualname__}".replace("<", "").replace(">", "")

    @functools.cached_property
    def _fingerprint(self) -> str:
        return fingerprint(self.function)

    def _file_name(self, signature: Any, codegen: Any) -> str:
        # The processor is part of the key: an image may be built on one machine and used on another.
        handed = [fingerprint(each.dispatcher.py_func) for each in signature if hasattr(each, "dispatcher")]
        key = _digest(repr((str(signature), handed, codegen.magic_tuple())))
        return f"{self._name}-{self._fingerprint}-{key}{SUFFIX}"

    def _remove_old(self, place: Path) -> None:
        for path in place.glob(f"{self._name}-*{SUFFIX}"):
            current = path.name.startswith(f"{self._name}-{self._fingerprint}-")
            if not current and path.stat().st_mtime < time.time() - UNUSED_SECONDS:
                path.unlink(missing_ok=True)


def fingerprint(function: Callable[..., Any]) -> str:
    """A digest of a function's code, of the constants it reads and of all functions that it calls, directly or not.

    Versions of Python and numba are in it too, since files hold objects of both.
    """
    parts = [sys.version, numba.__version__]
    seen: set[Callable[..., Any]] = set()
    waiting = [function]
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        parts.append(f"{one.__module__}.{one.__qualname__}")
        visible = dict(one.__globals__)
        visible.update(
            zip(one.__code__.co_freevars, (cell.cell_contents for cell in one.__closure__ or ()), strict=True)
        )
        for code in _codes(one.__code__):
            constants = [each for each in code.co_consts if not isinstance(each, types.CodeType)]
            parts += [code.co_code.hex(), repr(constants)]
            for name in code.co_names + code.co_freevars:
                value = _python_function(visible.get(name))
                if isinstance(value, types.FunctionType):
                    waiting.append(value)
                parts.append(f"{name} {_constant(value)}")
    return _digest("\n".join(parts))


def _python_function(value: object) -> object:
    """What a kernel, or a function that writes code for kernels, is made of; other values as they are."""
    return getattr(value, "py_func", getattr(value, "_defn", value))


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A function's code and that of the functions and generators inside it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from _codes(one)


def _constant(value: object) -> str:
    """What a kernel sees of a global value: the value itself, or the fields of a named tuple."""
    if isinstance(value, bool | int | float | str | bytes | tuple | np.generic):
        return repr(value)
    return repr(getattr(value, "_fields", None))


@functools.lru_cache(maxsize=1)
def places() -> list[Path]:
    """The directories that compiled kernels are looked for in, the first one first.

    The one that ORIENTEER_CACHE names, or else the package's own, the user's and, where none of these can be written,
    one in the temporary directory. Kernels that an image was built with are found though nothing can be written there.
    """
    found = [Path(__file__).parent / "__pycache__", _user_directory() / "orienteer"]
    named = os.environ.get(VARIABLE)
    if named:
        place = Path(named).absolute()
        if _is_writable(place):
            return [place]
        if not place.is_dir():
            _log.warning("%s names %s, where no directory can be made", VARIABLE, named)
        found.insert(0, place)
    if not any(_is_writable(place) for place in found):
        found += _own_temporary()
    return found


@functools.lru_cache(maxsize=1)
def writable_place() -> Path | None:
    """The first of the places that can be written; None if there is none."""
    return next((place for place in places() if _is_writable(place)), None)


def _user_directory() -> Path:
    """Where programs of this user keep what they can make again."""
    home = Path(os.path.expanduser("~"))  # "~" itself for a user without a home
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local"))
    if sys.platform == "darwin":
        return home / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")


def _own_temporary() -> list[Path]:
    """A directory for this user in the temporary one; none if somebody else could write to it.

    Loading a kernel runs what its file holds, so a directory that others made, or may change, is not used.
    """
    user = os.getuid() if hasattr(os, "getuid") else None
    place = Path(tempfile.gettempdir()) / f"orienteer-{'' if user is None else user}"
    try:
        with contextlib.suppress(FileExistsError):
            place.mkdir(mode=0o700)
        found = place.lstat()
    except OSError:
        return []
    others = stat.S_IRWXG | stat.S_IRWXO
    private = user is None or (found.st_uid == user and not found.st_mode & others)
    return [place] if stat.S_ISDIR(found.st_mode) and private else []


def _is_writable(place: Path) -> bool:
    """Whether files can be written to a directory, which is made if need be."""
    if not place.is_absolute():
        return False  # would be elsewhere for another working directory
    try:
        place.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=place).close()
    except OSError:
        return False
    return True


def _write(path: Path, data: bytes) -> None:
    """Writes a file that other processes see whole or not at all."""
    partial = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        partial.write_bytes(data)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _note_use(path: Path) -> None:
    with contextlib.suppress(OSError):
        os.utime(path)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
