"""Problems and results in a notebook: tables with names that cannot break out, and a sketch."""

import base64
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import numpy as np
import pytest

from orienteer import Budget, Instance, MaxSteps, Result, Route, check_plan, solve
from orienteer.model.show import MOST_DOTS, MOST_STOPS

SQUARE = Instance.from_coords(
    [[0, 0], [3, 0], [3, 4], [0, 4]], [0, 1, 2, 4], 12, names=["home", "mill", "pond", "barn"]
)
EVIL = "<script>alert('x')</script>&\n\x1b"


class Read(HTMLParser):
    """The tags and the texts of a page."""

    def __init__(self, page: str):
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def sketch(page: str) -> ET.Element:
    coded = re.search(r"src='data:image/svg\+xml;base64,([^']+)'", page)
    assert coded is not None
    return ET.fromstring(base64.b64decode(coded[1]))


def parts(page: str, kind: str) -> list[ET.Element]:
    return [part for part in sketch(page) if part.tag.endswith(kind)]


def test_an_instance_is_a_table_and_a_sketch() -> None:
    page = SQUARE._repr_html_()
    texts = Read(page).texts
    assert texts[0] == "Instance"
    assert dict(zip(texts[1::2], texts[2::2], strict=True)) == {
        "places": "4",
        "prizes in all": "7",
        "limit": "12",
        "start": "home",
        "end": "home",
        "costs": "the same both ways",
    }
    assert len(parts(page, "circle")) == 4 + 2
    assert parts(page, "polyline") == []


def test_the_sketch_has_north_up_and_keeps_proportions() -> None:
    home, mill, _, barn = ((float(one.get("cx", 0)), float(one.get("cy", 0))) for one in _dots(SQUARE))
    assert home[1] == mill[1] > barn[1]
    assert (mill[0] - home[0]) / (home[1] - barn[1]) == pytest.approx(3 / 4)


def _dots(instance: Instance) -> list[ET.Element]:
    return parts(instance._repr_html_(), "circle")[:4]


def test_a_result_knows_its_problem() -> None:
    result = solve(SQUARE, "enumerate")
    page = result._repr_html_()
    read = Read(page)
    for text in ("prize", "6 of 7", "cost", "12 of 12", "proven optimal", "home", "pond", "barn"):
        assert text in read.texts
    (line,) = parts(page, "polyline")
    assert len(line.get("points", "").split()) == len(result.tour)


def test_a_result_from_a_file_is_a_table() -> None:
    page = Result.from_json(solve(SQUARE, "enumerate").to_json())._repr_html_()
    assert Read(page).texts[-2:] in (["route", "0 2 3 0"], ["route", "0 3 2 0"])
    assert "<img" not in page


def test_no_coordinates_no_sketch() -> None:
    assert "<img" not in SQUARE.replace(coords=None)._repr_html_()


def test_a_problem_with_rules_tells_them() -> None:
    instance = SQUARE.replace(
        routes=[Route(0, None, 8, 10), Route("barn", "barn", 8, 12)],
        service=[0, 0.5, 0.25, 0],
        required=["pond"],
        windows={"mill": (9, 12)},
        groups=[["mill", "pond"]],
        budgets=[Budget("fees", {"mill": 3}, 2.5)],
    )
    texts = Read(instance._repr_html_()).texts
    assert dict(zip(texts[1::2], texts[2::2], strict=True)) == {
        "places": "4",
        "prizes in all": "7",
        "routes": "2",
        "limit": "10, 12",
        "start": "home, barn",
        "end": "anywhere, barn",
        "opens": "8",
        "costs": "the same both ways",
        "all visits take": "0.75",
        "places with windows": "1",
        "required": "pond",
        "at most one of": "mill, pond",
        "budget fees": "2.5",
    }


def test_a_plan_of_several_routes_shows_each() -> None:
    instance = SQUARE.replace(routes=[Route(0, None, 8, 10), Route(3, 3, 8, 12)], windows={1: (9, 12)})
    plan = check_plan(instance, [[0, 1], [3, 2, 3]])
    result = Result(plan, "stopped", 0.1, 1, "lns", 0, instance=instance)
    page = result._repr_html_()
    assert [len(line.get("points", "").split()) for line in parts(page, "polyline")] == [2, 3]
    assert len({line.get("stroke") for line in parts(page, "polyline")}) == 2
    texts = Read(page).texts
    assert "2, 3" in texts
    assert texts.count("begin") == 2
    assert "route 1" in Read(Result.from_json(result.to_json())._repr_html_()).texts


def test_a_result_without_a_plan_says_so() -> None:
    for status, text in (("none found", "no plan found"), ("infeasible", "proven to have no plan")):
        result = Result(None, status, 0.1, 1, "lns", 0, instance=SQUARE)  # type: ignore[arg-type]
        assert Read(result._repr_html_()).texts == ["Result", "status", text, "sought by", "lns in 0.1 s"]


def test_a_free_end_has_no_place() -> None:
    free = SQUARE.replace(end=None)
    assert "anywhere" in Read(free._repr_html_()).texts
    assert len(parts(solve(free, "enumerate")._repr_html_(), "polyline")) == 1


def test_names_are_text() -> None:
    named = SQUARE.replace(names=[EVIL, "b", "c", "d"])
    for page in (named._repr_html_(), solve(named, "enumerate")._repr_html_()):
        read = Read(page)
        assert "script" not in read.tags
        assert "<script>alert('x')</script>&??" in read.texts


def test_large_problems_stay_small() -> None:
    points = np.random.default_rng(1).random((MOST_DOTS + 500, 2))
    page = Instance.from_coords(points, np.ones(len(points)), 3)._repr_html_()
    assert len(parts(page, "circle")) == MOST_DOTS + 2
    line = Instance.from_coords([[x, 0] for x in range(99)], np.ones(99), 200)
    result = solve(line, "tsili", MaxSteps(1), initial=[*range(99), 0])
    assert Read(result._repr_html_()).tags.count("tr") == 5 + 1 + 1 + MOST_STOPS + 1


def test_points_in_one_place() -> None:
    assert sketch(Instance.from_coords(np.ones((3, 2)), np.zeros(3), 1)._repr_html_()) is not None
