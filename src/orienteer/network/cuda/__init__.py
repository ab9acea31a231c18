"""The network's layers as GPU kernels."""
