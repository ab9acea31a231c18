"""Inequalities over links and nodes, kept without reference to any linear program."""

from dataclasses import dataclass, field

import numpy as np

from orienteer.exact.model import Ints, Mask, Model
from orienteer.kernel import kernel
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


class Sets:
    """The coefficients of many cuts at once.

    The cuts of which node v is `inside` are `of_node[first[v] : first[v + 1]]`, in rising order.
    """

    def __init__(self, size: int, cuts: list[Cut]):
        self.size, self.cuts = size, cuts
        node = np.concatenate([NONE, *(cut.inside for cut in cuts)])
        number = np.repeat(np.arange(len(cuts)), [len(cut.inside) for cut in cuts])
        self.first = np.searchsorted(np.sort(node), np.arange(size + 1))
        self.of_node = number[np.argsort(node, kind="stable")].astype(np.int64)

    def on_links(self, model: Model, links: Ints, turned: Mask) -> tuple[Ints, Ints, Array]:
        """(place in `links`, cut, coefficient) of the coefficients that are not 0.

        A cut that is `turned` has half the degree equations of its inside nodes taken from it, so that links across the
        border have -1/2 instead of 1 for those inside: the same inequality, in far fewer numbers if the set is large.
        """
        place, cut, value = coefficients(self.first, self.of_node, turned, model.tail[links], model.head[links])
        where = np.full(len(model.tail), -1)
        where[links] = np.arange(len(links))
        own, number, extra = self._own_links()
        kept = where[own] >= 0
        return (
            np.append(place, where[own][kept]),
            np.append(cut, number[kept]),
            np.append(value, extra[kept]),
        )

    def charge(self, links: Array, model: Model, prices: Array, floor: float) -> None:
        """Takes from what each of the model's links earns all that the cuts charge, if the link earns above `floor`."""
        own, number, value = self._own_links()
        np.subtract.at(links, own, prices[number] * value)
        take(self.first, self.of_node, prices, model.tail, model.head, links, floor)

    def on_nodes(self, prices: Array) -> Array:
        """(m,) what each node pays if every unit of a cut's left side costs the cut's price."""
        if not self.cuts:
            return np.zeros(self.size)
        nodes = np.concatenate([cut.nodes for cut in self.cuts])
        value = np.concatenate([cut.node_values for cut in self.cuts])
        paid = np.repeat(prices, [len(cut.nodes) for cut in self.cuts]) * value
        return np.bincount(nodes, paid, minlength=self.size).astype(np.float64)

    def _own_links(self) -> tuple[Ints, Ints, Array]:
        """(link, cut, coefficient) of the links that the cuts name one by one."""
        link = np.concatenate([NONE, *(cut.links for cut in self.cuts)])
        number = np.repeat(np.arange(len(self.cuts)), [len(cut.links) for cut in self.cuts])
        return link, number, np.concatenate([NO_VALUES, *(cut.link_values for cut in self.cuts)])


@kernel
def coefficients(first: Ints, of_node: Ints, turned: Mask, tail: Ints, head: Ints) -> tuple[Ints, Ints, Array]:
    """(link, set, coefficient) of the links with both ends in a set or, where it is turned, with one of them."""
    link, which, value = [0 for _ in range(0)], [0 for _ in range(0)], [0.0 for _ in range(0)]
    for e in range(len(tail)):
        a, b = first[tail[e]], first[head[e]]
        last_a, last_b = first[tail[e] + 1], first[head[e] + 1]
        while a < last_a or b < last_b:
            if a < last_a and b < last_b and of_node[a] == of_node[b]:
                s, both = of_node[a], True
                a += 1
                b += 1
            elif b == last_b or (a < last_a and of_node[a] < of_node[b]):
                s, both = of_node[a], False
                a += 1
            else:
                s, both = of_node[b], False
                b += 1
            if both != turned[s]:
                link.append(e)
                which.append(s)
                value.append(1.0 if both else -0.5)
    return np.array(link), np.array(which), np.array(value)


@kernel
def take(first: Ints, of_node: Ints, prices: Array, tail: Ints, head: Ints, earn: Array, floor: float) -> None:
    """Takes from each link's `earn` the prices of all sets with both of its ends, until it falls below `floor`."""
    for e in range(len(tail)):
        earn[e] = charged(first, of_node, prices, tail[e], head[e], earn[e], floor)


@kernel
def charged(first: Ints, of_node: Ints, prices: Array, i: int, j: int, earn: float, floor: float) -> float:
    """`earn` less the prices of all sets with both nodes; of little meaning once below `floor`."""
    a, b = first[i], first[j]
    while earn > floor and a < first[i + 1] and b < first[j + 1]:
        if of_node[a] == of_node[b]:
            earn -= prices[of_node[a]]
            a += 1
            b += 1
        elif of_node[a] < of_node[b]:
            a += 1
        else:
            b += 1
    return earn
