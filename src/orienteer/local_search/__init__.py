"""Moves that make one route shorter and fuller."""
