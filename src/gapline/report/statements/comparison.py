"""A judged comparison in sentences, for the terminal, a pull request, a JUnit test case and pytest."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple
from xml.etree import ElementTree

from gapline.contract.reading import Reading, vouched
from gapline.errors import GaplineError, listing
from gapline.report.numbers import p_value, p_words, signed
from gapline.report.statements.remarks import first_lines
from gapline.report.table import text_table
from gapline.report.tables.contrasts import comparison_table
from gapline.report.writers.markdown import plain, to_markdown
from gapline.study.comparison import Comparison, Judged
from gapline.study.gate import NO_SOLUTION, POWER, Gate, GateQuestion, no_spread_words
from gapline.terminal import visible
from gapline.text import counted, printable


class Case(NamedTuple):
    """A test case: passed, failed with a sentence, or in error if nothing could be judged."""

    group: str
    name: str
    failure: str | None = None
    error: str | None = None
    output: str = ""


def to_junit(suite: str, cases: Sequence[Case]) -> bytes:
    """Return a suite of test cases as XML; characters that are invalid in XML are made visible.

    >>> to_junit("s", [Case("g", "a < b")]).decode().split("\\n")[2].strip()
    '<testsuite name="s" tests="1" failures="0" errors="0" skipped="0">'
    """
    root = ElementTree.Element("testsuites")
    counts = {
        "tests": len(cases),
        "failures": sum(case.failure is not None for case in cases),
        "errors": sum(case.error is not None for case in cases),
        "skipped": 0,
    }
    head = {"name": printable(suite)} | {name: str(number) for name, number in counts.items()}
    group = ElementTree.SubElement(root, "testsuite", head)
    for case in cases:
        place = {"classname": printable(case.group), "name": printable(case.name)}
        element = ElementTree.SubElement(group, "testcase", place)
        for kind, text in (("failure", case.failure), ("error", case.error)):
            if text is not None:
                first = printable(text.split("\n", 1)[0])
                ElementTree.SubElement(element, kind, {"message": first}).text = visible(text)
        if case.output:
            ElementTree.SubElement(element, "system-out").text = visible(case.output)
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


_SUITE = "gapline.compare"


def verdict_line(comparison: Comparison, /) -> str:
    """Return the verdict in one line, in score units: a relative percentage would fail for a mean near zero."""
    flag = " [machines differ]" if comparison.machine_differs else ""
    if comparison.empty:
        return f"{comparison.second}: {comparison.verdict} ({NO_SOLUTION}){flag}"
    if comparison.low is None or comparison.high is None:
        alike = comparison.estimate.tied or comparison.estimate.flat
        reason = no_spread_words(comparison.estimate) if alike else comparison.reason
        p = f", p {p_words(comparison.p)}" if alike and not comparison.estimate.tied else ""
        return f"{comparison.second}: {comparison.verdict} ({reason}{p}) against {comparison.first}{flag}"
    level = f"{comparison.level:.0%}"
    return (
        f"{comparison.second}: {comparison.verdict}: {signed(comparison.difference)} ({level} interval "
        f"{signed(comparison.low)} to {signed(comparison.high)}, p {p_words(comparison.p)}) against "
        f"{comparison.first}{flag}"
    )


def suggestion_line(gate: Gate, /) -> str:
    """Return the limit that a gate on such runs can hold."""
    if gate.suggested is None:
        return "suggestion: none, since nothing can be judged"
    finds = {
        GateQuestion.WORSE: "finds one that is worse by twice that",
        GateQuestion.NON_INFERIOR: "passes one that does not differ",
        GateQuestion.SUPERIOR: "passes one that is better by twice that",
    }
    asked = GateQuestion(gate.question)
    return (
        f"suggestion: --{asked.option} {gate.suggested:.2g} {finds[asked]} in {POWER:.0%}; a smaller limit needs more "
        "instances (`gapline plan`)"
    )


def verdict_lines(judged: Judged, /) -> list[str]:
    """Return the most important lines: alarms and beaten references, a failed gate, and which arm is better."""
    return [*_first(judged), *_failed(judged), verdict_line(judged.comparison)]


def detail_lines(judged: Judged, /) -> list[str]:
    """Return the remaining sentences: notes, the gate and its rates, suggestions."""
    first = verdict_lines(judged)
    return [line for line in judged_lines(judged) if line not in first]


def judged_lines(judged: Judged, /) -> list[str]:
    """Return all sentences in the order of a log: alarms, notes, the verdict, the gate and its rates."""
    comparison, gate, absent = judged.comparison, judged.gate, len(judged.comparison.absent)
    return [
        *_first(judged),
        *(f"note: {note}" for note in comparison.notes),
        *([f"note: {absent:,} runs are missing on one side"] if absent else []),
        verdict_line(comparison),
        *(f"gate: {words}" for words in (gate.words() if gate is not None else ())),
        *([] if judged.suggested is None else [suggestion_line(judged.suggested), _detectable_line(judged)]),
        *_failed(judged),
    ]


def _first(judged: Judged) -> list[str]:
    return first_lines(judged.comparison.alarms, judged.comparison.scores)


def _failed(judged: Judged) -> list[str]:
    return [f"failed: {because}"] if (because := _because(judged)) is not None else []


def _because(judged: Judged) -> str | None:
    return None if judged.gate is None else judged.gate.because


def _detectable_line(judged: Judged) -> str:
    if judged.detectable is None:
        return "these runs show no difference, however large: there is no spread to judge by"
    return (
        f"these runs show a true difference of {judged.detectable:.2g} in {POWER:.0%} of comparisons, with the whole "
        f"{judged.comparison.level:.0%} interval on one side of zero"
    )


def gate_name(judged: Judged, /) -> str | None:
    """Return the gate as it was asked for.

    >>> GateQuestion("non-inferior").option
    'fail-unless-non-inferior'
    """
    gate = judged.gate
    return None if gate is None else f"--{GateQuestion(gate.question).option} {gate.limit:g}"


def outcome(judged: Judged, /) -> str:
    """Return the outcome in a few words: that of the gate, or else that of the comparison."""
    alarms = judged.comparison.alarms
    if reasons := [
        reason for reason in (counted(len(alarms), "alarm") if alarms else None, _because(judged)) if reason
    ]:
        return f"failed: {'; '.join(reasons)}"
    return judged.comparison.verdict if judged.gate is None else f"passed: {gate_name(judged)}"


def judged_cases(judged: Judged, /) -> list[Case]:
    """Return the test cases: the gate, or the contrast without a gate, and whether alarms ring."""
    comparison, because, name = judged.comparison, _because(judged), gate_name(judged)
    pair = f"{comparison.second} against {comparison.first}"
    lines = "\n".join([*judged_lines(judged), f"{comparison.caption()}."])
    failure = None if because is None else f"{verdict_line(comparison)}; {because}"
    alarms = "\n".join(str(alarm) for alarm in comparison.alarms)
    return [
        Case(_SUITE, f"{name}: {pair}" if name else pair, failure=failure, output=lines),
        Case(_SUITE, f"alarms: {pair}", failure=alarms or None),
    ]


def refused_cases(first: str, second: str, error: GaplineError) -> list[Case]:
    """Return the only test case of a comparison that could not be made."""
    return [Case(_SUITE, f"{second} against {first}", error=str(error))]


# The most missing runs to list; their count is always printed.
_SHOWN = 20


def to_pull_request(judged: Judged, /) -> str:
    """Return the outcome, alarms, the table of panels, the interval, the gate, the choices and the missing runs."""
    comparison = judged.comparison
    panels = replace(comparison_table(comparison), notes=())
    facts = [*_interval(judged), *_gate(judged), *_reading(comparison.reading)]
    table = text_table("choices", "Under these choices", ("choice", "value"), facts, text=2, notes=())
    alarms = [f"- {plain(str(alarm))}" for alarm in comparison.alarms]
    parts = [
        f"### {plain(_capital(outcome(judged)))}\n",
        *(["\n".join([f"**{counted(len(alarms), 'alarm')}**", "", *alarms]) + "\n"] if alarms else []),
        *([f"{plain(beaten)}.\n"] if (beaten := comparison.scores.beaten) is not None else []),
        f"**{plain(verdict_line(comparison))}**\n",
        to_markdown(panels),
        to_markdown(table),
    ]
    absent = [f"- {plain(one)}" for one in comparison.absent[:_SHOWN]]
    if len(comparison.absent) > _SHOWN:
        absent.append(f"- and {len(comparison.absent) - _SHOWN:,} more")
    lists = (
        (f"{len(comparison.absent):,} runs are missing on one side", absent),
        ("Notes", [f"- {plain(note)}" for note in comparison.notes]),
    )
    parts += ["\n".join([f"**{head}**", "", *lines]) + "\n" for head, lines in lists if lines]
    return "\n".join(parts)


def refused_pull_request(first: str, second: str, error: GaplineError) -> str:
    """Return the message for a comparison that could not be made."""
    lines = [f"### {plain(second)} against {plain(first)}: not judged", "", *map(plain, str(error).split("\n"))]
    return "  \n".join(lines) + "\n"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _interval(judged: Judged) -> list[tuple[str, str]]:
    comparison = judged.comparison
    interval = f"none: {comparison.reason}"
    if comparison.low is not None:
        ends = f"{signed(comparison.low)} to {signed(comparison.high)}"
        interval = f"{ends} ({comparison.level:.0%}, by {comparison.how})"
    return [
        ("difference", f"{signed(comparison.difference)}, second minus first; smaller scores are better"),
        ("interval", interval),
        *([("p", p_value(comparison.p))] if comparison.p is not None else []),
    ]


def _gate(judged: Judged) -> list[tuple[str, str]]:
    name = gate_name(judged)
    if judged.gate is None or name is None:
        return [("gate", "none")]
    words = "; ".join(judged.gate.words()) or "not judged"
    return [("gate", f"{name}, error {judged.gate.error:g}"), ("its rates", words)]


def _reading(reading: Reading) -> list[tuple[str, str]]:
    """Return the choices behind the numbers one by one, with the full digest of the reference."""
    rows = [
        ("reference", f"{reading.reference.name} ({reading.reference.policy})"),
        ("digest", reading.reference.digest),
        ("kernel", reading.kernels[0]),
        ("weight", reading.weight),
        ("weighting", f"{reading.weighting}-equal"),
        ("horizon", f"{listing((f'{h:g}' for h in reading.horizons), most=4)} {reading.time_unit}"),
        ("candidates", vouched(reading.validation, reading.checker)),
        ("coverage", str(reading.coverage)),
    ]
    if reading.transform != "none":
        rows.append(("transform", reading.transform))
    if reading.time_scale is not None:
        rows.append(("time scale", str(reading.time_scale)))
    return [*rows, *((f"code of {name}", digest) for name, digest in reading.code)]
