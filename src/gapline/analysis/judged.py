"""A comparison and the gate that was asked of it: the one answer of `gapline compare` and of the pytest fixture."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gapline.analysis.comparison import Comparison, compare
from gapline.analysis.gate import ERROR, Gate, Question
from gapline.errors import UsageError


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """What was found: `suggested` is a gate at limit 0, and `detectable` what runs like these show, where asked for."""

    comparison: Comparison
    gate: Gate | None
    suggested: Gate | None = None
    detectable: float | None = None

    @property
    def failed(self) -> bool:
        """Whether the gate fails, or an alarm rings: then no number of it can be trusted."""
        return bool((self.gate is not None and self.gate.failed) or self.comparison.alarms)

    def document(self) -> dict[str, Any]:
        """Return it for JSON."""
        gate = self.gate
        worse = gate is not None and gate.question == Question.WORSE
        return self.comparison.document() | {
            "fail_if_worse": gate.limit if gate is not None and worse else None,
            "failed": gate is not None and gate.failed,
            "failed_because": None if gate is None else gate.because,
            "gate": None if gate is None else gate.document(),
            "suggested": None if self.suggested is None else self.suggested.document(),
            "detectable": self.detectable,
        }


def judge_pair(
    first: str | Path,
    second: str | Path,
    /,
    *,
    fail_if_worse: float | None = None,
    fail_unless_non_inferior: float | None = None,
    fail_unless_superior: float | None = None,
    gate_error: float = ERROR,
    allow_missing: bool = False,
    suggest: bool = False,
    **choices: Any,
) -> Judged:
    """Compare the second arm with the first and judge the gate, of which there is one at most.

    `choices` are as `gapline.open_study` takes them; see `gapline.compare` and `gapline.analysis.gate`.
    """
    limits = {
        Question.WORSE: fail_if_worse,
        Question.NON_INFERIOR: fail_unless_non_inferior,
        Question.SUPERIOR: fail_unless_superior,
    }
    asked = {question: limit for question, limit in limits.items() if limit is not None}
    if len(asked) > 1:
        raise UsageError(f"compare: expected one gate, got {len(asked)}")
    comparison = compare(first, second, **choices)
    rates: dict[str, Any] = {"error": gate_error, "allow_missing": allow_missing}
    gates = [comparison.gate(limit, question=question, **rates) for question, limit in asked.items()]
    hint = comparison.gate(question=next(iter(asked), Question.WORSE), **rates) if suggest else None
    return Judged(comparison, gates[0] if gates else None, hint, comparison.detectable() if suggest else None)
