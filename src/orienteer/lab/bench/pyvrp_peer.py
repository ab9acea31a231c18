"""PyVRP: a hybrid search for vehicle routing, here with one vehicle and optional clients that carry prizes."""

from dataclasses import dataclass

import numpy as np

from orienteer.lab.bench.peer import Peer, inner_nodes, whole_costs, whole_prizes
from orienteer.model.instance import Instance


@dataclass(frozen=True)
class PyVrpConfig:
    """The scales on which costs and prizes become whole numbers: PyVRP cuts decimals off without a word."""

    limit: int = 1_000_000
    """The cost limit, in PyVRP's units."""
    prize: int = 100_000_000
    """The largest prize; far above the limit, so that distance only breaks ties."""


class PyVrpPeer(Peer[PyVrpConfig]):
    """PyVRP on the instance as a problem with prizes."""

    name = "pyvrp"
    package = "pyvrp"
    distribution = "pyvrp"
    config_class = PyVrpConfig

    def inner_route(self, instance: Instance, seconds: float, seed: int) -> list[int]:
        from pyvrp import Client, Depot, Location, ProblemData, VehicleType, solve
        from pyvrp.stop import MaxRuntime

        nodes = inner_nodes(instance)
        if not nodes:
            return []
        order = [instance.start, instance.end, *nodes]
        costs = whole_costs(instance, self.config.limit)[np.ix_(order, order)]
        prizes = whole_prizes(instance, self.config.prize)
        data = ProblemData(
            locations=[Location(0, 0) for _ in order],
            clients=[
                Client(place, prize=int(prizes[node]), required=False) for place, node in enumerate(nodes, start=2)
            ],
            depots=[Depot(0), Depot(1)],
            vehicle_types=[VehicleType(1, start_depot=0, end_depot=1, max_distance=self.config.limit)],
            distance_matrices=[costs],
            duration_matrices=[np.zeros_like(costs)],
        )
        best = solve(data, MaxRuntime(seconds), seed=seed, collect_stats=False).best
        if not best.is_feasible() or not best.routes():
            return []
        return [nodes[visit.idx] for visit in best.routes()[0] if visit.is_client()]
