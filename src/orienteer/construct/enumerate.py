"""Full enumeration of tiny problems, against which other solvers are tested."""

from orienteer.model.instance import Instance
from orienteer.search.run import Run
from orienteer.search.solver import NoSettings, Solver

MOST_NODES = 12
"""The most nodes, besides start and end, that do not take too long."""

Ends = dict[tuple[frozenset[int], int], tuple[float, tuple[int, ...]]]
"""By set of visited nodes and last node: the cost and the nodes of the cheapest path over the set to that node."""


class Enumerate(Solver[NoSettings]):
    """The best route of a tiny problem, with proof.

    For every set of nodes and every last node in it, only the cheapest path over the set to that node is kept (Held and
    Karp's argument: a route that begins with a dearer one may begin with the cheapest instead). A step is one path.
    """

    name = "enumerate"

    def search(self, run: Run, seed: int) -> None:
        instance = run.instance
        inner = _inner_nodes(instance)
        paths: Ends = {(frozenset(), instance.start): (0.0, (instance.start,))}
        while paths:
            longer: Ends = {}
            for (visited, last), (cost, path) in paths.items():
                if last == instance.end or cost + instance.costs[last, instance.end] <= instance.budget:
                    run.offer([*path, instance.end])
                if run.step():
                    return
                for node in inner:
                    arrival = cost + float(instance.costs[last, node])
                    if node in visited or arrival > instance.budget:
                        continue
                    key = visited | {node}, node
                    if key not in longer or arrival < longer[key][0]:
                        longer[key] = arrival, (*path, node)
            paths = longer
        run.tighten(run.best.prize)


def _inner_nodes(instance: Instance) -> list[int]:
    inner = [v for v in range(instance.size) if instance.reachable[v] and v not in (instance.start, instance.end)]
    if len(inner) > MOST_NODES:
        raise ValueError(
            f"enumerate is for at most {MOST_NODES} reachable nodes besides start and end, got {len(inner)}; "
            f"use another solver"
        )
    return inner
