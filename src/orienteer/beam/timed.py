"""The cost-level search of a problem with opening hours or required places: levels of the clock, on the host.

Expanding and exchanging know the clock (`backend/host/timed.py`); queues, log and joining are those of plain problems.
"""

import dataclasses
import math

import numpy as np

from orienteer.beam.backend.host.backend import HostBackend
from orienteer.beam.backend.host.timed_problems import TimedProblems
from orienteer.beam.cost_level import CostLevelConfig, cost_level_search
from orienteer.beam.expand import Asked, Expander
from orienteer.beam.found import Found
from orienteer.beam.recombine import BASES
from orienteer.beam.score import PrizeScore
from orienteer.model.instance import Instance
from orienteer.search.run import Run

LEVELS = 320
"""Levels by default: more than in plain problems, since who waits skips levels, and the paths in a level are fewer."""


def timed_search(run: Run, config: CostLevelConfig) -> None:
    """Offers the run better and better routes; where nothing was dropped, tells it that the best is proven."""
    directions = _directions(config)
    problems = TimedProblems.of(run.instance, directions)
    offered, ended = -math.inf, False

    def watch(expander: Expander) -> bool:
        nonlocal offered, ended
        found = Found(expander, directions)
        prize = float(found.prize[0])
        if prize > offered and problems.complete(prize):
            offered = prize
            run.offer_plan([_route(run.instance, found.routes()[0])])
        ended = run.step()
        return ended

    divided = _divided(config, problems, directions)
    expander = cost_level_search(HostBackend(), problems, PrizeScore(), divided, Asked(watch))
    found = Found(expander, directions)
    if config.recombine and config.beam is not None and not ended:
        found = found.recombined(run.report, max(BASES, config.beam))
    best = found.routes()[0]
    if problems.has_required(best):
        run.offer_plan([_route(run.instance, best)])
        others = found.others(0, config.alternatives, best) if config.alternatives > 1 else []
        run.also([_route(run.instance, one) for one in others if problems.has_required(one)])
    if not ended and config.beam is None and config.branch is None:
        _prove(run)


def a_little() -> None:
    """Compiles all loops of the search on a tiny problem."""
    from orienteer.search.stop import Never

    instance = Instance(1.0 - np.eye(4), np.ones(4), 4.0, windows={1: (0.0, 1.0)}, required=[2])
    timed_search(Run(instance, Never()), CostLevelConfig(2))


def _directions(config: CostLevelConfig) -> int:
    """From how many ends to search: from both unless that is switched off, or the beam cannot be divided."""
    return 2 if config.both is not False and config.beam is not None and config.beam > 1 else 1


def _divided(config: CostLevelConfig, problems: TimedProblems, directions: int) -> CostLevelConfig:
    """The settings of a search from one of the ends."""
    beam = None if config.beam is None else -(-config.beam // directions)
    return dataclasses.replace(config, beam=beam, tau=config.tau or float(problems.limit[0]) / LEVELS)


def _route(instance: Instance, nodes: list[int]) -> list[int]:
    """A route in the numbers of the instance."""
    return instance.plan_view.route(np.array(nodes, dtype=np.int64), 0)


def _prove(run: Run) -> None:
    """Notes that the best route is optimal, or that there is none, where the search has dropped no path."""
    if run.plan is None:
        run.infeasible = True
    else:
        run.tighten(run.plan.prize)
