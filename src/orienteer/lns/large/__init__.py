"""The neighbourhood search for large problems, in which cost has a price."""
