"""What a plan would be worth with a place that it leaves out: a short search."""

import math
from dataclasses import dataclass
from typing import Any

from orienteer.model.errors import InvalidInstance
from orienteer.model.instance import Instance
from orienteer.model.plan import Plan
from orienteer.search.front import solve
from orienteer.search.stop import MaxSteps, Stop

STEPS = 20_000
"""How long the search goes on unless its caller says otherwise."""


@dataclass(frozen=True)
class Worth:
    """The best plan found with a place required; None where there is none, for the reason `why`."""

    plan: Plan | None
    change: float
    """What this plan collects more than the plan that leaves the place out; minus infinity without a plan."""
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        change = None if math.isinf(self.change) else self.change
        routes = None if self.plan is None else [list(tour.nodes) for tour in self.plan.routes]
        return {"change": change, "routes": routes}


def worth_with(instance: Instance, plan: Plan, node: int | str, stop: Stop | None = None, seed: int = 0) -> Worth:
    """What a plan would be worth with a node, given by number or name, required, as far as a short search finds."""
    number = instance.find("node", node)
    try:
        asked = instance.replace(required=[*instance.required, number])
    except InvalidInstance as error:
        return Worth(None, -math.inf, str(error))
    result = solve(asked, stop=MaxSteps(STEPS) if stop is None else stop, seed=seed)
    if result.plan is None:
        return Worth(None, -math.inf, result.status)
    return Worth(result.plan, result.plan.prize - plan.prize)
