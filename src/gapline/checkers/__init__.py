"""A candidate solution in, a verdict out: valid with the recomputed objective, or invalid with the reason."""

from gapline.checkers.load import load_checker
from gapline.checkers.verdict import Checker, CheckerFailure, Verdict

__all__ = ["Checker", "CheckerFailure", "Verdict", "load_checker"]
