"""Numbers side by side in one register of the processor, for loops that the compiler does not find a way to vectorise.

A `Lanes` value holds LANES numbers of float32. Arrays of tokens are laid out with tokens side by side, so that a loop
takes LANES tokens at a time and does the same to each. `rows` below are ROWS such values, as sums of a matrix product
are. The functions are all that there is to do with them; they can be called in compiled functions only.
"""

from typing import Any

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

LANES = 16 if llvmlite.binding.get_host_cpu_features().get("avx512f") else 8
"""How many numbers lie side by side: as many as a register has room for, or nearly so."""
WIDEST = 16
"""How many they are at most, on any machine."""

ROWS = 8
"""How many lanes are summed up together: as many as there are registers for, and what is multiplied with them."""

_NUMBERS = ir.VectorType(ir.FloatType(), LANES)
_WHOLES = ir.VectorType(ir.IntType(32), LANES)
_FLAGS = ("fast",)  # no infinities and no order of sums to be kept


class _Lanes(types.Type):  # type: ignore[misc]
    """The type that compiled functions see."""


_LANES = _Lanes("Lanes")
_ROWS = types.UniTuple(_LANES, ROWS)


@register_model(_Lanes)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    """Lanes are one value of the machine."""

    def __init__(self, manager: Any, kind: Any):
        super().__init__(manager, kind, _NUMBERS)


@intrinsic
def load(typing: Any, array: Any, at: Any) -> Any:
    """The numbers of a float32 array from a flat place on."""

    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return _load(builder, _place(context, builder, signature, given))

    return _LANES(array, types.intp), emit


@intrinsic
def store(typing: Any, array: Any, at: Any, lanes: Any) -> Any:
    """Writes lanes into a float32 array from a flat place on."""

    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        _store(builder, given[2], _place(context, builder, signature, given))
        return context.get_dummy_value()

    return types.void(array, types.intp, _LANES), emit


@intrinsic
def spread(typing: Any, number: Any) -> Any:
    """One number in every lane."""
    return _LANES(types.float32), lambda context, builder, signature, given: _spread(builder, given[0])


@intrinsic
def plus(typing: Any, one: Any, other: Any) -> Any:
    """Sums."""
    return _LANES(_LANES, _LANES), lambda context, builder, signature, given: builder.fadd(*given, flags=_FLAGS)


@intrinsic
def minus(typing: Any, one: Any, other: Any) -> Any:
    """Differences."""
    return _LANES(_LANES, _LANES), lambda context, builder, signature, given: builder.fsub(*given, flags=_FLAGS)


@intrinsic
def times(typing: Any, one: Any, other: Any) -> Any:
    """Products."""
    return _LANES(_LANES, _LANES), lambda context, builder, signature, given: builder.fmul(*given, flags=_FLAGS)


@intrinsic
def over(typing: Any, one: Any, other: Any) -> Any:
    """Quotients."""
    return _LANES(_LANES, _LANES), lambda context, builder, signature, given: builder.fdiv(*given, flags=_FLAGS)


@intrinsic
def larger(typing: Any, one: Any, other: Any) -> Any:
    """The larger number of each lane."""
    return _LANES(_LANES, _LANES), lambda context, builder, signature, given: _larger(builder, *given)


@intrinsic
def add_scaled(typing: Any, total: Any, factor: Any, lanes: Any) -> Any:
    """`total` and a number times `lanes`."""

    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        total, factor, lanes = given
        return _call(builder, "fmuladd", _spread(builder, factor), lanes, total)

    return _LANES(_LANES, types.float32, _LANES), emit


@intrinsic
def total(typing: Any, lanes: Any) -> Any:
    """The sum of all lanes, a number."""

    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        kind = ir.FunctionType(ir.FloatType(), [ir.FloatType(), _NUMBERS])
        reduce = cgutils.get_or_insert_function(builder.module, kind, f"llvm.vector.reduce.fadd.v{LANES}f32")
        return builder.call(reduce, (ir.Constant(ir.FloatType(), 0.0), given[0]), fastmath=_FLAGS)

    return types.float32(_LANES), emit


