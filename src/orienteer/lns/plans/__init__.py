"""The neighbourhood search for problems with rules: several routes, windows, required places, groups, budgets."""
