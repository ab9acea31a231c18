"""Separators: each finds inequalities of one family that a point breaks."""
