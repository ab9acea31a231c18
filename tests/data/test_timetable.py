"""Plans as tables: what is refused when somebody has changed them by hand."""

from pathlib import Path

import pytest

from orienteer import BadFile, Instance, Result, solve
from orienteer.data.tour_file import load_plan, save_tour

NAMES = ["Depot", "Pump", "Lift", "Meter"]


def planned() -> tuple[Instance, Result]:
    costs = [[0, 3, 4, 5], [3, 0, 2, 6], [4, 2, 0, 3], [5, 6, 3, 0]]
    instance = Instance(costs, [0, 5, 6, 7], limit=10, names=NAMES)
    return instance, solve(instance, "exact")


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_a_plan_whose_names_fit_its_nodes_is_read(tmp_path: Path, suffix: str) -> None:
    instance, result = planned()
    save_tour(result, tmp_path / f"plan{suffix}")
    assert load_plan(tmp_path / f"plan{suffix}", instance) == [list(result.tour.nodes)]


def test_a_name_that_is_another_nodes_is_refused(tmp_path: Path) -> None:
    """A planner changed only the name of a stop; the check judged the old node and said that all was well."""
    instance, result = planned()
    path = tmp_path / "plan.csv"
    save_tour(result, path)
    node = result.tour.nodes[1]
    other = next(name for name in NAMES if name not in ("Depot", NAMES[node]))
    path.write_text(path.read_text().replace(NAMES[node], other, 1))
    with pytest.raises(BadFile, match=rf":3: node {node} is called '{NAMES[node]}', but the row's name is '{other}'"):
        load_plan(path, instance)
