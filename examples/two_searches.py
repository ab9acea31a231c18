"""One town, two searches: `auto`, which ruins and recreates routes, and `cs-l`, which a network guides."""

from pathlib import Path

import orienteer
from orienteer.data.files import read

town = read(Path(__file__).with_name("city.csv"))
results = {solver: orienteer.solve(town, solver, seed=1) for solver in ("auto", "cs-l")}

print("solver  prize  cost  stops  seconds")
for solver, result in results.items():
    print(f"{solver:6}  {result.prize:5g}  {result.cost:4.0f}  {len(result.tour):5}  {result.seconds:7.2f}")

common = set.intersection(*(set(result.tour.nodes) for result in results.values()))
print(f"{len(common)} places are on both routes")
