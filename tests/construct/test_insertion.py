"""Routes built node by node: built singly and many at a time, they are equal."""

import numpy as np
from hypothesis import given

from instances import small_instances
from orienteer import Instance, check_tour
from orienteer.construct.insertion import construct
from orienteer.construct.tsili import desirability


@given(small_instances(max_size=7))
def test_one_route_is_as_one_of_many(instance: Instance) -> None:
    def cheapest(leg: np.ndarray, fits: np.ndarray) -> np.ndarray:
        return np.where(fits, leg, np.inf).argmin(axis=1)

    def best(leg: np.ndarray, fits: np.ndarray) -> np.ndarray:
        return desirability(instance.prizes, leg, fits).argmax(axis=1)

    for choose in (cheapest, best):
        alone = construct(instance, 1, choose)
        assert construct(instance, 3, choose) == alone * 3
        for route in alone:
            check_tour(instance, route)
