"""The decorator of all compiled loops.

numba makes machine code of every function that a compiled function calls, each optimised together with the functions
below it, and adds two wrappers for calls from Python and from C. Most of that work is thrown away, since only the
outermost function is ever called from Python. A `Kernel` is therefore compiled in one of two forms: for calls from
Python, optimised once together with all functions below it; for calls from other kernels, only as far as LLVM's
intermediate code.
"""

import functools
import importlib
from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.extending import models, register_model

from orienteer.kernel.cache import KernelCache

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """The function as machine code, compiled when it is first called and kept for later processes.

    A kernel lets other threads run while it runs, and divides as numpy does: a division by zero is infinite or NaN.
    A kernel may be an argument of another kernel, which is then compiled anew for each such argument.
    """
    return Kernel(function)  # type: ignore[return-value]


def lean(function: Function) -> Function:
    """A `kernel` that makes no arrays, and so need not count the references to those that it reads.

    Every array that such a function takes out of a tuple would cost two atomic operations: half of the time of a loop
    over small routes. Kernels that a lean kernel calls must be lean too, or take no arrays out of anything.
    """
    return Kernel(function, counts=False)  # type: ignore[return-value]


def inlined(function: Function) -> Function:
    """A `lean` kernel that other kernels contain and do not call.

    For short functions of hot loops with many arrays among their arguments: a call hands each array over in seven
    numbers, which takes longer than such a function itself.
    """
    return Kernel(function, inline=True, counts=False)  # type: ignore[return-value]


class Kernel:
    """A compiled function; numba finds `_numba_type_` and takes it for one of its own compiled functions."""

    __qualname__: str

    def __init__(self, function: Callable[..., Any], inline: bool = False, counts: bool = True):
        functools.update_wrapper(self, function)
        self.py_func = function
        function.__dict__["compiled_as"] = f"{inline} {counts}"  # for the fingerprint
        own = {"error_model": "numpy", "_nrt": counts}
        self.outer = njit(nogil=True, pipeline_class=_OuterCompiler, **own)(function)
        self.outer._cache = KernelCache(function)  # where numba's `enable_caching` would put its own cache
        bare = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        self.inner = njit(pipeline_class=_InnerCompiler, forceinline=inline, **own, **bare)(function)
        self._numba_type_ = KernelType(self)

    def __call__(self, *arguments: Any) -> Any:
        return self.outer(*arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return find_kernel, (self.__module__, self.__qualname__)


class KernelType(types.Dispatcher):  # type: ignore[misc]
    """The type of an argument that is a kernel; files hold it as the kernel's name."""

    def __init__(self, owner: Kernel):
        super().__init__(owner.inner)
        self.owner = owner
        self.name = f"{owner.__module__}.{owner.__qualname__}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _type_of, (self.owner,)


register_model(KernelType)(models.OpaqueModel)


def find_kernel(module: str, name: str) -> Kernel:
    """The kernel with this qualified name in a module."""
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _type_of(owner: Kernel) -> KernelType:
    return owner._numba_type_


class _OuterCompiler(Compiler):  # type: ignore[misc]
    """numba's compiler, which here also sets the environments of the inner functions, as their libraries do not."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        result = super().compile_extra(func)
        for environment in result._find_referenced_environments():
            result.codegen.set_env(environment.env_name, environment)
        return result


class _InnerCompiler(Compiler):  # type: ignore[misc]
    """Compiles code that only other compiled code calls."""

    def define_pipelines(self) -> Any:
        if self.state.library is None:
            self.state.library = _InnerLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super().define_pipelines()


class _InnerLibrary(JITCodeLibrary):  # type: ignore[misc]
    """A function's intermediate code with that of all functions below it, neither optimised nor made machine code."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Zero, which stands for no code: numba asks for the address of a wrapper, and there is no wrapper."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """Stands for the code generator, which would set a function's environment: without machine code, nothing."""
        return _NoEnvironment


class _NoEnvironment:
    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Does nothing: `_OuterCompiler` sets the environment later."""
