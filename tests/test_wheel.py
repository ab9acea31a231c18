"""What is built for others: the wheel and the sdist, their contents, and that an installed wheel works.

The repository is built twice, from copies with other dates and other permissions, and must give the same bytes.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from importlib.metadata import distribution
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement

from orienteer.kernel.cache import writable_place

ROOT = Path(__file__).parents[1]
PAGE = "src/orienteer/service/page"
MOST_BYTES = 20_000_000
DATE = "1767225600"
"""SOURCE_DATE_EPOCH of both builds."""

pytestmark = [
    pytest.mark.xdist_group("wheel"),  # one process builds for all tests
    pytest.mark.skipif(not (ROOT / PAGE / "index.html").exists(), reason="the page is not built: make page"),
    pytest.mark.skipif(not (ROOT / ".git").exists(), reason="git tells which files belong to the repository"),
]


class Built(NamedTuple):
    """The two files that a build makes."""

    wheel: Path
    sdist: Path


@pytest.fixture(scope="module")
def files() -> list[str]:
    """The files of the repository and of the built page, by their paths in the repository."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    page = [str(path.relative_to(ROOT)) for path in (ROOT / PAGE).rglob("*")]
    return [name for name in [*listed, *page] if (ROOT / name).is_file() and name]


@pytest.fixture(scope="module")
def built(files: list[str], tmp_path_factory: pytest.TempPathFactory) -> Built:
    """As `make dist` builds: the sdist of the repository, and the wheel of the sdist."""
    return _build(files, tmp_path_factory.mktemp("first"), date=1e9, mask=0o022)


@pytest.fixture(scope="module")
def built_again(files: list[str], tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Both of the repository, in a copy with other dates and permissions, written in another order."""
    return _build(files[::-1], tmp_path_factory.mktemp("again"), 1.5e9, 0o077, "--sdist", "--wheel")


def _build(files: list[str], folder: Path, date: float, mask: int, *options: str) -> Built:
    copy, out = folder / "copy", folder / "dist"
    for name in files:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, copy / name)
        (copy / name).chmod(0o666 & ~mask)
        os.utime(copy / name, (date, date))
    words = [sys.executable, "-m", "build", "--no-isolation", *options, "--outdir", str(out), str(copy)]
    done = subprocess.run(
        words, env=_environment(SOURCE_DATE_EPOCH=DATE), capture_output=True, text=True, umask=mask, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return Built(*out.glob("*.whl"), *out.glob("*.tar.gz"))


def _environment(**variables: str) -> dict[str, str]:
    """This process's environment, without the sources on Python's path."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | variables


def test_the_wheel_is_the_package_and_nothing_else(built: Built, files: list[str]) -> None:
    """Sources, weights, the example and the page are there; tests, maps of scripts and node modules are not."""
    inside = {name for name in zipfile.ZipFile(built.wheel).namelist() if ".dist-info/" not in name}
    assert inside == {name.removeprefix("src/") for name in files if name.startswith("src/orienteer/")}
    kinds = {Path(name).suffix for name in inside}
    assert kinds == {".py", ".typed", ".csv", ".safetensors", ".html", ".js", ".css", ".svg", ".png"}


def test_the_sdist_is_the_repository_and_the_page(built: Built, files: list[str]) -> None:
    with tarfile.open(built.sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert inside == {*files, "PKG-INFO"}


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_files_are_small(built: Built, kind: str) -> None:
    assert getattr(built, kind).stat().st_size < MOST_BYTES


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_builds_are_reproducible(built: Built, built_again: Built, kind: str) -> None:
    """The first wheel is made of the sdist, the second of the repository, so the sdist holds all that a wheel needs."""
    assert getattr(built, kind).read_bytes() == getattr(built_again, kind).read_bytes()


def test_an_installed_wheel_works(built: Built, tmp_path: Path) -> None:
    """In an environment with the packages that the wheel asks for, and no others."""
    venv.create(tmp_path / "env", with_pip=False, symlinks=True)
    python = tmp_path / "env" / "bin" / "python"
    (packages,) = (tmp_path / "env" / "lib").glob("python*/site-packages")
    for name in _needed("orienteer", {"service"}) - {"orienteer"}:
        _borrow(name, packages)
    install = ["--python", str(python), "install", "--no-index", "--no-compile", f"{built.wheel}[service]"]
    for words in ([sys.executable, "-m", "pip", *install], [str(python), str(ROOT / "tests" / "installed.py")]):
        # Kernels that other tests have compiled are the same ones.
        environment = _environment(ORIENTEER_CACHE=str(writable_place()), PIP_FIND_LINKS="")
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[1:] == ["example, solve, check", "cs-l", "serve"]


def _needed(name: str, extras: set[str]) -> set[str]:
    """A distribution and all that it asks for, by name."""
    found: set[str] = set()
    waiting = [(name, frozenset(extras))]
    while waiting:
        name, wanted = waiting.pop()
        if _normal(name) in found and not wanted:
            continue
        found.add(_normal(name))
        for wish in map(Requirement, distribution(name).requires or []):
            if wish.marker is None or any(wish.marker.evaluate({"extra": extra}) for extra in {"", *wanted}):
                waiting.append((wish.name, frozenset(wish.extras)))
    return found


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _borrow(name: str, packages: Path) -> None:
    """Links the files of an installed distribution into another environment."""
    for file in distribution(name).files or []:
        top = file.parts[0]
        if top not in ("..", "__pycache__") and not (packages / top).exists():
            (packages / top).symlink_to(Path(str(distribution(name).locate_file(top))))
