"""The figures that the paper prints, to stand beside ours.

Z. Liu, J. Xu, J. Su, T. Xiao and Y. Yang, Boosting Graph Search with Attention Network for Solving the General
Orienteering Problem: the table of its section on results, means over 10,000 instances of its own. The
rows of constant prizes and the table on generalization stand in its LaTeX source, but not in print.
"""

from typing import NamedTuple

SOURCE = "Liu, Xu, Su, Xiao and Yang, Boosting Graph Search with Attention Network, results table"

SIZES = (20, 50, 100)
PRIZES = ("constant", "uniform", "distance")


class Printed(NamedTuple):
    """A cell of the paper's table."""

    prize: float
    seconds: float
    """As printed: whole seconds, on hardware that the paper does not name."""


ROWS = {
    "exact": "Gurobi",
    "gurobi": "Gurobi",
    "compass": "Compass",
    "random": "Random",
    "tsili": "Tsili (greedy)",
    "an-dqn": "AN-dqn (greedy)",
    "an-a2c": "AN-a2c (greedy)",
    "an-at": "AN-at (greedy)",
    "an-pn": "AN-pn (greedy)",
    "tsili-beam": "Tsili (beam)",
    "an-dqn-beam": "AN-dqn (beam)",
    "an-a2c-beam": "AN-a2c (beam)",
    "an-at-beam": "AN-at (beam)",
    "an-pn-beam": "AN-pn (beam)",
    "cs-p": "CS-p (20, 0.05)",
    "cs-paper": "CS (20, 0.05)",
    "cs-l": "CS (20, 0.05)",
}
"""The paper's row for each of our methods."""

GENERALIZATION = {20: 30.38, 50: 30.85, 100: 31.16}
"""Mean prize of CS (20, 0.05) on distance prizes, n = 100, by the size that the network was trained with."""


def printed(method: str, prizes: str, nodes: int) -> Printed | None:
    """The paper's cell for one of our methods, None where it has none."""
    return _TABLE.get((prizes, ROWS.get(method, "")), {}).get(nodes)


def _row(*cells: tuple[float, float] | None) -> dict[int, Printed]:
    return {nodes: Printed(*cell) for nodes, cell in zip(SIZES, cells, strict=True) if cell is not None}


_TABLE: dict[tuple[str, str], dict[int, Printed]] = {
    ("constant", "Gurobi"): _row((10.57, 1), None, None),
    ("constant", "Compass"): _row((10.56, 0), (29.58, 2), (59.35, 4)),
    ("constant", "Random"): _row((4.20, 0), (6.54, 0), (8.61, 0)),
    ("constant", "Tsili (greedy)"): _row((8.82, 0), (23.89, 5), (47.65, 5)),
    ("constant", "AN-dqn (greedy)"): _row((9.52, 0), (25.20, 0), (49.74, 1)),
    ("constant", "AN-a2c (greedy)"): _row((9.20, 0), (18.20, 0), (44.60, 1)),
    ("constant", "AN-at (greedy)"): _row((6.87, 0), (11.75, 0), (17.69, 1)),
    ("constant", "AN-pn (greedy)"): _row((7.75, 0), (15.38, 0), (17.55, 1)),
    ("constant", "Tsili (beam)"): _row((10.01, 0), (24.58, 2), (47.38, 9)),
    ("constant", "AN-dqn (beam)"): _row((10.38, 1), (29.04, 10), (56.70, 39)),
    ("constant", "AN-a2c (beam)"): _row((9.76, 1), (27.86, 5), (50.10, 24)),
    ("constant", "AN-at (beam)"): _row((8.28, 1), (17.24, 5), (37.69, 22)),
    ("constant", "AN-pn (beam)"): _row((8.60, 1), (13.69, 4), (21.12, 19)),
    ("constant", "CS-p (20, 0.05)"): _row((10.57, 1), (29.16, 6), (57.11, 44)),
    ("uniform", "Gurobi"): _row((5.85, 1), None, None),
    ("uniform", "Compass"): _row((5.84, 0), (16.46, 2), (33.30, 6)),
    ("uniform", "Random"): _row((2.13, 0), (3.33, 0), (4.37, 0)),
    ("uniform", "Tsili (greedy)"): _row((4.85, 0), (12.46, 0), (25.48, 0)),
    ("uniform", "AN-dqn (greedy)"): _row((5.15, 0), (13.91, 0), (26.51, 1)),
    ("uniform", "AN-a2c (greedy)"): _row((4.97, 0), (14.13, 0), (24.31, 1)),
    ("uniform", "AN-at (greedy)"): _row((3.98, 0), (8.22, 0), (9.75, 1)),
    ("uniform", "AN-pn (greedy)"): _row((4.46, 0), (11.10, 1), (10.06, 2)),
    ("uniform", "Tsili (beam)"): _row((5.54, 0), (13.54, 2), (25.91, 9)),
    ("uniform", "AN-dqn (beam)"): _row((5.74, 1), (15.76, 10), (30.61, 40)),
    ("uniform", "AN-a2c (beam)"): _row((5.57, 1), (15.13, 5), (27.40, 23)),
    ("uniform", "AN-at (beam)"): _row((4.45, 1), (9.45, 4), (10.55, 20)),
    ("uniform", "AN-pn (beam)"): _row((4.84, 1), (13.75, 4), (12.08, 24)),
    ("uniform", "CS (20, 0.05)"): _row((5.82, 1), (16.13, 7), (30.93, 40)),
    ("distance", "Gurobi"): _row((5.39, 4), None, None),
    ("distance", "Compass"): _row((5.37, 0), (16.17, 3), (33.19, 8)),
    ("distance", "Random"): _row((1.89, 0), (2.90, 0), (3.81, 0)),
    ("distance", "Tsili (greedy)"): _row((4.08, 0), (12.46, 0), (25.69, 0)),
    ("distance", "AN-dqn (greedy)"): _row((4.77, 0), (13.70, 0), (26.60, 1)),
    ("distance", "AN-a2c (greedy)"): _row((4.57, 0), (13.70, 0), (22.32, 1)),
    ("distance", "AN-at (greedy)"): _row((3.62, 0), (9.29, 1), (10.52, 2)),
    ("distance", "AN-pn (greedy)"): _row((3.75, 0), (11.37, 1), (10.77, 2)),
    ("distance", "Tsili (beam)"): _row((5.26, 0), (15.50, 2), (30.53, 10)),
    ("distance", "AN-dqn (beam)"): _row((5.27, 1), (15.82, 9), (30.28, 35)),
    ("distance", "AN-a2c (beam)"): _row((5.02, 1), (15.13, 6), (27.83, 24)),
    ("distance", "AN-at (beam)"): _row((4.42, 1), (10.68, 4), (11.10, 21)),
    ("distance", "AN-pn (beam)"): _row((4.24, 1), (12.15, 4), (12.48, 17)),
    ("distance", "CS (20, 0.05)"): _row((5.35, 1), (15.99, 6), (31.16, 42)),
}
