"""What a checker says of one candidate, and what a checker is."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

from gapline.errors import GaplineError
from gapline.model.exact import is_exact


@dataclass(frozen=True, slots=True)
class Verdict:
    """Valid with the recomputed objective, or invalid with the reason, `kind: detail`; tables count the kinds."""

    valid: bool
    objective: float | None = None
    reason: str = ""

    @classmethod
    def accept(cls, objective: float) -> Self:
        """Accept a candidate at the objective that the checker itself computed.

        >>> Verdict.accept(10.0)
        Verdict(valid=True, objective=10.0, reason='')
        """
        # Of integers first: one of 400 digits is not even asked whether it is finite.
        if isinstance(objective, int) and not is_exact(objective):
            got = objective if abs(objective) < 10**40 else "a huge number"
            raise CheckerFailure(f"expected an objective that a double holds (each integer up to 2^53), got {got}")
        if not math.isfinite(objective):
            raise CheckerFailure(f"expected a finite objective from the checker, got {objective!r}")
        return cls(valid=True, objective=float(objective))

    @classmethod
    def reject(cls, reason: str) -> Self:
        """Reject a candidate, saying why in one line.

        >>> Verdict.reject("missing customers: 3")
        Verdict(valid=False, objective=None, reason='missing customers: 3')
        """
        return cls(valid=False, reason=" ".join(reason.split()))

    @property
    def kind(self) -> str:
        """The reason without its detail.

        >>> Verdict.reject("missing customers: 3, 4").kind
        'missing customers'
        """
        return self.reason.partition(":")[0]


def shown_value(value: object) -> str:
    """Return a part of a solution as a reason shows it: short, whatever it is.

    >>> shown_value([1, 2]), shown_value("x"), shown_value(10**5000)
    ('a list of 2', "'x'", 'a huge number')
    """
    if isinstance(value, list | dict):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, int) and abs(value) > 10**12:
        # An integer of thousands of digits cannot even be turned into text.
        return "a huge number"
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


class CheckerFailure(GaplineError):
    """The checker itself failed: the candidate stays unchecked, neither valid nor invalid."""


class Checker(Protocol):
    """Re-evaluates candidates against the original problem.

    Any solution whatever gets a verdict: a malformed one is a rejection with a reason, never an exception. What is
    wrong on the checker's own side (an instance that cannot be read, a program that crashed) raises `CheckerFailure`.
    Two checkers that may give different objectives must differ in `name` or `version`.
    """

    @property
    def name(self) -> str:
        """The name stored with each verdict."""

    @property
    def version(self) -> str:
        """The version stored with each verdict; verdicts of two versions are never mixed."""

    def check(self, instance: str | Path, solution: object, /) -> Verdict:
        """Return the verdict on a candidate's solution, as it came out of its JSON line."""
