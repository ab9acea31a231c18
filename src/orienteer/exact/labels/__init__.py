"""Proofs for opening hours and several routes: labels along routes, and columns made of them."""
