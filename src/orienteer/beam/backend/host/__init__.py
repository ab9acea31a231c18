"""The steps of a beam search as numpy arrays and compiled loops."""
