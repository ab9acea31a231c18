"""OR-Tools routing: one vehicle, a disjunction a node whose penalty is its prize, guided local search."""

from dataclasses import dataclass

from orienteer.lab.bench.peer import Peer, inner_nodes, whole_costs
from orienteer.model.instance import Instance


@dataclass(frozen=True)
class OrToolsConfig:
    """The scales on which costs and prizes become whole numbers."""

    limit: int = 10_000
    """The cost limit, in units of the model; also what an arc costs, so that guided local search has arcs to blame."""
    worth: float = 8.0
    """The mean prize, in legs of a route through half of the nodes: enough to pay for nearly every detour. Penalties
    far above, with which distance would only break ties, collect a fifth less in the same time."""


class OrToolsPeer(Peer[OrToolsConfig]):
    """The routing library of OR-Tools."""

    name = "ortools"
    package = "ortools"
    module = "ortools.constraint_solver.pywrapcp"
    distribution = "ortools"
    config_class = OrToolsConfig

    def inner_routes(self, instance: Instance, seconds: float, seed: int) -> list[list[int]]:
        from ortools.constraint_solver import pywrapcp, routing_enums_pb2

        nodes = inner_nodes(instance)
        if not nodes:
            return [[]]
        order = [instance.start, instance.end, *nodes]
        costs = whole_costs(instance, self.config.limit)[order][:, order]
        prizes = instance.prizes[nodes]
        unit = self.config.worth * 2 * self.config.limit / len(nodes) / prizes.mean()
        manager = pywrapcp.RoutingIndexManager(len(order), 1, [0], [1])
        routing = pywrapcp.RoutingModel(manager)
        transit = routing.RegisterTransitMatrix(costs.tolist())
        routing.SetArcCostEvaluatorOfAllVehicles(transit)
        routing.AddDimension(transit, 0, self.config.limit, True, "cost")
        for place, prize in enumerate(prizes, start=2):
            routing.AddDisjunction([manager.NodeToIndex(place)], max(1, round(unit * prize)))
        search = pywrapcp.DefaultRoutingSearchParameters()
        search.first_solution_strategy = routing_enums_pb2.FirstSolutionStrategy.PARALLEL_CHEAPEST_INSERTION
        search.local_search_metaheuristic = routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
        search.time_limit.FromMilliseconds(max(1, round(1000 * seconds)))
        found = routing.SolveWithParameters(search)
        route: list[int] = []
        if found is not None:
            index = found.Value(routing.NextVar(routing.Start(0)))
            while not routing.IsEnd(index):
                route.append(order[manager.IndexToNode(index)])
                index = found.Value(routing.NextVar(index))
        return [route]
