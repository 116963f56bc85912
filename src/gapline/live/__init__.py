"""Follow studies while they run, for a server and a terminal."""
