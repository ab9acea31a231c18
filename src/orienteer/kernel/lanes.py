"""Numbers side by side in one register of the processor, for loops that the compiler does not vectorise by itself.

A `Lanes` value, called `lanes` below, holds LANES numbers of float32; the functions work on each lane. Arrays of tokens
are laid out with tokens side by side, so that a loop takes LANES tokens at a time. `rows` below are ROWS such values,
as sums of a matrix product are. The functions can be called in compiled functions only.
"""

from typing import Any

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

LANES = 16 if llvmlite.binding.get_host_cpu_features().get("avx512f") else 8
"""How many numbers lie side by side: as many as a register holds with AVX-512, and with AVX elsewhere."""
WIDEST = 16
"""The largest value of LANES on any machine."""

ROWS = 8
"""How many `Lanes` values are summed up together: as many as fit in the registers beside the factors."""

_NUMBERS = ir.VectorType(ir.FloatType(), LANES)
_WHOLES = ir.VectorType(ir.IntType(32), LANES)
_FLAGS = ("fast",)  # the compiler may reorder sums and need not care for infinities


class _Lanes(types.Type):  # type: ignore[misc]
    """The type of `lanes` in compiled functions."""


_LANES = _Lanes("Lanes")
_ROWS = types.UniTuple(_LANES, ROWS)


@register_model(_Lanes)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    """`lanes` are kept in one vector register."""

    def __init__(self, manager: Any, kind: Any):
        super().__init__(manager, kind, _NUMBERS)


@intrinsic
def load(typing: Any, array: Any, at: Any) -> Any:
    """LANES numbers of a float32 array, from the flat index `at` on."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _load(builder, _place(context, builder, signature, arguments))

    return _LANES(array, types.intp), emit


@intrinsic
def store(typing: Any, array: Any, at: Any, lanes: Any) -> Any:
    """Writes lanes into a float32 array, from the flat index `at` on."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _store(builder, arguments[2], _place(context, builder, signature, arguments))
        return context.get_dummy_value()

    return types.void(array, types.intp, _LANES), emit


@intrinsic
def spread(typing: Any, number: Any) -> Any:
    """One number in every lane."""
    return _LANES(types.float32), lambda context, builder, signature, arguments: _spread(builder, arguments[0])


@intrinsic
def plus(typing: Any, one: Any, other: Any) -> Any:
    """Sums."""
    return _LANES(_LANES, _LANES), lambda context, builder, signature, arguments: builder.fadd(*arguments, flags=_FLAGS)


@intrinsic
def minus(typing: Any, one: Any, other: Any) -> Any:
    """Differences."""
    return _LANES(_LANES, _LANES), lambda context, builder, signature, arguments: builder.fsub(*arguments, flags=_FLAGS)


@intrinsic
def times(typing: Any, one: Any, other: Any) -> Any:
    """Products."""
    return _LANES(_LANES, _LANES), lambda context, builder, signature, arguments: builder.fmul(*arguments, flags=_FLAGS)


@intrinsic
def over(typing: Any, one: Any, other: Any) -> Any:
    """Quotients."""
    return _LANES(_LANES, _LANES), lambda context, builder, signature, arguments: builder.fdiv(*arguments, flags=_FLAGS)


@intrinsic
def larger(typing: Any, one: Any, other: Any) -> Any:
    """The larger number of each lane."""
    return _LANES(_LANES, _LANES), lambda context, builder, signature, arguments: _larger(builder, *arguments)


@intrinsic
def add_scaled(typing: Any, total: Any, factor: Any, lanes: Any) -> Any:
    """`total` + `factor` times `lanes`; the factor is a number."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        total, factor, lanes = arguments
        return _call(builder, "fmuladd", _spread(builder, factor), lanes, total)

    return _LANES(_LANES, types.float32, _LANES), emit


@intrinsic
def total(typing: Any, lanes: Any) -> Any:
    """The sum of all lanes, a number."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.FloatType(), [ir.FloatType(), _NUMBERS])
        reduce = cgutils.get_or_insert_function(builder.module, kind, f"llvm.vector.reduce.fadd.v{LANES}f32")
        return builder.call(reduce, (ir.Constant(ir.FloatType(), 0.0), arguments[0]), fastmath=_FLAGS)

    return types.float32(_LANES), emit


@intrinsic
def root(typing: Any, lanes: Any) -> Any:
    """Square roots."""
    return _LANES(_LANES), lambda context, builder, signature, arguments: _call(builder, "sqrt", *arguments)


@intrinsic
def exp(typing: Any, lanes: Any, least: Any) -> Any:
    """Exponentials of numbers up to 0; numbers below `least`, which is at least -87, count as `least`.

    With k = round(x / log 2) and r = x - k log 2 an exponential is 2^k exp(r). A polynomial gives the second factor to
    seven digits (coefficients from the Cephes library), and the first is k in the exponent's bits.
    """

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x = _larger(builder, arguments[0], _spread(builder, arguments[1]))
        k = builder.fptosi(_call(builder, "fmuladd", x, _number(1 / np.log(2.0)), _number(-0.5)), _WHOLES)
        power = builder.sitofp(k, _NUMBERS)
        r = _call(builder, "fmuladd", power, _number(-_LOG_2), x)
        r = _call(builder, "fmuladd", power, _number(_LOG_2 - np.log(2.0)), r)
        result = _number(_POLYNOMIAL[0])
        for coefficient in _POLYNOMIAL[1:]:
            result = _call(builder, "fmuladd", result, r, _number(coefficient))
        bits = builder.shl(builder.add(k, _whole(127)), _whole(23))
        return builder.fmul(result, builder.bitcast(bits, _NUMBERS), flags=_FLAGS)

    return _LANES(_LANES, types.float32), emit


