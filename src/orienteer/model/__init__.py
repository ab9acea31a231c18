"""The words of the problem: instance, route, result, the one check; numpy only."""
