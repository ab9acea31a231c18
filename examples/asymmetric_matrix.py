"""Costs as a matrix: minutes on foot in a hilly village, where up takes longer than down and one lane is one-way."""

import numpy as np

from orienteer import Instance, MaxSteps, solve

NO_WAY = np.inf
minutes = np.array(
    [  # inn, chapel, viewpoint, mill, orchard
        [0, 12, 25, 6, 9],
        [7, 0, 10, 14, NO_WAY],
        [13, 5, 0, 20, 11],
        [9, 18, 31, 0, 4],
        [12, 21, 16, 3, 0],
    ]
)
village = Instance(
    costs=minutes,
    prizes=[0, 4, 9, 3, 5],
    limit=50,
    names=["inn", "chapel", "viewpoint", "mill", "orchard"],
)
result = solve(village, stop=MaxSteps(2000), seed=1)
assert village.names is not None
print(" -> ".join(village.names[node] for node in result.tour.nodes))
print(f"prize {result.prize:g} in {result.cost:g} of {village.limit:g} minutes")

# Five nodes can be enumerated, so this is the truth.
best = solve(village, "enumerate")
print(f"proven best: {best.prize:g}")
assert result.prize <= best.prize