@intrinsic
def spread_rows(typing: Any, number: Any) -> Any:
    """`rows` with one number in every lane."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _joined(builder, [_spread(builder, arguments[0])] * ROWS)

    return _ROWS(types.float32), emit


@intrinsic
def load_rows(typing: Any, array: Any, at: Any, apart: Any) -> Any:
    """LANES numbers of a float32 array from each of ROWS flat indices on: `at`, `at` + `apart` and so forth."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        places = _places(context, builder, signature, arguments)
        return _joined(builder, [_load(builder, place) for place in places])

    return _ROWS(array, types.intp, types.intp), emit


@intrinsic
def store_rows(typing: Any, array: Any, at: Any, apart: Any, rows: Any) -> Any:
    """Writes `rows` into a float32 array from ROWS flat indices on: `at`, `at` + `apart` and so forth."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        for number, place in enumerate(_places(context, builder, signature, arguments)):
            _store(builder, builder.extract_value(arguments[3], number), place)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, _ROWS), emit


@intrinsic
def add_products(typing: Any, rows: Any, array: Any, at: Any, apart: Any, lanes: Any) -> Any:
    """Each of `rows` + its factor times `lanes`; the array holds the factors at `at`, `at` + `apart` and so forth."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        places = _places(context, builder, signature, arguments, 1)
        factors = [_spread(builder, builder.load(place)) for place in places]
        totals = [builder.extract_value(arguments[0], number) for number in range(ROWS)]
        sums = zip(factors, totals, strict=True)
        return _joined(builder, [_call(builder, "fmuladd", factor, arguments[4], total) for factor, total in sums])

    return _ROWS(_ROWS, array, types.intp, types.intp, _LANES), emit


@intrinsic
def times_rows(typing: Any, rows: Any, lanes: Any) -> Any:
    """Each of `rows` times `lanes`."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows = [builder.extract_value(arguments[0], number) for number in range(ROWS)]
        return _joined(builder, [builder.fmul(row, arguments[1], flags=_FLAGS) for row in rows])

    return _ROWS(_ROWS, _LANES), emit


@intrinsic
def larger_rows(typing: Any, rows: Any, lanes: Any) -> Any:
    """In every lane of each of `rows`, the larger number of that row and `lanes`."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows = [builder.extract_value(arguments[0], number) for number in range(ROWS)]
        return _joined(builder, [_larger(builder, row, arguments[1]) for row in rows])

    return _ROWS(_ROWS, _LANES), emit


_LOG_2 = 0.693359375
"""The logarithm of 2, to few bits, so that its product with a small whole number is exact."""
_POLYNOMIAL = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 0.5, 1.0, 1.0)


def _place(context: Any, builder: Any, signature: Any, arguments: Any, first: int = 0) -> Any:
    """The address, in the array that is argument `first`, of the flat index that is argument `first + 1`."""
    array = context.make_array(signature.args[first])(context, builder, arguments[first])
    return builder.gep(array.data, [arguments[first + 1]])


def _places(context: Any, builder: Any, signature: Any, arguments: Any, first: int = 0) -> list[Any]:
    """The address of `_place` and ROWS - 1 more, each argument `first + 2` behind the one before."""
    places = [_place(context, builder, signature, arguments, first)]
    for _ in range(ROWS - 1):
        places.append(builder.gep(places[-1], [arguments[first + 2]]))
    return places


def _load(builder: Any, place: Any) -> Any:
    return builder.load(builder.bitcast(place, _NUMBERS.as_pointer()), align=4)


def _store(builder: Any, lanes: Any, place: Any) -> None:
    builder.store(lanes, builder.bitcast(place, _NUMBERS.as_pointer()), align=4)


def _joined(builder: Any, rows: list[Any]) -> Any:
    value = ir.Constant(ir.ArrayType(_NUMBERS, ROWS), ir.Undefined)
    for number, row in enumerate(rows):
        value = builder.insert_value(value, row, number)
    return value


def _spread(builder: Any, number: Any) -> Any:
    nothing = ir.Constant(_NUMBERS, ir.Undefined)
    first = builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, nothing, _whole(0))


def _larger(builder: Any, one: Any, other: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", one, other), one, other)


def _call(builder: Any, name: str, *arguments: Any) -> Any:
    """Calls LLVM's own function `name` on lanes."""
    kind = ir.FunctionType(_NUMBERS, [_NUMBERS] * len(arguments))
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{LANES}f32"), arguments)


def _number(value: float) -> Any:
    return ir.Constant(_NUMBERS, [float(np.float32(value))] * LANES)


def _whole(value: int) -> Any:
    return ir.Constant(_WHOLES, [value] * LANES)
