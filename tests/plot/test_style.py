"""The style: what looks different stays different in grey and for colour-blind people."""

import itertools

import numpy as np
import numpy.typing as npt
import pytest
from matplotlib.colors import to_rgb

from orienteer.plot import style

Array = npt.NDArray[np.float64]

SIGHT = {
    "all colours": np.eye(3),
    "no green cones": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "no red cones": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "no blue cones": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}
"""What is seen of red, green and blue light (Machado, Oliveira and Fernandes 2009)."""


def linear(colour: str) -> Array:
    return np.array([part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)])


def lab(light: Array) -> Array:
    """CIELAB, in which equal distances look equally far."""
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(to_xyz @ np.clip(light, 1e-4, 1) / [0.9505, 1, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("sight", SIGHT)
def test_routes_are_told_apart_by_everybody(sight: str) -> None:
    seen = [lab(np.array(SIGHT[sight]) @ linear(colour)) for colour in style.ROUTES]
    assert min(np.linalg.norm(one - other) for one, other in itertools.combinations(seen, 2)) > 15


def test_routes_are_told_apart_in_grey() -> None:
    """The first three, which nearly all plans have at most, by a wide margin; all by line and marker too."""
    grey = [lab(linear(colour))[0] for colour in style.ROUTES]
    assert min(abs(one - other) for one, other in itertools.combinations(grey[:3], 2)) > 10
    assert min(abs(one - other) for one, other in itertools.combinations(grey, 2)) > 4
    assert len(set(style.ROUTES)) == len(set(style.LINES)) == len(set(style.MARKERS)) == len(style.ROUTES)


def test_numbers_can_be_read_on_their_markers() -> None:
    for fill in (*style.ROUTES, style.VISITED):
        apart = abs(lab(linear(fill))[0] - lab(linear(style.readable_on(fill)))[0])
        assert apart > 38


def test_methods_have_a_look_of_their_own() -> None:
    looks = [(style.SERIES[place], style.SIGNS[place % len(style.SIGNS)]) for place in range(len(style.SERIES))]
    assert len(set(style.SERIES)) == len(set(looks)) == len(style.SERIES)
