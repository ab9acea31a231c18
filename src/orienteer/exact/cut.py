"""Inequalities over links and nodes, kept without reference to any linear program."""

from dataclasses import dataclass, field

import numpy as np

from orienteer.exact.model import Ints, Model
from orienteer.model.numbers import Array

NONE: Ints = np.zeros(0, dtype=np.int64)
NO_VALUES: Array = np.zeros(0)


@dataclass(frozen=True, eq=False)
class Cut:
    """sum of x over links with both ends in `inside`, + link_values . x[links], + node_values . y[nodes], <= `most`.

    Node sets are kept as sets, so that the coefficient of a link that is in no linear program yet is known.
    """

    family: str
    most: float
    inside: Ints = field(default_factory=lambda: NONE)
    links: Ints = field(default_factory=lambda: NONE)
    link_values: Array = field(default_factory=lambda: NO_VALUES)
    nodes: Ints = field(default_factory=lambda: NONE)
    node_values: Array = field(default_factory=lambda: NO_VALUES)

    def key(self) -> tuple[object, ...]:
        """What tells one cut from another: the inequality itself, whatever its family is called."""
        return (
            self.most,
            self.inside.tobytes(),
            self.links.tobytes(),
            self.link_values.tobytes(),
            self.nodes.tobytes(),
            self.node_values.tobytes(),
        )

    def on_links(self, model: Model, chosen: Ints) -> Array:
        """The coefficients of the chosen links."""
        values = np.zeros(len(chosen))
        if len(self.inside):
            member = np.zeros(model.size, dtype=bool)
            member[self.inside] = True
            values += member[model.tail[chosen]] & member[model.head[chosen]]
        if len(self.links):
            whole = np.zeros(len(model.tail))
            np.add.at(whole, self.links, self.link_values)
            values += whole[chosen]
        return values

    def on_nodes(self, model: Model) -> Array:
        """(m,) the coefficients of the nodes."""
        values = np.zeros(model.size)
        np.add.at(values, self.nodes, self.node_values)
        return values


def violation(model: Model, cut: Cut, x: Array, y: Array) -> float:
    """By how much the values x of all links and y of all nodes break the cut; negative if they do not."""
    everything = np.arange(len(model.tail))
    return float(cut.on_links(model, everything) @ x + cut.on_nodes(model) @ y - cut.most)


def charge(model: Model, cuts: list[Cut], prices: Array) -> tuple[Array, Array]:
    """(links, nodes): what each link and each node pays if every unit of a cut's left side costs the cut's price."""
    table = np.zeros((model.size, model.size))
    links, nodes = np.zeros(len(model.tail)), np.zeros(model.size)
    for cut, price in zip(cuts, prices, strict=True):
        if price:
            if len(cut.inside):
                table[np.ix_(cut.inside, cut.inside)] += price
            np.add.at(links, cut.links, price * cut.link_values)
            np.add.at(nodes, cut.nodes, price * cut.node_values)
    links += table[model.tail, model.head]
    return links, nodes
