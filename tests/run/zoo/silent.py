"""Says nothing."""
