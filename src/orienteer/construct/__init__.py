"""Routes built node by node: random, by desirability, by insertion, and all of them."""
