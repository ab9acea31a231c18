"""The fields of a problem that a file holds, before they are checked together."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from orienteer.data.text import FilePath, shown
from orienteer.model.errors import BadFile, InvalidInstance
from orienteer.model.instance import Instance
from orienteer.model.numbers import Array
from orienteer.model.spelling import did_you_mean

Node = int | str
"""A node as people name it: its number, counted from 0, or its name."""


@dataclass
class Fields:
    """The fields of an instance that a reader found in a file; the caller may supply those that are None."""

    costs: Array
    prizes: Array
    limit: float | None = None
    start: Node | None = None
    end: Node | None = None
    coords: Array | None = None
    names: Sequence[str] | None = None

    def build(
        self,
        path: FilePath,
        limit: float | None = None,
        start: Node | None = None,
        end: Node | None = None,
        what: str = "",
    ) -> Instance:
        """The instance, or a `BadFile` that says why the fields make none; `what` begins its message.

        `limit`, `start` and `end`, unless None, override those of the file. Where neither names a start, routes start
        at node 0; where neither names an end, they end where they start.
        """
        limit = self.limit if limit is None else limit
        if limit is None:
            raise BadFile(path, f"{what}the file holds no limit, so one must be given")
        start = self.start if start is None else start
        end = self.end if end is None else end
        first = 0 if start is None else self.number(path, "start", start)
        last = first if end is None else self.number(path, "end", end)
        names = None if self.names is None else tuple(self.names)
        try:
            with np.errstate(over="ignore"):  # sums of huge costs may become infinite, which no limit allows
                return Instance(self.costs, self.prizes, limit, first, last, self.coords, names)
        except InvalidInstance as error:
            raise BadFile(path, f"{what}{error}") from error

    def number(self, path: FilePath, field: str, node: Node) -> int:
        """The number of a node given by number or name, or `BadFile` if no node has the name."""
        if not isinstance(node, str):
            return node
        if re.fullmatch(r"\d{1,9}", node, re.ASCII):
            return int(node)
        if self.names is None or node not in self.names:
            hint = "; this file has no names" if self.names is None else did_you_mean(node, self.names)
            raise BadFile(path, f"{field} must be a node's number or name, got {shown(node)}{hint}")
        return list(self.names).index(node)
