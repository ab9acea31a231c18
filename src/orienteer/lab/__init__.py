"""The laboratory: the paper's networks, training, experiments. It imports the product, never the other way round."""
