"""First values of variables that a kernel hands on to another.

numba compiles a function anew for each plain constant (-1, 0, 1, False) that may reach it; it does not look into these.
"""

import numpy as np

NONE: int = np.int64(-1)  # type: ignore[assignment]
ZERO: int = np.int64(0)  # type: ignore[assignment]
ONE: int = np.int64(1)  # type: ignore[assignment]
NO: bool = np.bool_(False)  # type: ignore[assignment]
YES: bool = np.bool_(True)  # type: ignore[assignment]
