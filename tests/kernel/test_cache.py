"""Where compiled kernels are kept, and when a kept one is up to date."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from orienteer.kernel import kernel
from orienteer.kernel.cache import SUFFIX, _own_temporary, fingerprint

SCRIPT = """
import numpy as np
from orienteer.kernel import next_int, seed_state
print(next_int(seed_state(1), 1000))
stats = next_int.outer.stats
print(stats.cache_path, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


def _run(**environment: str) -> tuple[str, str, int, int]:
    """What a kernel draws in a new process, its cache directory, and the numbers of hits and misses there."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("ORIENTEER_CACHE", "XDG_CACHE_HOME")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=inherited | environment, capture_output=True, text=True, check=True
    )
    drawn, counts = done.stdout.splitlines()
    path, hits, misses = counts.rsplit(" ", 2)
    return drawn, path, int(hits), int(misses)


def test_a_named_directory_is_made_and_used(tmp_path: Path) -> None:
    named = tmp_path / "one" / "two"
    first = _run(ORIENTEER_CACHE=str(named))
    second = _run(ORIENTEER_CACHE=str(named))
    assert first[1:] == (str(named), 0, 1)
    assert second[1:] == (str(named), 1, 0)
    assert first[0] == second[0]
    assert list(named.glob(f"orienteer.kernel.rng.next_int-*{SUFFIX}"))


def test_a_broken_file_is_compiled_anew(tmp_path: Path) -> None:
    """A full disk once left a kernel cut short; the next process must neither trust it nor fail."""
    _run(ORIENTEER_CACHE=str(tmp_path))
    (path,) = tmp_path.glob(f"orienteer.kernel.rng.next_int-*{SUFFIX}")
    path.write_bytes(path.read_bytes()[:100])
    assert _run(ORIENTEER_CACHE=str(tmp_path))[2:] == (0, 1)
    assert _run(ORIENTEER_CACHE=str(tmp_path))[2:] == (1, 0)


def test_a_directory_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    """numba's own cache once ended `solve` with `cannot cache function ... no locator available`."""
    file = tmp_path / "file"
    file.touch()
    drawn, place, _, _ = _run(ORIENTEER_CACHE=str(file / "below"))
    assert drawn == _run(ORIENTEER_CACHE=str(tmp_path))[0]
    assert place != str(file / "below")


def test_without_any_place_kernels_still_run(tmp_path: Path) -> None:
    """The package, the home and the temporary directory are all files here, below which nothing can be made."""
    file = tmp_path / "file"
    file.touch()
    nowhere = f"""
import os, tempfile
from pathlib import Path
from orienteer.kernel import cache
tempfile.tempdir = {str(file)!r}
cache.__file__ = {str(file / "package" / "cache.py")!r}
{SCRIPT}
"""
    done = subprocess.run(
        [sys.executable, "-c", nowhere],
        env=os.environ | {"ORIENTEER_CACHE": str(file), "XDG_CACHE_HOME": str(file)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[1] == "None 0 1"


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="owners and modes of files are those of Unix")
def test_a_temporary_directory_of_others_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading a kernel runs its file's code: nobody else may be able to write it."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (own,) = _own_temporary()
    assert own.stat().st_mode & 0o777 == 0o700
    own.chmod(0o770)
    assert _own_temporary() == []
    own.rmdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    own.symlink_to(tmp_path / "elsewhere")
    assert _own_temporary() == []


def _pair(step: int, helper_step: int) -> Callable[..., Any]:
    """A kernel that adds `step`, by way of a helper that adds `helper_step`."""

    @kernel
    def helper(x: float) -> float:
        return x + helper_step

    @kernel
    def outer(x: float) -> float:
        return helper(x) + step

    return outer


def test_a_fingerprint_changes_with_whatever_a_kernel_reaches() -> None:
    """numba's cache once kept a kernel whose helper, in another file, had changed."""
    prints = [fingerprint(_pair(*steps).py_func) for steps in ((1, 1), (1, 2), (2, 1))]  # type: ignore[attr-defined]
    assert len(set(prints)) == 3
    assert fingerprint(_pair(1, 1).py_func) == prints[0]  # type: ignore[attr-defined]


def _written(number: int) -> Callable[..., Any]:
    """A kernel that returns a number which a function writes into its code."""

    @intrinsic
    def constant(typing: Any) -> Any:
        return types.int64(), lambda context, builder, signature, given: ir.Constant(ir.IntType(64), number)

    @kernel
    def outer() -> int:
        return constant()

    return outer


def test_a_fingerprint_changes_with_functions_that_write_code() -> None:
    """A change in such a function, as those of `orienteer.kernel.lanes` are, must change the fingerprint."""
    one, other = _written(1), _written(2)
    assert (one(), other()) == (1, 2)
    assert fingerprint(one.py_func) != fingerprint(other.py_func)  # type: ignore[attr-defined]
