"""The rooms of the package: who may import whom, as docs/explanation/architecture.md draws it."""

import ast
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import orienteer

SOURCE = Path(orienteer.__file__).parent
ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "explanation" / "architecture.md"

TORCH_FILES = tuple(
    f"network/{name}.py"
    for name in ("batching", "edge_attention", "estimate", "features", "plain", "policy_network", "torch_weights")
)
"""The network by plain tensors: what is trained, and what both backends are compared with."""
EXTRAS = {
    "torch": ("beam/backend/__init__.py", "beam/backend/cuda/", "network/cuda/", *TORCH_FILES, "lab/"),
    "triton": ("beam/backend/cuda/", "network/cuda/"),
    "matplotlib": ("plot/", "lab/bench/chart.py"),
    "PIL": ("plot/film.py",),
    "pyscipopt": ("exact/",),
    "highspy": ("exact/",),
    "gurobipy": ("exact/",),
    "pyvrp": ("lab/bench/",),
    "ortools": ("lab/bench/",),
    "vroom": ("lab/bench/",),
    "ray": ("search/engines/cluster.py", "service/cluster.py"),
    "openpyxl": ("data/excel.py",),
    "pandas": ("model/",),
    "fastapi": ("service/",),
    "starlette": ("service/",),
    "uvicorn": ("service/",),
    "pydantic": ("service/",),
    "prometheus_client": ("service/",),
    "psycopg": ("service/postgres.py",),
}
"""Optional packages, and where they may be imported."""
NUMPY_ONLY = ("model", "data", "search")
"""Rooms that need no compiler, so that files can be read and checked at once."""


def test_the_diagram_is_what_the_files_import() -> None:
    assert _drawn() == _imports()


def test_imports_go_one_way() -> None:
    """A room may import those that stand above it in the diagram, never those below; so there are no cycles."""
    drawn = _drawn()
    order = list(drawn)
    for room, others in drawn.items():
        for other in others:
            assert order.index(other) < order.index(room), f"{room} imports {other}, which comes later"


def test_the_product_knows_nothing_of_the_laboratory() -> None:
    assert [room for room, others in _imports().items() if "lab" in others] == []


def test_optional_packages_stay_where_they_belong() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    base = {re.split(r"[<>=\[ ]", line)[0] for line in project["dependencies"]}
    known = base | set(sys.stdlib_module_names) | {"orienteer"}
    for path, name in _imported_names():
        package, place = name.split(".")[0], path.relative_to(SOURCE).as_posix()
        if package not in known:
            assert place.startswith(EXTRAS.get(package, ())), f"{place} imports {package}, which is no dependency"
        if place.split("/")[0] in NUMPY_ONLY:
            assert package != "numba", f"{place} imports numba"


def _drawn() -> dict[str, set[str]]:
    """The rooms of the diagram in their order, and what each imports."""
    table = re.search(r"```text\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert table is not None
    rows = re.findall(r"^(\w+) +<- (.*)$", table[1], re.MULTILINE)
    return {room: set(re.findall(r"\w+", others)) - {"nothing"} for room, others in rows}


def _imports() -> dict[str, set[str]]:
    """What the files of each room import, also inside functions."""
    found: dict[str, set[str]] = defaultdict(set)
    for path, name in _imported_names():
        room = _room(path.relative_to(SOURCE).parts[0])
        if not room.startswith("__"):
            found[room]  # also a room that imports nothing
            if name.startswith("orienteer."):
                found[room] |= {_room(name.split(".")[1])} - {room}
    return dict(found)


def _room(part: str) -> str:
    return part.removesuffix(".py")


def _imported_names() -> Iterator[tuple[Path, str]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path, "orienteer"
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                yield path, node.module
            elif isinstance(node, ast.Import):
                yield from ((path, alias.name) for alias in node.names)
