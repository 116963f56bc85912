"""The names of kernels, time weights and removed intervals, so that contracts and scoring refuse the same ones."""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise

from gapline.errors import UsageError
from gapline.text import meant

KERNELS = ("squeezed", "maxform", "berthold", "dimacs:THETA", "raw", "python:MODULE:FUNCTION")
WEIGHTS = ("uniform", "early-log:TMIN", "end-log:TCUT", "steps:0=1,10=0.5", "python:MODULE:FUNCTION")
# Interval methods that contracts of earlier versions may name.
_REMOVED_INTERVALS = ("studentized", "calibrated", "bca")
# Names of user kernels that `gapline.scoring.kernels.register_kernel` has registered in this process.
REGISTERED: set[str] = set()

# Python's own `float` also takes "1_0", " 1 ", "nan" and "infinity", which no name should contain.
_NUMBER = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


# Weights of the user (functions and named steps) in this process.
_own_weights: "dict[str, TimeWeight]" = {}
_PYTHON = re.compile(r"python:([^\W\d]\w*(?:\.[^\W\d]\w*)*):([^\W\d]\w*)")


def removed_interval(name: object) -> str | None:
    """Return a hint for an interval method that gapline no longer has, None for every other name.

    >>> removed_interval("bca"), removed_interval("magic")
    ("'bca' was removed; skew-t is the default", None)
    """
    return f"{name!r} was removed; skew-t is the default" if name in _REMOVED_INTERVALS else None


class KernelCode(IntEnum):
    """The codes of kernels in the compiled pass."""

    SQUEEZED = 0
    MAXFORM = 1
    BERTHOLD = 2
    DIMACS = 3
    RAW = 4
    CUSTOM = 5


class WeightCode(IntEnum):
    """The codes of weights in the compiled pass."""

    UNIFORM = 0
    EARLY_LOG = 1
    END_LOG = 2
    STEPS = 3
    FUNCTION = 4


@dataclass(frozen=True, slots=True, eq=False)
class TimeWeight:
    """A nonnegative weight w(t); a score is the mean gap when the run is interrupted at a time drawn from it.

    `uniform`: every moment alike. `early-log:TMIN`: 1/t on [TMIN, Γ]. `end-log:TCUT`: 1/(Γ - t) on [0, Γ - TCUT].
    `steps:…`: piecewise constant; `values[i]` holds from `edges[i]` to the next edge. A user's `function` is
    integrated numerically (`native/quadrature.py`).
    """

    name: str
    code: WeightCode
    cutoff: float = 0.0
    edges: tuple[float, ...] = (0.0,)
    values: tuple[float, ...] = (1.0,)
    function: Callable[[float], float] | None = None

    def check_horizons(self, horizons: Iterable[float]) -> None:
        """Refuse a weight that is zero over the whole budget of some run."""
        shortest = min(horizons, default=math.inf)
        if self.code in (WeightCode.EARLY_LOG, WeightCode.END_LOG) and shortest <= self.cutoff:
            raise UsageError(f"weight {self.name}: expected a cutoff below every horizon, got one of {shortest:g} s")
        if not any(value > 0 and edge < shortest for edge, value in zip(self.edges, self.values, strict=True)):
            raise UsageError(f"weight {self.name}: expected some weight before {shortest:g} s, got none")


def split_python_name(name: str, /) -> tuple[str, str] | None:
    """Return module and function of a name `python:MODULE:FUNCTION`, None for any other name; nothing is imported.

    >>> split_python_name("python:mine.kernels:log_ratio"), split_python_name("squeezed")
    (('mine.kernels', 'log_ratio'), None)
    """
    found = _PYTHON.fullmatch(name)
    return None if found is None else (found[1], found[2])


def check_statistic_name(name: str, /) -> None:
    """Refuse a name that is not of the form python:MODULE:FUNCTION."""
    if split_python_name(name) is None:
        raise UsageError(f"statistics: expected python:MODULE:FUNCTION, got {name!r}")


