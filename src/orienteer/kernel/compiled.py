"""The decorator of all compiled loops."""

from collections.abc import Callable
from typing import Any, TypeVar, overload

from numba import njit

from orienteer.kernel.cache import KernelCache

Function = TypeVar("Function", bound=Callable[..., Any])


@overload
def kernel(function: Function) -> Function: ...
@overload
def kernel(*, inline: bool = False, part: bool = False) -> Callable[[Function], Function]: ...
def kernel(
    function: Function | None = None, *, inline: bool = False, part: bool = False
) -> Function | Callable[[Function], Function]:
    """The function as machine code, compiled when it is first called and kept for later processes.

    A kernel lets other threads run while it does, and divides as numpy does: a division by zero is infinite or NaN.

    Parameters
    ----------
    inline
        Whether its code is copied into every kernel that calls it. That takes long to compile: for a line or two.
    part
        Whether only other kernels call it, and Python never does: it takes less long to compile, and is kept with them.
    """

    def compiled(function: Function) -> Function:
        wrappers = {"no_cpython_wrapper": part, "no_cfunc_wrapper": part}
        dispatcher = njit(nogil=True, error_model="numpy", inline="always" if inline else "never", **wrappers)(function)
        if not part:
            dispatcher._cache = KernelCache(function)  # as its `enable_caching` does with numba's own
        return dispatcher

    return compiled if function is None else compiled(function)
