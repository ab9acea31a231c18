"""Experiments that can be run again: kept instances, kept results, tables and charts made from them."""
