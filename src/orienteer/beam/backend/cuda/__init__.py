"""The steps of a beam search as torch tensors and Triton kernels."""
