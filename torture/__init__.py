"""Trials of what gapline must survive, in the length that a test has no time for."""
