"""Trials that try to break gapline: short in the tests, long under `make torture`."""
