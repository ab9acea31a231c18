"""Solve a town's points and print the route."""

from pathlib import Path

import orienteer
from orienteer.data.files import read

town = read(Path(__file__).with_name("city.csv"))
result = orienteer.solve(town, stop=orienteer.MaxSeconds(1), seed=1)
for node in result.tour.nodes:
    print(town.names[node] if town.names else node)
print(f"prize {result.prize:g}, cost {result.cost:.0f} of {town.limit:g}")