def parse_kernel_name(name: str, /) -> tuple[KernelCode, float]:
    """Return the code of a kernel and its parameter (THETA of `dimacs:THETA`, else 0); nothing is imported.

    >>> parse_kernel_name("dimacs:1.1")
    (<KernelCode.DIMACS: 3>, 1.1)
    """
    # First, so that a user's name may contain a colon.
    if name in REGISTERED or split_python_name(name):
        return KernelCode.CUSTOM, 0.0
    head, colon, argument = name.partition(":")
    if head == "dimacs":
        theta = _number(argument)
        if not (math.isfinite(theta) and theta > 1):
            raise UsageError(f"kernel {name}: expected a threshold above 1, as in dimacs:1.1, got {argument!r}")
        return KernelCode.DIMACS, theta
    if not colon and name in KERNELS:
        return KernelCode[name.upper()], 0.0
    raise _unknown("kernel", name, KERNELS, also=REGISTERED)


def parse_weight(name: str | TimeWeight, /) -> TimeWeight:
    """Return a weight by its name: `uniform`, `early-log:0.1`, `end-log:0.1`, `steps:0=1,10=0.5`.

    >>> parse_weight("early-log:0.1").cutoff
    0.1
    """
    if isinstance(name, TimeWeight):
        return name
    if name in _own_weights:
        return _own_weights[name]
    if split_python_name(name):
        raise UsageError(
            f"weight {name}: expected its code to be loaded, got a name alone",
            hint="`gapline.open_study(weight=…)` loads it; `gapline.function_weight` takes a function",
        )
    head, _, argument = name.partition(":")
    if name == "uniform":
        return TimeWeight(name, WeightCode.UNIFORM)
    if head in ("early-log", "end-log"):
        cutoff = _number(argument)
        if not (math.isfinite(cutoff) and cutoff > 0):
            raise UsageError(f"weight {name}: expected its cutoff in seconds, as in {head}:0.1, got {argument!r}")
        return TimeWeight(name, WeightCode.EARLY_LOG if head == "early-log" else WeightCode.END_LOG, cutoff)
    if head == "steps":
        pairs = [part.partition("=") for part in argument.split(",")]
        return step_weight(name, [_number(edge) for edge, _, _ in pairs], [_number(value) for *_, value in pairs])
    raise _unknown("weight", name, WEIGHTS)


def keep_weight(weight: TimeWeight) -> TimeWeight:
    """Register a user's weight under its name for `parse_weight`; names of built-in weights are refused."""
    if weight.name.partition(":")[0] in ("", "uniform", "early-log", "end-log", "steps"):
        raise UsageError(f"weight {weight.name!r}: expected a name that is not taken, got one of {', '.join(WEIGHTS)}")
    known = _own_weights.setdefault(weight.name, weight)
    # `contract/user_code.py` compares the digests of functions: the same source may be another object.
    same = (known.edges, known.values, known.function is None) == (weight.edges, weight.values, weight.function is None)
    if not same:
        raise UsageError(
            f"weight {weight.name!r}: expected a name that is not taken, got that of another weight",
            hint="scores of two weights must not stand under one name",
        )
    return known


def step_weight(name: str, edges: list[float], values: list[float]) -> TimeWeight:
    """Return a piecewise constant weight with a name of your choice; `edges` begins at 0.

    >>> step_weight("office hours", [0.0, 10.0], [1.0, 0.5]).name
    'office hours'
    """
    good = len(edges) == len(values) > 0 and edges[0] == 0 and all(a < b for a, b in pairwise(edges))
    if not good or not all(math.isfinite(v) and v >= 0 for v in values) or not all(map(math.isfinite, edges)):
        raise UsageError(
            f"weight {name}: expected increasing edges from 0 and nonnegative values, got {edges} and {values}",
            hint="steps:0=1,10=0.5 weighs the first ten seconds twice as much as the rest",
        )
    return TimeWeight(name, WeightCode.STEPS, edges=tuple(map(float, edges)), values=tuple(map(float, values)))


def _number(text: str) -> float:
    return float(text) if _NUMBER.fullmatch(text) else math.nan


def _unknown(what: str, name: str, valid: Iterable[str], *, also: Iterable[str] = ()) -> UsageError:
    hint = meant(name, [*valid, *sorted(also)])
    return UsageError(f"{what}: expected one of {', '.join(valid)}, got {name!r}", hint=hint)
