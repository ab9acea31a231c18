"""The large neighbourhood search: ruin, recreate, anneal."""
