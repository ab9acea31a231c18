"""Solve a town's points and print the route."""

from pathlib import Path

import orienteer

result = orienteer.solve(Path(__file__).with_name("city.csv"), stop=orienteer.MaxSeconds(1), seed=1)
for stop in result.stops():
    print(stop.place, stop.name, stop.prize, round(stop.cost))
print(f"prize {result.prize:g}, cost {result.cost:.0f} of {result.limit:g}")
