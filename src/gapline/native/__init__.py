"""Compiled passes over arrays, each with a NumPy version."""
