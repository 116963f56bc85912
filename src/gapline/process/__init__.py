"""Run a command as a supervised process: its process tree, limits, output and machine."""
