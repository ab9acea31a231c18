"""Branch and cut: routes with proof, and a bound for every answer."""
