"""Draws docs/images/levels.png: the paths of a cost-level beam search, level by level.

python docs/figures/levels.py docs/images/levels.png
"""

import itertools
import sys

import matplotlib
import numpy as np

from orienteer.beam.score import Children, PrizeScore
from orienteer.beam.solvers import CostLevelSolver
from orienteer.beam.states import States
from orienteer.data.generate import generate

matplotlib.use("Agg")
from matplotlib import pyplot as plt

BEAM, LEVELS = 4, 8
BLUE, ORANGE, GREY = "#2166ac", "#b35806", "#9a9a9a"  # dark and light in grey, too


class Watched(PrizeScore):
    """The prize as score; keeps cost and prize of every path that the search looks at and of its children."""

    def __init__(self) -> None:
        self.kept: list[tuple[float, float]] = []
        self.children_seen: list[tuple[float, float]] = []

    def children(self, states: States) -> Children:
        arrival = states.cost[:, None] + states.leg
        prize = states.prize[:, None] + states.problems.prizes[states.instance]
        fits = states.feasible(arrival)
        self.kept += zip(states.cost.tolist(), states.prize.tolist(), strict=True)
        self.children_seen += zip(arrival[fits].tolist(), prize[fits].tolist(), strict=True)
        return super().children(states)


class WatchedSearch(CostLevelSolver):
    """The search with prizes as score, watched."""

    name = "watched"
    watched = Watched()

    def scorer(self) -> Watched:
        return self.watched


(instance,) = generate(20, prizes="uniform", count=1, seed=3)
tau = instance.limit / LEVELS
search = WatchedSearch(WatchedSearch.config_class(beam=BEAM, tau=tau, recombine=False, spread=0.0))
route = search.solve(instance).tour.nodes
kept, children = np.array(search.watched.kept), np.array(search.watched.children_seen)
legs = [instance.costs[a, b] for a, b in itertools.pairwise(route)]
along = np.column_stack([np.cumsum([0, *legs]), np.cumsum(instance.prizes[list(route)])])
dropped = np.array([child for child in children if not np.isclose(kept, child).all(axis=1).any()])

figure, axes = plt.subplots(figsize=(9, 4.6), layout="constrained")
for level in range(0, LEVELS, 2):
    axes.axvspan(level * tau, (level + 1) * tau, color="#f0f0f0", zorder=0)
axes.axvline(instance.limit, color="black", linewidth=1.5)
axes.plot(*along.T, color=ORANGE, linewidth=2, zorder=3, label="the route that the search returns")
axes.scatter(*dropped.T, s=14, facecolors="white", edgecolors=GREY, linewidths=0.8, label="paths that were dropped")
axes.scatter(*kept.T, s=34, color=BLUE, zorder=4, label=f"paths that were kept, at most {BEAM} a reading of a level")
axes.set(xlabel="cost so far", ylabel="prize so far", xlim=(0, instance.limit * 1.01), ylim=(0, None))
axes.set_xticks([level * tau for level in range(LEVELS + 1)], [f"{level * tau:g}" for level in range(LEVELS + 1)])
for level in range(LEVELS):
    axes.text(
        (level + 0.5) * tau, 1.0, f"level {level + 1}", ha="center", va="bottom", transform=axes.get_xaxis_transform()
    )
axes.text(instance.limit, 0.03, "limit ", ha="right", transform=axes.get_xaxis_transform())
axes.spines[["top", "right"]].set_visible(False)
axes.legend(loc="upper left", frameon=False)
figure.savefig(sys.argv[1], dpi=130, metadata={"Software": None})
