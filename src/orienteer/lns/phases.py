"""The parts of a search in each of which the temperature falls."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Phase:
    """A part of the search in which the temperature falls."""

    begins: float
    ends: float
    """The share of the allowance at which the phase begins and ends."""
    cooled: float
    """How far the temperature has fallen where the phase begins."""
    afresh: bool
    """Whether the phase begins anew, or else with the best so far."""

    def at(self, share: float) -> float:
        """How far the temperature has fallen at a share of the allowance."""
        return self.cooled + (1 - self.cooled) * min(1.0, (share - self.begins) / (self.ends - self.begins))

    def moved(self, begins: float, ends: float) -> "Phase":
        """The phase of a search that is itself the part of a longer one between these shares of its allowance."""
        span = ends - begins
        return Phase(begins + span * self.begins, begins + span * self.ends, self.cooled, self.afresh)


def starts(count: int, share: float) -> list[Phase]:
    """The phases of `count` searches that begin anew and together have a share of the allowance."""
    each = share / count
    return [Phase(each * i, each * (i + 1), 0.0, True) for i in range(count)]
