"""Draws docs/images/paper_training.png: how greedy routes improve while a network trains by the paper's settings.

python docs/figures/paper_training.py docs/images/paper_training.png
python docs/figures/paper_training.py mine.png out/paper/log.jsonl

Without a log of your own it draws the run of docs/explanation/paper.md. Several logs, of a run that was resumed in
another folder, come in their order.
"""

import json
import sys
from pathlib import Path

from orienteer.lab.bench.paper_figures import PRIZES, SIZES, printed
from orienteer.plot import style
from orienteer.plot.figure import new_figure, save_figure

METHOD = "an-dqn"

picture, *logs = map(Path, sys.argv[1:])
logs = logs or [Path(__file__).with_suffix(".jsonl")]
lines = [json.loads(line) for log in logs for line in log.read_text().splitlines()]
iterations = [line["iteration"] for line in lines]

figure = new_figure(12, 3.8)
for place, prizes in enumerate(PRIZES, start=1):
    axes = figure.add_subplot(1, len(PRIZES), place)
    style.set_axes(axes, f"{prizes} prizes", "iteration", "prize, % of the paper's" if place == 1 else "")
    axes.axhline(100, color=style.INK, linewidth=style.THIN)
    for row, size in enumerate(SIZES):
        theirs = printed(METHOD, prizes, size)
        assert theirs is not None
        shares = [100 * line[f"{prizes}_{size}"] / theirs.prize for line in lines]
        label = f"n = {size}: {lines[-1][f'{prizes}_{size}']:.2f}, the paper's {theirs.prize:.2f}"
        look = {"color": style.SERIES[row], "marker": style.SIGNS[row], "linestyle": style.LINES[row]}
        axes.plot(iterations, shares, label=label, markersize=4, **look)
    axes.set_xlim(0, 1.02 * iterations[-1])
    axes.set_ylim(60, 112)
    axes.legend(loc="lower right", frameon=False, fontsize=style.LABEL, labelcolor=style.INK)
save_figure(figure, picture)
