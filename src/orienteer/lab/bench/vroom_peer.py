"""VROOM: fast vehicle routing; jobs with priorities, which it serves by the most priority in sum."""

import datetime
from dataclasses import dataclass

import numpy as np

from orienteer.lab.bench.peer import Peer, inner_nodes, whole_costs, whole_prizes
from orienteer.model.instance import Instance


@dataclass(frozen=True)
class VroomConfig:
    """How VROOM is asked; priorities go from 0 to 100 only, so that finer prizes are rounded."""

    limit: int = 1_000_000
    """The travel time allowed, in VROOM's units."""
    exploration: int = 5
    """Its exploration level, 5 being the most thorough; it may end long before its time is up."""


class VroomPeer(Peer[VroomConfig]):
    """VROOM through pyvroom."""

    name = "vroom"
    package = "vroom"
    distribution = "pyvroom"
    config_class = VroomConfig

    def inner_routes(self, instance: Instance, seconds: float, seed: int) -> list[list[int]]:
        import vroom

        nodes = inner_nodes(instance)
        if not nodes:
            return [[]]
        priorities = whole_prizes(instance, 100)
        problem = vroom.Input()
        costs = whole_costs(instance, self.config.limit)
        problem.set_durations_matrix("car", costs.astype(np.uint32))
        problem.add_vehicle(vroom.Vehicle(1, start=instance.start, end=instance.end, max_travel_time=self.config.limit))
        problem.add_job([vroom.Job(node, location=node, priority=int(priorities[node])) for node in nodes])
        found = problem.solve(self.config.exploration, 1, datetime.timedelta(seconds=seconds)).to_dict()
        steps = found["routes"][0]["steps"] if found["routes"] else []
        return [[int(step["id"]) for step in steps if step["type"] == "job"]]
