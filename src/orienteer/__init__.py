"""Routes that collect the most prize within a cost limit: the general orienteering problem."""

from orienteer.core.errors import BadFile, InfeasibleTour, InvalidInstance, MissingExtra, OrienteerError
from orienteer.core.instance import Instance
from orienteer.core.result import Improvement, Result
from orienteer.core.stop import AnyOf, MaxSeconds, MaxSteps, Never, NoImprovement, Progress, Stop, TargetPrize
from orienteer.core.tour import Tour, check_tour
from orienteer.solve import REGISTRY, Entry, solve, solve_batch

__version__ = "0.1.0"

__all__ = [
    "REGISTRY",
    "AnyOf",
    "BadFile",
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
    "Progress",
    "Result",
    "Stop",
    "TargetPrize",
    "Tour",
    "check_tour",
    "solve",
    "solve_batch",
]
