"""Team orienteering, with time windows, and with several windows and budgets: small files, and all shared ones."""

import importlib.util
import math
from pathlib import Path
from typing import Any

import pytest

from orienteer import BadFile, InfeasibleTour, Route
from orienteer.data import files
from orienteer.model.plan import check_plan

TOP = "n 4\nm 2\ntmax 20\n0\t0\t0\n3 4 10\n0 1e0 5\n6 8 1.5\n"
TOPTW = "1 2 2 1\n0 200\n0 0 0 0 7 0 0 0 100\n1 3 4 10 5 1 1 1 20 30\n\n2 1 1 0 2 1 2 1 2 4 9 10.5 12\n"
MCTOPMTW = (
    "2 2 9 1 2 3 4 5 6 7 8 9 10\n0 0 0 0 0 0 60\n"
    "2 3 4 10 5 0 10 20 30 40 1 4 1 0 0 0 0 0 0 0 0 1\n3 1 1 1 2 0 5 10 15 20 0 5 1 0 0 0 0 0 0 0 0 0\n"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "small.txt"


def test_team_orienteering(path: Path) -> None:
    path.write_text(TOP)
    problem = files.read(path, "top")
    assert problem.routes == (Route(0, 3, 0, 20), Route(0, 3, 0, 20))
    assert problem.prizes.tolist() == [0, 10, 5, 1.5]
    assert problem.costs[0].tolist() == [0, 5, 1, 10]
    assert problem.features == {"routes"}
    assert len(files.read(path, "top", routes=3).each_route) == 3
    assert check_plan(problem, [[0, 1, 3], [0, 3]]).prize == 11.5


def test_time_windows(path: Path) -> None:
    path.write_text(TOPTW)
    problem = files.read(path, "toptw", routes=2)
    assert problem.routes == (Route(0, 0, 0, 100), Route(0, 0, 0, 100))
    assert problem.prizes.tolist() == [7, 5, 2]
    assert problem.service.tolist() == [0, 10, 0]
    assert problem.windows == (None, ((20, 30),), ((10.5, 12),))
    assert problem.costs[0].tolist() == [0, 5, 1.4]  # the root of 2, cut off
    assert files.read(path, "toptw").routes is None
    assert check_plan(problem, [[0, 2, 1, 0], [0, 0]]).cost == 35.0


def test_cordeaus_files_have_two_decimals(tmp_path: Path) -> None:
    (tmp_path / "pr01.txt").write_text(TOPTW)
    assert files.read(tmp_path / "pr01.txt", "toptw").costs[0].tolist() == [0, 5, 1.41]


def test_windows_and_budgets_of_days(path: Path) -> None:
    path.write_text(MCTOPMTW)
    problem = files.read(path, "mctopmtw")
    assert problem.routes == (Route(0, 0, 0, 60), Route(0, 0, 1000, 60))
    assert problem.windows is not None
    assert problem.windows[1] == ((0, 10), (20, 30), (1010, 1020), (1030, 1040))
    assert problem.windows[2] == ((5, 10), (15, 20), (1000, 1005), (1010, 1015))
    assert [budget.name for budget in problem.budgets] == ["fee", *(f"type {i}" for i in range(1, 11))]
    assert [budget.most for budget in problem.budgets] == [9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert problem.budgets[10].weights.tolist() == [0, 1, 0]
    plan = check_plan(problem, [[0, 0], [0, 1, 0]])
    assert plan.stops(problem)[1][1].begin == 1010
    with pytest.raises(InfeasibleTour, match="budget 'type 1': 2 is used, 1 allowed"):
        check_plan(problem, [[0, 1, 0], [0, 2, 0]])


@pytest.mark.parametrize(
    ("kind", "text", "line", "message"),
    [
        ("top", "", 1, "this line must be 'n' and its value"),
        ("top", TOP.replace("n 4", "n 5"), None, "announces 5 rows of nodes, got 4"),
        ("top", TOP.replace("m 2", "m 0"), None, "routes must be from 1 to 10000, got 0"),
        ("top", TOP.replace("m 2", "m two"), 2, "m must be a whole number, got 'two'"),
        ("top", TOP.replace("3 4 10", "3 4"), 5, "a node must be 'x y score', got 2 values"),
        ("top", TOP.replace("tmax 20", "tmax 9"), None, "routes[0].limit 9 is below 10"),
        ("top", TOP.replace("n 4", "n 99999999"), None, "more than the 200000 that are read"),
        ("toptw", "1 2\n", 1, "must have the number of nodes as its third value"),
        ("toptw", TOPTW.replace("20 30", "40 30"), None, "windows[1] closes at 30, before it opens at 40"),
        ("toptw", TOPTW.replace("20 30", "20 soon"), 4, "closes must be a number, got 'soon'"),
        ("mctopmtw", MCTOPMTW.replace("2 2 9", "2 2"), 1, "must be 'M N B E1 .. E10', got 12 values"),
        ("mctopmtw", MCTOPMTW.replace("0 60", "60"), 2, "a node must be '0 x y 0 0 O C', got 6 values"),
        ("mctopmtw", MCTOPMTW[:-2], 4, "a node must be of 22 values, got 21 values"),
    ],
)
def test_errors_name_the_line(path: Path, kind: str, text: str, line: int | None, message: str) -> None:
    path.write_text(text)
    with pytest.raises(BadFile) as caught:
        files.read(path, kind)
    assert message in caught.value.message
    assert caught.value.line == line


def test_these_formats_are_read_only(path: Path) -> None:
    path.write_text(TOP)
    with pytest.raises(BadFile, match="cannot be written: top is read only; write JSON instead"):
        files.write(files.read(path, "top"), path, "top")


SHARED = Path(__file__).parents[2].parent / "shared"
SAMPLES = ["top/p4.2.c", "top/p7.4.s", "toptw/c101", "toptw/pr02", "mctopmtw/MCTOPMTW-1-c101"]
SAMPLES += ["mctopmtw/MCTOPMTW-4-r112"]


@pytest.mark.skipif(not (SHARED / "tools/judge_plan.py").exists(), reason="the judge of ../shared/tools is absent")
@pytest.mark.parametrize("sample", SAMPLES)
def test_shared_files_as_their_judge_reads_them(sample: str) -> None:
    kind, judge = sample.partition("/")[0], _judge()
    path = SHARED / "data" / "variants" / f"{sample}.txt"
    theirs = judge.read_toptw(path, 3) if kind == "toptw" else getattr(judge, f"read_{kind}")(path)
    problem = files.read(path, kind, routes=3 if kind == "toptw" else None)
    nodes = theirs["nodes"]
    assert [(route.start, route.end, route.limit) for route in problem.each_route] == [
        (theirs["start"], theirs["end"], theirs["limit"])
    ] * theirs["routes"]
    assert problem.prizes.tolist() == [node["prize"] for node in nodes]
    for a in range(len(nodes)):
        for b in range(len(nodes)):
            assert math.isclose(problem.costs[a, b], judge.distance(theirs, a, b) if a != b else 0, rel_tol=1e-15)
    for node in range(1, len(nodes)) if kind != "top" else ():
        days = [(route.opens, nodes[node]["windows"](day)) for day, route in enumerate(problem.each_route)]
        wanted = {(opens + day, closes + day) for day, windows in days for opens, closes in windows}
        assert problem.windows is not None
        assert set(problem.windows[node] or ()) == wanted
    assert [(budget.most, budget.weights.tolist(), budget.name) for budget in problem.budgets] == theirs["budgets"]


@pytest.mark.skipif(not (SHARED / "tools/judge_plan.py").exists(), reason="the judge of ../shared/tools is absent")
def test_every_shared_file_is_read() -> None:
    """A few files of team orienteering have a limit that no route keeps; the others are problems."""
    for kind in ("top", "toptw", "mctopmtw"):
        for path in sorted((SHARED / "data" / "variants" / kind).glob("*.txt")):
            fields = files.read_fields(path, kind)
            if kind == "top" and fields.costs[0, -1] > fields.limit:
                with pytest.raises(BadFile, match="the cheapest way from start 0 to end"):
                    files.read(path, kind)
            else:
                assert files.read(path, kind).size > 20


def _judge() -> Any:
    spec = importlib.util.spec_from_file_location("judge_plan", SHARED / "tools" / "judge_plan.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
