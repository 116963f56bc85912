"""Suites that the authors of solver adapters and checkers inherit: a few attributes, and pytest does the rest."""

from gapline.testing.adapter import AdapterSuite
from gapline.testing.checker import CheckerSuite

__all__ = ["AdapterSuite", "CheckerSuite"]
