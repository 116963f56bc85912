"""A stand-in for Hexaly: the same names and callbacks, a random search instead of an optimizer."""
