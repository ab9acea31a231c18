"""Classical solvers made of kernels."""
