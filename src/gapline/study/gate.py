"""Gates: a named question about two arms, the verdict, and how often such a gate errs on runs like these.

| question | the gate fails |
|---|---|
| `worse` | if the second arm is shown to be worse by more than the limit |
| `non-inferior` | unless the second arm is shown to be worse by less than the limit |
| `superior` | unless the second arm is shown to be better by more than the limit |

"Shown" means a one-sided statement at the gate's error. If no run found a solution, every gate fails. Without spread
there is no interval and no error rate: differences that are all 0 pass the first two gates and fail the third; equal
ones that are not 0 fail the first gate beyond the limit, and fail the others, which are undecidable.

The error rate and the power are simulated on the given runs: instances are drawn inside their panels, their differences
from the panel's mean get a random sign and a little noise, and each such campaign is judged like the real one.
"""

from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gapline.errors import GaplineError, UsageError, listing
from gapline.statistics.cells import TIE
from gapline.statistics.estimate import Estimate, Method, of_shares, parse_method
from gapline.statistics.intervals import check_level
from gapline.statistics.student import panel_centred, stratified_moments, student_interval

Floats = NDArray[np.float64]
ERROR = 0.05
NO_SOLUTION = "no run found a solution"
# The power at a suggested limit.
POWER = 0.8
# Simulated campaigns: an error rate of 5 % is accurate to about ±1 %.
CAMPAIGNS = 2000
# For methods that draw: fewer campaigns, with fewer draws each.
_FEWER, _DRAWS = 200, 499


class GateQuestion(StrEnum):
    """The questions of gates."""

    WORSE = "worse"
    NON_INFERIOR = "non-inferior"
    SUPERIOR = "superior"

    @property
    def option(self) -> str:
        """The option of `gapline compare` for this question."""
        return f"fail-if-{self}" if self is GateQuestion.WORSE else f"fail-unless-{self}"


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate and its verdict.

    Attributes
    ----------
    bound
        The one-sided end of the difference that decides: it is above the true difference (below it, for `worse`) in
        all but a share of `error` of all comparisons.
    wrong
        Simulated share of comparisons in which the gate is wrong about an arm exactly at the limit: it fails one that
        is no worse than the limit, or passes one that is not better than it.
    finds, finds_at
        Simulated power at this true difference: for `worse`, an arm worse by twice the limit fails; for the others, an
        arm that does not differ (`non-inferior`) or is better by twice the limit (`superior`) passes. None for a limit
        of 0, where there is no such arm.
    detects
        The true difference that it detects in 80 % of comparisons.
    suggested
        The limit at which the power in `finds` is 80 %.
    basis
        The basis of the verdict if there is no interval; then all numbers above are None.
    """

    question: str
    limit: float
    error: float
    failed: bool
    because: str | None
    bound: float | None
    wrong: float | None
    finds: float | None
    finds_at: float | None
    detects: float | None
    suggested: float | None
    campaigns: int
    basis: str | None = None

    def document(self) -> dict[str, Any]:
        """Return the content for JSON."""
        return asdict(self)

    def words(self) -> list[str]:
        """Return how often the gate errs and what it detects, a sentence each."""
        if self.wrong is None or self.detects is None:
            return [self.basis] if self.basis else []
        size = f"{self.wrong:.1%} of {self.campaigns:,} simulated on these runs"
        at_most = f"in at most {self.error:.0%} ({size})"
        if self.question == GateQuestion.NON_INFERIOR:
            first = f"passes an arm that is worse by {self.limit:g} or more {at_most}"
            found = "" if self.finds is None else f"passes one that does not differ in {self.finds:.0%}, "
            return [first, f"{found}one whose difference is {self.detects:+.2g} in {POWER:.0%}"]
        verb, side = ("fails", "worse") if self.question == GateQuestion.WORSE else ("passes", "better")
        shift = f"{side} by no more than {self.limit:g}" if self.limit else f"no {side}"
        found = "" if self.finds is None else f"by {2 * self.limit:g} in {self.finds:.0%}, "
        rest = f"by {abs(self.detects):.2g} in {POWER:.0%}"
        return [f"{verb} an arm that is {shift} {at_most}", f"{verb} one that is {side} {found}{rest}"]


def judge_gate(
    estimate: Estimate,
    /,
    *,
    question: str | GateQuestion = GateQuestion.WORSE,
    limit: float = 0.0,
    error: float = ERROR,
    method: str | Method,
    absent: tuple[str, ...] = (),
    allow_missing: bool = False,
    empty: bool = False,
    seed: int = 1,
) -> Gate:
    """Judge a difference (second minus first) by a named question, and simulate the error rates of the gate.

    Missing runs fail every gate unless they are allowed, since half of a campaign proves nothing. `empty` says that no
    run found a solution, which fails every gate.
    """
    if question not in list(GateQuestion):
        raise UsageError(f"question of a gate: expected {listing(GateQuestion)}, got {question!r}")
    asked = GateQuestion(question)
    if not (np.isfinite(limit) and limit >= 0):
        raise UsageError(f"limit of a gate: expected a number of 0 or more, got {limit:g}")
    check_level(error)
    if not error < 0.5:
        raise UsageError(f"error of a gate: expected a share below 0.5, got {error:g}")
    blank = partial(_blank, asked, limit, error)
    if empty:
        return blank(NO_SOLUTION)
    # An interval over half of the runs is no evidence, even if it looks fine.
    missing = f"{len(absent):,} runs are missing: {listing(absent, most=5)}" if absent and not allow_missing else None
    # A one-sided statement is one end of the two-sided interval with the same error on either side.
    found = estimate.judge(method=method, level=1 - 2 * error)
    if found.low is None or found.high is None:
        if missing:
            return blank(missing)
        if estimate.tied or estimate.flat:
            return blank(*_without_spread(asked, limit, estimate))
        raise GaplineError(f"gate {asked}: expected an interval, got none: {found.reason}")
    bound = found.low if asked is GateQuestion.WORSE else found.high
    because = missing or _verdict(asked, bound, limit)
    lower, upper = simulate_ends(estimate, method=method, level=1 - 2 * error, seed=seed)
    ends = -lower if asked is GateQuestion.WORSE else upper
    # Every method moves its ends with the difference, so one simulation serves every true difference: an arm at a
    # distance d beyond the limit is detected if the end, for a true value of 0, is closer than d.
    reach = float(np.quantile(ends, POWER))
    at = {GateQuestion.WORSE: 2 * limit, GateQuestion.NON_INFERIOR: 0.0, GateQuestion.SUPERIOR: -2 * limit}[asked]
    sign = -1.0 if asked is GateQuestion.SUPERIOR else 1.0
    edge = sign * limit
    beyond = reach + edge if asked is GateQuestion.WORSE else edge - reach
    return Gate(
        question=asked.value,
        limit=limit,
        error=error,
        failed=because is not None,
        because=because,
        bound=bound,
        wrong=float(np.mean(ends < 0)),
        finds=float(np.mean(ends < abs(at - edge))) if limit > 0 else None,
        finds_at=at if limit > 0 else None,
        detects=beyond,
        suggested=max(reach, 0.0),
        campaigns=len(ends),
    )


def simulate_ends(estimate: Estimate, /, *, method: str | Method, level: float, seed: int = 1) -> tuple[Floats, Floats]:
    """Return the interval's ends in simulated campaigns like the given one, with a true difference of 0."""
    chosen = parse_method(method)
    fast = chosen in (Method.SKEW_T, Method.T)
    number = CAMPAIGNS if fast else _FEWER
    generator = np.random.Generator(np.random.PCG64([seed, 2]))
    pull, strata = np.zeros((len(estimate.strata), number)), estimate.strata
    for stratum in np.unique(strata):
        units = np.flatnonzero(strata == stratum)
        n = len(units)
        picked = generator.integers(0, n, size=(n, number))
        signs = 1.0 - 2.0 * generator.integers(0, 2, size=(n, number))
        # Instances drawn from n have (n - 1)/n of the variance of the panel. Few of them would give a distribution on
        # few points: normal noise fills the gaps, with less noise the more instances there are.
        spread = np.sqrt(np.sum(estimate.pull[units] ** 2) / (n - 1))
        drawn = signs * estimate.pull[units][picked] * np.sqrt(n / (n - 1))
        width = n**-0.2
        noise = width * spread * generator.standard_normal((n, number))
        pull[units] = (drawn + noise) / np.sqrt(1 + width**2)
    if fast:
        moments = stratified_moments(panel_centred(pull, strata), strata)
        return student_interval(pull.sum(axis=0), moments, level=level, guarded=chosen is Method.SKEW_T)
    low, high = np.empty(number), np.empty(number)
    for k in range(number):
        found = of_shares(pull[:, k], estimate.weights, strata, draws=_DRAWS, seed=seed + k)
        judged = found.judge(method=chosen, level=level)
        low[k] = -np.inf if judged.low is None else judged.low
        high[k] = np.inf if judged.high is None else judged.high
    return low, high


