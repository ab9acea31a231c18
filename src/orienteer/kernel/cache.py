"""Compiled kernels kept in files, so that they are compiled once for a machine and not in every process.

numba's own cache takes a compiled kernel for up to date while the kernel's source file is unchanged, although the code
that it calls in other files may have changed, and raises an error where it finds no directory to write to. Here the
name of a compiled kernel's file holds a fingerprint of all code that the kernel reaches, files are read from every
directory that may have them, and where none can be written nothing is kept.
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
"""How long files of a kernel's other versions are kept unused before they are removed."""

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
            # Whatever is wrong with a file (a full disk may have cut it short), the kernel can be compiled anew.
            with contextlib.suppress(Exception):
                data = (place / name).read_bytes()
                found = CompileResult._rebuild(context, *pickle.loads(data))
                _note_use(place / name)
                return found
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Writes the compiled kernel to a file, if some directory can be written."""
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
        arguments = [fingerprint(kind.dispatcher.py_func) for kind in signature if hasattr(kind, "dispatcher")]
        key = _digest(repr((str(signature), arguments, codegen.magic_tuple())))
        return f"{self._name}-{self._fingerprint}-{key}{SUFFIX}"

    def _remove_old(self, place: Path) -> None:
        for path in place.glob(f"{self._name}-*{SUFFIX}"):
            current = path.name.startswith(f"{self._name}-{self._fingerprint}-")
            if not current and path.stat().st_mtime < time.time() - UNUSED_SECONDS:
                path.unlink(missing_ok=True)


def fingerprint(function: Callable[..., Any]) -> str:
    """A digest of a function's code, of the constants it reads and of all functions that it calls, directly or not.

    The digest also covers the versions of Python and numba, since files hold objects of both.
    """
    parts = [sys.version, numba.__version__]
    seen: set[Callable[..., Any]] = set()
    waiting = [function]
    while waiting:
        reached = waiting.pop()
        if reached in seen:
            continue
        seen.add(reached)
        parts.append(f"{reached.__module__}.{reached.__qualname__} {reached.__dict__.get('compiled_as')}")
        visible = dict(reached.__globals__)
        enclosed = (cell.cell_contents for cell in reached.__closure__ or ())
        visible.update(zip(reached.__code__.co_freevars, enclosed, strict=True))
        for code in _codes(reached.__code__):
            constants = [constant for constant in code.co_consts if not isinstance(constant, types.CodeType)]
            parts += [code.co_code.hex(), repr(constants)]
            for name in code.co_names + code.co_freevars:
                value = _python_function(visible.get(name))
                if isinstance(value, types.FunctionType):
                    waiting.append(value)
                parts.append(f"{name} {_constant(value)}")
    return _digest("\n".join(parts))


def _python_function(value: object) -> object:
    """The Python function behind a kernel or a numba intrinsic; other values as they are."""
    return getattr(value, "py_func", getattr(value, "_defn", value))


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A function's code and that of the functions and generators inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _constant(value: object) -> str:
    """What a kernel compiles of a global value: the value itself, or the field names of a named tuple's class."""
    if isinstance(value, bool | int | float | str | bytes | tuple | np.generic):
        return repr(value)
    return repr(getattr(value, "_fields", None))


@functools.lru_cache(maxsize=1)
def places() -> list[Path]:
    """The directories in which compiled kernels are looked for, in order.

    They are the directory that ORIENTEER_CACHE names, if it can be written; else also the package's own, the user's
    and, where none of these can be written, one in the temporary directory. Directories that cannot be written are
    read all the same: an image may have been built with compiled kernels in them.
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
    """The first of the directories that can be written; None if there is none."""
    return next((place for place in places() if _is_writable(place)), None)


def _user_directory() -> Path:
    """The directory in which programs keep cached files of this user."""
    home = Path(os.path.expanduser("~"))  # "~" itself for a user without a home
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local"))
    if sys.platform == "darwin":
        return home / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")


def _own_temporary() -> list[Path]:
    """A directory for this user alone in the temporary directory; empty if somebody else could write to it.

    Loading a kernel runs the code in its file, so a directory that other users made, or may change, is not used.
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
        return False  # a relative path means another directory when the working directory changes
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
