"""Numbers side by side against numpy."""

import numpy as np

from orienteer.kernel import Singles, kernel
from orienteer.kernel.lanes import (
    LANES,
    ROWS,
    WIDEST,
    add_products,
    add_scaled,
    exp,
    larger,
    larger_rows,
    load,
    load_rows,
    minus,
    over,
    plus,
    root,
    spread,
    spread_rows,
    store,
    store_rows,
    times,
    times_rows,
    total,
)

LEAST = np.float32(-87.0)


@kernel
def _each(one: Singles, other: Singles, out: Singles) -> float:
    """Writes rows of LANES: every function of one or two lanes in turn; returns the sum of the first."""
    x, y = load(one, 3), load(other, 0)  # from any place
    store(out, 0, plus(x, y))
    store(out, LANES, minus(x, y))
    store(out, 2 * LANES, times(x, y))
    store(out, 3 * LANES, over(x, y))
    store(out, 4 * LANES, larger(x, y))
    store(out, 5 * LANES, root(y))
    store(out, 6 * LANES, add_scaled(x, np.float32(2.5), y))
    store(out, 7 * LANES, spread(np.float32(7.0)))
    return total(x)


@kernel
def _product(matrix: Singles, table: Singles, size: int, width: int, out: Singles) -> None:
    """Writes twice the part above zero of a product of (ROWS, size) and (size, width) numbers, added to `out`."""
    for left in range(0, width, LANES):
        sums = load_rows(out, left, width)
        for entry in range(size):
            sums = add_products(sums, matrix, entry, size, load(table, entry * width + left))
        sums = times_rows(larger_rows(sums, spread(np.float32(0.0))), spread(np.float32(2.0)))
        store_rows(out, left, width, sums)


@kernel
def _fill(out: Singles) -> None:
    store_rows(out, 0, LANES, spread_rows(np.float32(3.0)))


@kernel
def _exp(numbers: Singles, least: np.float32, out: Singles) -> None:
    for at in range(0, len(numbers), LANES):
        store(out, at, exp(load(numbers, at), least))


def test_arithmetic_goes_lane_by_lane() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.random(LANES + 3, dtype=np.float32) - 0.5, rng.random(LANES, dtype=np.float32) + 0.1
    out = np.empty((8, LANES), dtype=np.float32)
    found = _each(one, other, out.ravel())
    x, y = one[3:], other
    wanted = (x + y, x - y, x * y, x / y, np.maximum(x, y), np.sqrt(y), x + 2.5 * y, np.full(LANES, 7.0))
    np.testing.assert_allclose(out, wanted, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(found, x.sum(), rtol=1e-5, atol=1e-6)


def test_rows_are_those_of_a_matrix_product() -> None:
    rng = np.random.default_rng(1)
    size, width = 5, 3 * LANES
    shapes = ((ROWS, size), (size, width), (ROWS, width))
    matrix, table, out = (rng.random(shape, dtype=np.float32) - 0.5 for shape in shapes)
    wanted = 2 * np.maximum(out + matrix @ table, 0.0)
    _product(matrix.ravel(), table.ravel(), size, width, out.ravel())
    np.testing.assert_allclose(out, wanted, rtol=1e-5, atol=1e-6)
    _fill(out.ravel())
    assert (out.ravel()[: ROWS * LANES] == 3.0).all()


def test_exponentials_have_seven_digits_and_an_end() -> None:
    numbers = -np.linspace(0.0, 87.0, 100 * WIDEST, dtype=np.float32)
    out = np.empty_like(numbers)
    _exp(numbers, LEAST, out)
    np.testing.assert_allclose(out, np.exp(numbers.astype(np.float64)), rtol=4e-7)
    assert out[0] == 1.0
    _exp(numbers * np.float32(1e9), np.float32(-20.0), out)
    np.testing.assert_allclose(out[1:], np.exp(-20.0), rtol=4e-7)
