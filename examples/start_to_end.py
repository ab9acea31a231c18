"""A route from one place to another, several ways to end a search, and a listener that watches it."""

from pathlib import Path

from orienteer import AnyOf, MaxSeconds, NoImprovement, Progress, TargetPrize, solve
from orienteer.data.files import read

crossing = read(Path(__file__).with_name("city.csv"), start="Observatory", end="Lighthouse", limit=7000)


class Watcher:
    """Prints a line whenever the prize has risen."""

    def __init__(self) -> None:
        self.prize = -1.0

    def __call__(self, now: Progress) -> None:
        if now.prize > self.prize:
            self.prize = now.prize
            print(f"{now.seconds:7.3f} s  step {now.steps:>8,}  prize {now.prize:g}")


# Whichever comes first: two seconds, 20,000 steps in vain, everything collected.
stop = AnyOf(MaxSeconds(2), NoImprovement(20_000), TargetPrize(crossing.prizes.sum()))
result = solve(crossing, stop=stop, seed=1, on_progress=Watcher())

# More time may start from what is known; the result is never worse.
longer = solve(crossing, stop=MaxSeconds(0.5), seed=2, initial=result.tour.nodes)
assert longer.prize >= result.prize
assert longer.tour.nodes[0] == crossing.start
assert longer.tour.nodes[-1] == crossing.end
print(f"prize {longer.prize:g}, cost {longer.cost:.0f} of {crossing.limit:g}")