def _verdict(question: GateQuestion, bound: float, limit: float) -> str | None:
    if question is GateQuestion.WORSE:
        return f"worse by more than {limit:g}" if bound > limit else None
    if question is GateQuestion.NON_INFERIOR:
        return None if bound < limit else f"not shown to be worse by less than {limit:g}"
    return None if bound < -limit else "not shown to be better" + (f" by more than {limit:g}" if limit else "")


def _without_spread(question: GateQuestion, limit: float, estimate: Estimate) -> tuple[str | None, str]:
    """Judge differences that are all equal, where only their size is known: why the gate fails, and the basis."""
    basis = no_spread_words(estimate)
    if estimate.tied:
        return "not shown to be better: " + basis if question is GateQuestion.SUPERIOR else None, basis
    if question is GateQuestion.WORSE:
        return _verdict(question, estimate.value, limit) if estimate.value > limit + TIE else None, basis
    return f"undecidable: {basis}", basis


def no_spread_words(estimate: Estimate) -> str:
    """Describe a difference without spread."""
    cells = "the only cell" if estimate.instances == 1 else f"all {estimate.instances:,} cells"
    if estimate.tied:
        return f"identical in {cells}; no interval, no error rate"
    return f"a difference of {estimate.value:+.5g} without spread over {cells}; no interval, no error rate"


def _blank(question: GateQuestion, limit: float, error: float, because: str | None, basis: str | None = None) -> Gate:
    numbers = (None,) * 6
    return Gate(question.value, limit, error, because is not None, because, *numbers, campaigns=0, basis=basis)
