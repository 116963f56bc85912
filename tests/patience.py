"""How long tests wait for what has to happen: reached only where it never does, however busy the machine is."""

# Seconds. No test asserts that something takes less.
PATIENCE = 900.0
