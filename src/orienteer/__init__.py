"""Routes that collect the most prize within a cost limit: the general orienteering problem."""

from orienteer.model.errors import BadFile, InfeasibleTour, InvalidInstance, MissingExtra, OrienteerError, Unsupported
from orienteer.model.instance import Instance
from orienteer.model.plan import Plan, check_plan
from orienteer.model.result import Improvement, Result
from orienteer.model.rules import Budget, Route
from orienteer.model.tour import Tour, Visit, check_tour
from orienteer.search.front import solve, solve_batch, solve_stream
from orienteer.search.registry import REGISTRY, Entry
from orienteer.search.stop import AnyOf, MaxSeconds, MaxSteps, Never, NoImprovement, Progress, Stop, TargetPrize
from orienteer.version import __version__ as __version__

__all__ = [
    "REGISTRY",
    "AnyOf",
    "BadFile",
    "Budget",
    "Entry",
    "Improvement",
    "InfeasibleTour",
    "Instance",
    "InvalidInstance",
    "MaxSeconds",
    "MaxSteps",
    "MissingExtra",
    "Never",
    "NoImprovement",
    "OrienteerError",
    "Plan",
    "Progress",
    "Result",
    "Route",
    "Stop",
    "TargetPrize",
    "Tour",
    "Unsupported",
    "Visit",
    "check_plan",
    "check_tour",
    "solve",
    "solve_batch",
    "solve_stream",
]
