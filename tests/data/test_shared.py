"""The shared benchmark files: all are read, and the known tours are worth what is said."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from orienteer import check_tour
from orienteer.data import files
from orienteer.data.generate import generate
from orienteer.model.distances import euclidean, pairwise

DATA = Path(__file__).parents[2].parent / "shared" / "data"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the benchmark files of ../shared/data are absent")


def table(path: Path) -> list[dict[str, str]]:
    if not path.is_file():
        return []
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


OPLIB = table(DATA / "oplib" / "best_known.csv")
CLASSIC = table(DATA / "classic" / "best_known.csv")


@pytest.mark.parametrize("generation", ["1", "2", "3", "4"])
def test_oplib(generation: str) -> None:
    rows = [row for row in OPLIB if row["generation"] == generation]
    large = [row for row in rows if int(row["n"]) > 700]
    assert rows
    for row in rows:
        if row in large[1:]:  # one of the large ones tells enough
            continue
        instance = files.read(DATA / "oplib" / "instances" / f"gen{generation}" / f"{row['instance']}.oplib")
        assert instance.size == int(row["n"])
        assert instance.limit == float(row["cost_limit"])
        assert (instance.start, instance.end) == (0, 0)
        assert np.array_equal(instance.costs, np.floor(instance.costs))
        assert instance.symmetric
        assert instance.coords is not None or row["instance"].startswith("brazil58")
        assert instance.prizes.sum() >= float(row["best_known"])


def test_every_oplib_file_is_in_the_table() -> None:
    names = {path.stem for path in (DATA / "oplib" / "instances").glob("*/*")}
    assert names == {row["instance"] for row in OPLIB}


def test_classic_tours_are_worth_what_is_said() -> None:
    tours = json.loads((DATA / "classic" / "best_known_tours.json").read_text())
    assert {path.stem for path in (DATA / "classic").glob("*/*.txt")} == {row["instance"] for row in CLASSIC}
    for row in CLASSIC:
        instance = files.read(DATA / "classic" / row["set"] / f"{row['instance']}.txt")
        assert (instance.size, instance.limit) == (int(row["n"]), float(row["t_max"]))
        if row["instance"] in tours:
            assert check_tour(instance, tours[row["instance"]]).prize == float(row["best_known"])
    assert len(tours) > 20


@pytest.mark.parametrize("nodes", [20, 50, 100])
@pytest.mark.parametrize("kind", ["constant", "uniform", "distance"])
def test_paper_sets(kind: str, nodes: int) -> None:
    read = files.read_set(DATA / "paper" / f"{kind}_{nodes}.npz")
    assert isinstance(read, files.InstanceSet)
    ours = generate(nodes, kind, count=200)
    assert (len(read), read.size) == (len(ours), ours.size)
    assert read.limit.tolist() == ours.limit.tolist()
    assert read[7].coords is not None
    # Prizes of both come from the same rules, so they share their values, and the depot's is nothing.
    assert (read.prizes[:, 0] == 0).all()
    assert read.prizes.mean() == pytest.approx(ours.prizes.mean(), rel=0.03)
    assert set(read.prizes[:, 1:].flat) <= {1.0} | {i / 100 for i in range(1, 101)}


@pytest.mark.parametrize("nodes", [20, 50, 100])
def test_distance_prizes_by_the_rule_of_the_paper(nodes: int) -> None:
    """The rule that our generator applies gives the stored prizes of the stored places, to the last one."""
    from orienteer.data.draws import Draws
    from orienteer.data.families import Places
    from orienteer.data.generate import draw_prizes

    read = files.read_set(DATA / "paper" / f"distance_{nodes}.npz")
    for instance in read:
        assert np.array_equal(
            draw_prizes("distance", Draws(0), Places(instance.coords, None), nodes), instance.prizes[1:]
        )
        assert np.array_equal(instance.costs, pairwise(instance.coords, euclidean))
