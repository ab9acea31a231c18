"""`solve` rebuilt from its parts, with a search of your own: insertion in random order, again and again.

A solver is a class with a name and a `search`; the run keeps the clock, the best route and the trace, and asks the stop
criterion. Everything it accepts has passed the one judge, `check_tour`.
"""

import itertools
import random
from pathlib import Path

from orienteer import AnyOf, Instance, MaxSteps, check_tour
from orienteer.data.files import read
from orienteer.search.run import Run
from orienteer.search.solver import Solver
from orienteer.search.stop import When


class RandomInsertion(Solver):
    """Each step inserts all nodes in random order at their cheapest place, while they fit."""

    name = "random insertion"

    def search(self, run: Run, seed: int) -> None:
        rng = random.Random(seed)  # a generator of its own: same seed, same result
        while True:
            run.offer(_one_route(run.instance, rng))
            if run.step():  # counts, reports progress, asks the stop criterion
                return


def _one_route(instance: Instance, rng: random.Random) -> list[int]:
    route, cost = instance.cheapest_route(), float(instance.to_end[instance.start])
    absent = [node for node in range(instance.size) if node not in route]
    rng.shuffle(absent)
    costs = instance.costs
    for node in absent:
        detours = [costs[a, node] + costs[node, b] - costs[a, b] for a, b in itertools.pairwise(route)]
        place = min(range(len(detours)), key=detours.__getitem__)
        if cost + detours[place] <= instance.limit:
            route.insert(place + 1, node)
            cost += float(detours[place])
    return route


town = read(Path(__file__).with_name("city.csv"))
stop = AnyOf(MaxSteps(500), When(lambda now: now.prize >= 150))

# What `orienteer.solve` does, by hand ...
run = Run(town, stop)
RandomInsertion().search(run, seed=1)
by_hand = run.result("random insertion", seed=1, settings={})

# ... and by the class.
result = RandomInsertion().solve(town, stop, seed=1)
assert result.tour == by_hand.tour == check_tour(town, result.tour.nodes)
print(f"prize {result.prize:g}, cost {result.cost:.0f} of {town.limit:g}, after {result.steps} steps")
for better in result.trace[-3:]:
    print(f"step {better.steps}: prize {better.prize:g}")
