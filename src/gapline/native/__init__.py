"""Compiled passes over arrays, each with its NumPy reference."""
