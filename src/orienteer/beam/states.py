"""Partial paths as arrays: each is a smaller problem of the same kind."""

from dataclasses import dataclass

from orienteer.beam.problems import Array, Problems


@dataclass(frozen=True)
class States:
    """Partial paths P of a batch's instances, each the sub-problem <V - P, C, R, T - cost(P), last(P), end>."""

    problems: Problems
    instance: Array  # (state,) int64, row of the problems
    last: Array  # (state,) int64
    visited: Array  # (state, node) bool: the path's nodes; the end counts as visited, since no path goes on from it
    cost: Array  # (state,) float64, legs added in order
    prize: Array  # (state,) float64, of the path's nodes and the end
    score: Array  # (state,) float64, what the search ranked the path by
    memory: Array | None = None  # (state, hidden) what a recurrent score remembers of the path

    @classmethod
    def initial(cls, problems: Problems) -> "States":
        """The path of each instance that has only left its start."""
        rows = problems.arange(problems.batch)
        visited = problems.prizes < 0  # nothing yet
        visited[rows, problems.start] = True
        visited[rows, problems.end] = True
        prize = (problems.prizes * visited).sum(1)
        zero = problems.xp.zeros_like(prize)
        return cls(problems, rows, problems.start, visited, zero, prize, zero)

    def extended(self, row: Array, node: Array) -> "States":
        """(child,) the paths at `row`, each gone on to `node`; their score and memory are still the parents'."""
        problems, instance, visited = self.problems, self.instance[row], self.visited[row]
        visited[problems.arange(len(node)), node] = True
        return States(
            problems,
            instance,
            node,
            visited,
            self.cost[row] + problems.costs[instance, self.last[row], node],
            self.prize[row] + problems.prizes[instance, node],
            self.score[row],
            None if self.memory is None else self.memory[row],
        )

    def __len__(self) -> int:
        return len(self.last)

    @property
    def remaining(self) -> Array:
        """(state,) what is left of the limit."""
        return self.problems.limit[self.instance] - self.cost

    @property
    def leg(self) -> Array:
        """(state, node) cost of going from the path's last node to each node."""
        return self.problems.legs(self.instance, self.last)

    def feasible(self, arrival: Array | None = None) -> Array:
        """(state, node) bool: nodes to go to next from which the end can still be reached within the limit.

        `arrival` is the (state, node) cost of the path on arriving there, for callers that have it at hand.
        """
        problems, instance = self.problems, self.instance
        if arrival is None:
            arrival = self.cost[:, None] + self.leg
        rest, budget = problems.take(problems.to_end, instance), problems.take(problems.budget, instance)
        return (arrival + rest <= budget[:, None]) & ~self.visited
