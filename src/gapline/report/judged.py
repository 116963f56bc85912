"""A judged comparison in sentences: on the terminal, in a pull request, as a test case and in the output of pytest."""

from gapline.analysis.gate import POWER, Question
from gapline.analysis.judged import Judged
from gapline.errors import GaplineError
from gapline.model.text import counted
from gapline.report.tables.contrasts import suggestion_line, verdict_line
from gapline.report.writers.junit import Case

_SUITE = "gapline.compare"


def verdict_lines(judged: Judged, /) -> list[str]:
    """Return what a reader asks first: alarms and beaten references, whether the gate failed, which arm is better."""
    gate = judged.gate
    failed = [] if gate is None or gate.because is None else [f"failed: {gate.because}"]
    return [*_first_lines(judged), *failed, verdict_line(judged.comparison)]


def _first_lines(judged: Judged) -> list[str]:
    """Return what comes before every number: alarms, then how many runs beat their references."""
    beaten = judged.comparison.scores.beaten
    return [*(f"ALARM {alarm}" for alarm in judged.comparison.alarms), *([] if beaten is None else [f"{beaten}."])]


def detail_lines(judged: Judged, /) -> list[str]:
    """Return the rest of the sentences: notes, the gate and its rates, what is suggested."""
    first = verdict_lines(judged)
    return [line for line in judged_lines(judged) if line not in first]


def judged_lines(judged: Judged, /) -> list[str]:
    """Return all sentences in the order of a record: alarms, notes, the verdict, the gate and its rates."""
    comparison, gate = judged.comparison, judged.gate
    lines = _first_lines(judged)
    lines += [f"note: {note}" for note in comparison.notes]
    if comparison.absent:
        lines.append(f"note: {len(comparison.absent):,} runs are missing on one side")
    lines.append(verdict_line(comparison))
    if gate is not None:
        lines += [f"gate: {words}" for words in gate.words()]
    if judged.suggested is not None:
        lines += [suggestion_line(judged.suggested), _detectable_line(judged)]
    if gate is not None and gate.because is not None:
        lines.append(f"failed: {gate.because}")
    return lines


def _detectable_line(judged: Judged) -> str:
    level = f"{judged.comparison.level:.0%}"
    if judged.detectable is None:
        return "these runs show no difference, however large: there is no spread to judge by"
    return (
        f"these runs show a true difference of {judged.detectable:.2g} in {POWER:.0%} of comparisons, with the whole "
        f"{level} interval on one side of zero"
    )


def gate_name(judged: Judged, /) -> str | None:
    """Return the gate as it was asked for.

    >>> Question("non-inferior").option
    'fail-unless-non-inferior'
    """
    gate = judged.gate
    return None if gate is None else f"--{Question(gate.question).option} {gate.limit:g}"


def outcome(judged: Judged, /) -> str:
    """Say in a few words what came out: of the gate, else of the comparison."""
    gate, alarms = judged.gate, judged.comparison.alarms
    reasons = [counted(len(alarms), "alarm")] if alarms else []
    reasons += [gate.because] if gate is not None and gate.because is not None else []
    if reasons:
        return f"failed: {'; '.join(reasons)}"
    return judged.comparison.verdict if gate is None else f"passed: {gate_name(judged)}"


def judged_cases(judged: Judged, /) -> list[Case]:
    """Return the test cases: the gate, or the contrast where no gate was asked for, and whether alarms ring."""
    comparison, gate = judged.comparison, judged.gate
    pair = f"{comparison.second} against {comparison.first}"
    lines = "\n".join([*judged_lines(judged), f"{comparison.caption()}."])
    because = gate.because if gate is not None else None
    failure = None if because is None else f"{verdict_line(comparison)}; {because}"
    alarms = "\n".join(str(alarm) for alarm in comparison.alarms)
    name = gate_name(judged)
    return [
        Case(_SUITE, f"{name}: {pair}" if name else pair, failure=failure, output=lines),
        Case(_SUITE, f"alarms: {pair}", failure=alarms or None),
    ]


def refused_cases(first: str, second: str, error: GaplineError) -> list[Case]:
    """Return the one test case of a comparison that could not be made."""
    return [Case(_SUITE, f"{second} against {first}", error=str(error))]
