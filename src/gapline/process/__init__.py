"""A command as a supervised process: its tree, its limits, its output, its machine."""
