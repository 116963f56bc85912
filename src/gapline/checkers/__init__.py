"""Checkers: each candidate solution is valid with the recomputed objective, or invalid with a reason."""

from gapline.checkers.load import load_checker
from gapline.checkers.verdict import Checker, CheckerFailure, Verdict

__all__ = ["Checker", "CheckerFailure", "Verdict", "load_checker"]
