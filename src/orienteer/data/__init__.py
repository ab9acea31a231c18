"""Readers and writers, one a format, and generators of random sets."""
