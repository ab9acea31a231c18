"""The package's face: what it exports, where it imports from, and that names stay in order."""

import importlib
import pkgutil
import re
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import orienteer
from orienteer import REGISTRY
from orienteer.search.registry import solver_class
from orienteer.search.solver import Solver

SOURCE = Path(orienteer.__file__).parent


def test_all_is_what_is_exported() -> None:
    modules = {name for name, value in vars(orienteer).items() if type(value) is type(sys)}
    public = {name for name in vars(orienteer) if not name.startswith("_")} - modules
    assert sorted(orienteer.__all__) == sorted(public | {"solve"})


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
    changelog = Path(__file__).parents[1] / "CHANGELOG.md"
    newest = re.search(r"^## (\d\S*)", changelog.read_text(), re.MULTILINE)
    assert newest is not None
    assert newest[1] == orienteer.__version__


def test_citation_has_the_version_too() -> None:
    citation = (Path(__file__).parents[1] / "CITATION.cff").read_text()
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
