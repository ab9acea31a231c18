"""Where a beam search runs: the host's cores, or a GPU."""
