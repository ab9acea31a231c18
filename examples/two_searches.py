"""One town, two searches: `auto`, which ruins and recreates routes, and `cs-l`, which a network guides.

python examples/two_searches.py [PICTURE]
"""

import sys
from pathlib import Path

import orienteer
from orienteer.data.files import read
from orienteer.search.warmup import get_ready

SOLVERS = ("auto", "cs-l")

town = read(Path(__file__).with_name("city.csv"))
get_ready(town, reversed(SOLVERS))  # compiles for both side by side, the first time; what takes longest first
results = {solver: orienteer.solve(town, solver, seed=1) for solver in SOLVERS}

best = results["auto"]
print("stop  place                 prize    cost")
for stop in best.stops():
    print(f"{stop.place:4}  {stop.name:20}  {stop.prize:5g}  {stop.cost:6.0f}")

print("\nsolver  prize  cost  stops  seconds")
for solver, result in results.items():
    print(f"{solver:6}  {result.prize:5g}  {result.cost:4.0f}  {len(result.tour):5}  {result.seconds:7.2f}")
common = set.intersection(*(set(result.tour.nodes) for result in results.values()))
print(f"{len(common)} places are on both routes")

if sys.argv[1:]:
    from orienteer.plot import save_picture

    save_picture(town, sys.argv[1], best.tour.nodes)
    print(f"picture: {sys.argv[1]}")
