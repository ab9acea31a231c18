"""The package's face: what it exports, where it imports from, and that names stay in order."""

import difflib
import importlib
import pkgutil
import re
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import orienteer
import public_api
from orienteer import REGISTRY
from orienteer.search.registry import solver_class
from orienteer.search.solver import Solver

SOURCE = Path(orienteer.__file__).parent
ROOT = Path(__file__).parents[1]


def test_all_is_what_is_exported() -> None:
    modules = {name for name, value in vars(orienteer).items() if type(value) is type(sys)}
    public = {name for name in vars(orienteer) if not name.startswith("_")} - modules
    assert sorted(orienteer.__all__) == sorted(public | {"solve"})


def test_the_public_interface_is_the_stored_one() -> None:
    """Names, signatures, options and paths that others rely on change on purpose only."""
    stored = public_api.STORED.read_text().splitlines()
    changed = list(difflib.unified_diff(stored, public_api.lines(), "tests/api.txt", "now", n=0, lineterm=""))
    assert not changed, "\n".join(
        [
            "The public interface is not the one of tests/api.txt:",
            *(line for line in changed if not line.startswith("@@")),
            "A line with + alone is new: tell it in CHANGELOG.md. One with - is gone or changed, and breaks programs:",
            "docs/reference/versions.md says when that is allowed. If it is meant: python tests/public_api.py",
        ]
    )


def test_pages_use_public_names_only() -> None:
    """Readers may rely on what a page or an example imports or describes; the laboratory alone promises nothing."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.py")]
    unknown = set()
    for page in pages:
        text = page.read_text()
        imports = re.findall(r"^ *from (orienteer(?:\.\w+)*) import ([\w, ]+)", text, re.MULTILINE)
        described = re.findall(r"^::: (orienteer(?:\.\w+)*)\.(\w+)", text, re.MULTILINE)
        for module, names in imports + described:
            if "notes" not in page.parts and not module.startswith("orienteer.lab"):
                named = [name.strip() for name in names.split(",")]
                unknown |= {f"{page.name}: {module}.{name}" for name in named if not _is_public(module, name)}
    assert not unknown, "not in PUBLIC of tests/public_api.py"


def _is_public(module: str, name: str) -> bool:
    known = public_api.PUBLIC
    names = known[module] or importlib.import_module(module).__all__ if module in known else ()
    return name in names or f"{module}.{name}" in known


def test_solve_is_the_function() -> None:
    """The front door has the name of its module; the function must win."""
    assert callable(orienteer.solve)


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_registered_solvers_are_what_the_registry_says(name: str) -> None:
    entry, found = REGISTRY[name], solver_class(name)
    assert issubclass(found, Solver)
    assert entry.name == name == found.name
    assert entry.summary
    assert entry.paper


def test_version_is_the_changelogs() -> None:
    changelog = ROOT / "CHANGELOG.md"
    newest = re.search(r"^## (\d\S*)", changelog.read_text(), re.MULTILINE)
    assert newest is not None
    assert newest[1] == orienteer.__version__


def test_citation_has_the_version_too() -> None:
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.search(rf"^version: {re.escape(orienteer.__version__)}$", citation, re.MULTILINE)


def test_every_module_imports() -> None:
    for module in pkgutil.walk_packages([str(SOURCE)], "orienteer."):
        if "fused_" in module.name and find_spec("triton") is None:
            continue  # comes with torch for GPUs
        importlib.import_module(module.name)


def test_every_folder_with_code_is_a_package() -> None:
    """The test above would not see the modules of a folder without __init__.py."""
    folders = {path.parent for path in SOURCE.rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []
