"""`Verdict` and `Checker`: the judgement of one candidate; the last instance is kept in memory."""

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
        # Test integers first: `math.isfinite` raises OverflowError for one of 400 digits.
        if isinstance(objective, int) and not is_exact(objective):
            got = objective if abs(objective) < 10**40 else "a huge number"
            raise CheckerFailure(f"expected an objective that a double holds (each integer up to 2^53), got {got}")
        if not math.isfinite(objective):
            raise CheckerFailure(f"expected a finite objective from the checker, got {objective!r}")
        return cls(valid=True, objective=float(objective))

    @classmethod
    def reject(cls, reason: str) -> Self:
        """Reject a candidate with a reason in one line.

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
    """Return a short text for any part of a solution, for use in a reason.

    >>> shown_value([1, 2]), shown_value("x"), shown_value(10**5000)
    ('a list of 2', "'x'", 'a huge number')
    """
    if isinstance(value, list | dict):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, int) and abs(value) > 10**12:
        # Python refuses to turn an integer of thousands of digits into text.
        return "a huge number"
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


class CheckerFailure(GaplineError):
    """The checker itself failed: the candidate stays unchecked, neither valid nor invalid."""


class Checker(Protocol):
    """Re-evaluates candidates against the original problem.

    Every solution gets a verdict: a malformed one is rejected with a reason, never with an exception. A failure of the
    checker itself (an instance that cannot be read, a program that crashed) raises `CheckerFailure`. Two checkers that
    may give different objectives must differ in `name` or `version`.
    """

    @property
    def name(self) -> str:
        """The name stored with each verdict."""

    @property
    def version(self) -> str:
        """The version stored with each verdict; verdicts of two versions are never mixed."""

    def check(self, instance: str | Path, solution: object, /) -> Verdict:
        """Return the verdict on a candidate's solution, as decoded from its JSON line."""


class LastInstance(Generic[T]):
    """Read an instance file once, and again only if another one is requested or the file has changed."""

    def __init__(self, read: Callable[[Path], T]) -> None:
        # Time and size of the file are part of the key, so that a changed file is read again.
        self._read = lru_cache(maxsize=1)(lambda file, *_state: read(file))

    def get(self, path: str | Path) -> T:
        """Return the instance; if it cannot be read, the checker fails, not the candidate."""
        # Do not resolve links: companions of a linked instance lie next to the link.
        file = Path(path).absolute()
        try:
            state = file.stat()
            return self._read(file, state.st_mtime_ns, state.st_size)
        except CheckerFailure:
            raise
        except Exception as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise CheckerFailure(f"{path}: expected an instance that can be read, got {reason}") from error