@intrinsic
def root(typing: Any, lanes: Any) -> Any:
    """Square roots."""
    return _LANES(_LANES), lambda context, builder, signature, given: _call(builder, "sqrt", *given)


@intrinsic
def exp(typing: Any, lanes: Any, least: Any) -> Any:
    """Exponentials of numbers from `least` to 0; of `least` where numbers are below. `least` is at least -87.

    With k = round(x / log 2) and r = x - k log 2 an exponential is 2^k exp(r). A polynomial gives the second factor to
    seven digits (coefficients from the Cephes library), and the first is k in the exponent's bits.
    """

    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        x = _larger(builder, given[0], _spread(builder, given[1]))
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
    """ROWS lanes with one number in all of them."""

    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return _joined(builder, [_spread(builder, given[0])] * ROWS)

    return _ROWS(types.float32), emit


@intrinsic
def load_rows(typing: Any, array: Any, at: Any, apart: Any) -> Any:
    """The numbers of a float32 array from ROWS places on, each `apart` from the one before."""

    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        places = _places(context, builder, signature, given)
        return _joined(builder, [_load(builder, place) for place in places])

    return _ROWS(array, types.intp, types.intp), emit


@intrinsic
def store_rows(typing: Any, array: Any, at: Any, apart: Any, rows: Any) -> Any:
    """Writes rows of lanes into a float32 array from ROWS places on, each `apart` from the one before."""

    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        for number, place in enumerate(_places(context, builder, signature, given)):
            _store(builder, builder.extract_value(given[3], number), place)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, _ROWS), emit


@intrinsic
def add_products(typing: Any, rows: Any, array: Any, at: Any, apart: Any, lanes: Any) -> Any:
    """Each of `rows` and `lanes` times a number of its own, which the array holds, `apart` from the one before."""

    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        places = _places(context, builder, signature, given, 1)
        factors = [_spread(builder, builder.load(place)) for place in places]
        totals = [builder.extract_value(given[0], number) for number in range(ROWS)]
        sums = zip(factors, totals, strict=True)
        return _joined(builder, [_call(builder, "fmuladd", factor, given[4], total) for factor, total in sums])

    return _ROWS(_ROWS, array, types.intp, types.intp, _LANES), emit


@intrinsic
def times_rows(typing: Any, rows: Any, lanes: Any) -> Any:
    """Each of `rows` times `lanes`."""

    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        each = [builder.extract_value(given[0], number) for number in range(ROWS)]
        return _joined(builder, [builder.fmul(one, given[1], flags=_FLAGS) for one in each])

    return _ROWS(_ROWS, _LANES), emit


@intrinsic
def larger_rows(typing: Any, rows: Any, lanes: Any) -> Any:
    """The larger number of each of `rows` and `lanes`."""

    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        each = [builder.extract_value(given[0], number) for number in range(ROWS)]
        return _joined(builder, [_larger(builder, one, given[1]) for one in each])

    return _ROWS(_ROWS, _LANES), emit


_LOG_2 = 0.693359375
"""The logarithm of 2 in so few bits that its product with a whole number is exact."""
_POLYNOMIAL = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 0.5, 1.0, 1.0)


def _place(context: Any, builder: Any, signature: Any, given: Any, first: int = 0) -> Any:
    """Where the place of argument `first + 1` is in the array of argument `first`."""
    array = context.make_array(signature.args[first])(context, builder, given[first])
    return builder.gep(array.data, [given[first + 1]])


def _places(context: Any, builder: Any, signature: Any, given: Any, first: int = 0) -> list[Any]:
    """That place and ROWS - 1 more, each as far from the one before as argument `first + 2` says."""
    places = [_place(context, builder, signature, given, first)]
    for _ in range(ROWS - 1):
        places.append(builder.gep(places[-1], [given[first + 2]]))
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


def _call(builder: Any, name: str, *given: Any) -> Any:
    """One of the compiler's own functions of lanes."""
    kind = ir.FunctionType(_NUMBERS, [_NUMBERS] * len(given))
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{LANES}f32"), given)


def _number(value: float) -> Any:
    return ir.Constant(_NUMBERS, [float(np.float32(value))] * LANES)


def _whole(value: int) -> Any:
    return ir.Constant(_WHOLES, [value] * LANES)
