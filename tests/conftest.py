"""Settings of the whole test run."""

import os

from hypothesis import settings

# pytest runs in one process a core; libraries that start threads of their own would only get in each other's way.
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

# No deadline: the first example may wait for a compiler. Derandomised: what passes here passes everywhere.
settings.register_profile("orienteer", deadline=None, derandomize=True, database=None)
settings.load_profile("orienteer")
