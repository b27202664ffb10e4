"""Islet, from Python: `islet.algorithm` writes dosing algorithms."""
