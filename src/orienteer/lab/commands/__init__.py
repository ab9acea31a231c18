"""The laboratory's commands: train, labels, weights, bench."""
