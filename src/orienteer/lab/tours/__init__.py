"""The travelling salesman as a problem of the same kind: every node is worth one, the limit is a quick tour's cost."""
