"""From what the solvers said to what we accept."""
