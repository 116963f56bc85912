"""Trials that break what gapline stores and runs, seeded: short in the tests, long under `make torture`."""
