"""Optional packages, imported when they are used."""

from typing import Any

from orienteer.model.errors import MissingExtra


def scip() -> Any:
    """PySCIPOpt's module, or `MissingExtra` with the pip line that brings it."""
    try:
        import pyscipopt
    except ImportError as error:
        raise MissingExtra("exact", "exact") from error
    return pyscipopt


def highs() -> Any:
    """HiGHS's module, or `MissingExtra` with the pip line that brings it."""
    try:
        import highspy
    except ImportError as error:
        raise MissingExtra("exact", "exact") from error
    return highspy


def gurobi() -> Any:
    """Gurobi's module, or `MissingExtra` with the pip line that brings it."""
    try:
        import gurobipy
    except ImportError as error:
        raise MissingExtra("gurobi", "gurobi") from error
    return gurobipy
