"""The engine that a caller asks for."""

from orienteer.search.cores import cores, set_cores
from orienteer.search.engines.here import Here
from orienteer.search.engines.job import Engine, OnPart
from orienteer.search.solver import AnySolver

ENGINES = ("here", "processes", "ray")
"""In this process, in several processes of this machine, on a Ray cluster."""


def choose_engine(
    name: str | None,
    solver: AnySolver,
    workers: int | None = None,
    address: str | None = None,
    on_part: OnPart = lambda count: None,
) -> Engine:
    """The engine of that name; without a name, Ray where there is an `address`, processes where there are `workers`.

    Solvers that take many instances at a time stay in this process, where `workers` is the number of their threads.
    `on_part` is called with the number of instances done of a task that is done here.
    """
    if name is None:
        several = workers is not None and workers > 1 and not solver.takes_batches()
        name = "ray" if address is not None else "processes" if several else "here"
    if name not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}, got {name!r}")
    if address is not None and name != "ray":
        raise ValueError(f"address goes with the engine ray, got {name!r}")
    if name == "ray":
        from orienteer.search.engines.cluster import Cluster

        return Cluster(solver, address, workers)
    if name == "processes":
        from orienteer.search.engines.processes import Processes

        return Processes(workers or cores())
    if workers is not None:
        set_cores(workers)
    return Here(on_part)
