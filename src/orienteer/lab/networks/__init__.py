"""The paper's attention network, its rival decoders, and the solvers built on them."""
