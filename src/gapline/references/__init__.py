"""Stores of best-known values, frozen into snapshots; what happens when they are beaten."""
