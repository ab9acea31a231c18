"""The attention network of the paper, its rival decoders, their weights and the solvers built on them."""
