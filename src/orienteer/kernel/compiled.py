"""The decorator of all compiled loops."""

from collections.abc import Callable
from typing import Any, TypeVar, overload

from numba import njit

from orienteer.kernel.cache import KernelCache

Function = TypeVar("Function", bound=Callable[..., Any])


@overload
def kernel(function: Function) -> Function: ...
@overload
def kernel(*, inline: bool = False) -> Callable[[Function], Function]: ...
def kernel(function: Function | None = None, *, inline: bool = False) -> Function | Callable[[Function], Function]:
    """The function as machine code, compiled when it is first called and kept for later processes.

    A kernel lets other threads run while it does, and divides as numpy does: a division by zero is infinite or NaN.

    Parameters
    ----------
    inline
        Whether its code is copied into every kernel that calls it. That takes long to compile: for a line or two.
    """

    def compiled(function: Function) -> Function:
        dispatcher = njit(nogil=True, error_model="numpy", inline="always" if inline else "never")(function)
        dispatcher._cache = KernelCache(function)  # as its `enable_caching` does with numba's own
        return dispatcher

    return compiled if function is None else compiled(function)
