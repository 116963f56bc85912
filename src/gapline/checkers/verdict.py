"""`Verdict` and `Checker`: what a checker says of one candidate, with the last instance kept in memory."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Generic, Protocol, Self, TypeVar

from gapline.contract.number_limits import is_exact
from gapline.errors import GaplineError

T = TypeVar("T")


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


class LastInstance(Generic[T]):
    """Read an instance file once, again only when another is asked for or the file has changed."""

    def __init__(self, read: Callable[[Path], T]) -> None:
        # Time and size of the file are part of the key, so that a changed file is another instance.
        self._read = lru_cache(maxsize=1)(lambda file, *_state: read(file))

    def get(self, path: str | Path) -> T:
        """Return the instance; one that cannot be read is the checker's failure, not the candidate's."""
        # Not resolved: a linked instance has its companions beside the link.
        file = Path(path).absolute()
        try:
            state = file.stat()
            return self._read(file, state.st_mtime_ns, state.st_size)
        except CheckerFailure:
            raise
        except Exception as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise CheckerFailure(f"{path}: expected an instance that can be read, got {reason}") from error
