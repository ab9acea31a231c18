"""Partial paths and their problems as the loops of the forward pass read them."""

from typing import NamedTuple

from orienteer.kernel import Bools, Floats, Ints, Singles


class PartialPaths(NamedTuple):
    """A batch of problems, and partial paths in them."""

    costs: Floats  # (problem, node, node)
    relative: Singles  # (problem, node, node) the costs in units of the limit
    to_end: Floats  # (problem, node)
    prizes: Floats  # (problem, node)
    budget: Floats  # (problem,)
    divisor: Floats  # (problem,) the limit, above zero
    end: Ints  # (problem,)
    instance: Ints  # (path,)
    last: Ints  # (path,)
    visited: Bools  # (path, node)
    cost: Floats  # (path,)
    symmetric: Bools  # (problem,) whether every leg costs the same in both directions
