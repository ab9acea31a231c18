"""Many places, no table of costs: a route through the best of 10,000 random points.

python examples/large.py [POINTS [SECONDS]]
"""

import math
import sys

import numpy as np

import orienteer

points, seconds = int(sys.argv[1]) if sys.argv[1:] else 10_000, float(sys.argv[2]) if sys.argv[2:] else 4.0
rng = np.random.default_rng(1)
whole_tour = 0.7124 * math.sqrt(points)  # about the length of the shortest tour through all points of a unit square
instance = orienteer.Instance.from_coords(rng.random((points, 2)), rng.random(points), limit=whole_tour / 4)

result = orienteer.solve(instance, stop=orienteer.MaxSeconds(seconds), seed=1)
for step in result.trace[-5:]:
    print(f"{step.seconds:6.1f} s  prize {step.prize:.1f}")
share = result.prize / instance.prizes.sum()
print(f"{len(result.tour)} stops collect {share:.0%} of all prizes with a quarter of the way")
