"""What a path leaves behind: among paths of equal prize, better the one whose remaining nodes lie close together."""

from orienteer.beam.problems import Array, Problems
from orienteer.beam.states import States


def outlook(states: States, fits: Array) -> Array:
    """(state, node) cost, roughly, that a child saves later on because the nodes left to it are close to each other.

    Each child leaves all nodes that fit now, except its own. Closeness is exp(-cost / typical cost to the nearest).
    """
    problems = states.problems
    near, typical = problems.closeness
    left = problems.xp.asarray(fits, dtype=problems.xp.float64)
    beside = _rows_times(problems, left, near, states.instance)  # (state, node) closeness to all nodes that are left
    together = (beside * left).sum(1)[:, None] - 2 * beside
    return typical[states.instance][:, None] * together


def _rows_times(problems: Problems, rows: Array, matrices: Array, index: Array) -> Array:
    """(row, node) each row times the matrix at its index, without a copy of the matrix for each row."""
    xp, order = problems.xp, problems.order(index)
    count = xp.bincount(index, minlength=len(matrices))
    begin = xp.cumsum(count, 0) - count
    place = xp.empty_like(order)
    place[order] = problems.arange(len(order)) - begin[index[order]]
    padded = problems.zeros((len(matrices), int(xp.amax(count, 0)), rows.shape[1]))
    padded[index, place] = rows
    return (padded @ matrices)[index, place]
