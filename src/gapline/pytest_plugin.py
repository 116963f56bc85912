"""The fixture `gapline_gate`: a gate on anytime behaviour as a test of pytest, with the answer of `gapline compare`.

pytest loads this module wherever gapline is installed (entry point `pytest11`), so it imports nothing heavy, and adds
neither options nor output unless the fixture is used.
"""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from gapline.study.comparison import Judged

# The property of a report that contains the gate's lines, also for the terminal of another process (pytest-xdist).
_PROPERTY = "gapline_gate"
_GATES = ("fail_if_worse", "fail_unless_non_inferior", "fail_unless_superior")
_OWN = (*_GATES, "gate_error", "allow_missing")
# Options of `gapline compare` for a single value, where `open_study` takes several.
_SINGULAR = {"snapshot": "snapshots", "kernel": "kernels"}


@pytest.fixture
def gapline_gate(request: pytest.FixtureRequest) -> "Callable[..., Judged]":
    """Fail the test unless a gate of `gapline compare BASELINE NEW` passes.

    `gapline_gate(new="traces/*.jsonl", baseline="baseline.zip", fail_if_worse=0.005)` takes the choices of `gapline
    compare` by name: one of fail_if_worse, fail_unless_non_inferior and fail_unless_superior, gate_error,
    allow_missing, snapshot or references, horizon, kernel, and all others of `gapline.open_study`. A source with
    several arms is `SOURCE:ARM`. Relative paths start at pytest's rootdir. Returns the judged comparison.
    """

    def gate(*, new: str | Path, baseline: str | Path, **choices: Any) -> "Judged":
        return _judge(request, str(new), str(baseline), choices)

    return gate


def _judge(request: pytest.FixtureRequest, new: str, baseline: str, choices: dict[str, Any]) -> "Judged":
    from gapline.errors import GaplineError
    from gapline.report.statements.comparison import judged_lines, outcome
    from gapline.report.tables.contrasts import comparison_table
    from gapline.report.writers.terminal import to_text
    from gapline.study.comparison import judge_pair
    from gapline.terminal import visible

    root, refused = request.config.rootpath, None
    try:
        # Relative sources, references and snapshots are then found and named as by `gapline compare` in that folder.
        with contextlib.chdir(root):
            judged = judge_pair(baseline, new, **_options(choices))
    except (GaplineError, OSError) as error:
        refused = str(error)
    # Outside of the `except` block: otherwise pytest would show both errors, one as raised while handling the other.
    if refused is not None:
        _keep(request, [f"not judged: {visible(refused.split(chr(10))[0])}"])
        said = f"gapline_gate: {refused}\n(relative paths start at pytest's rootdir, {root})"
        pytest.fail(visible(said), pytrace=False)
    lines = [visible(line) for line in judged_lines(judged)]
    _keep(request, [line for line in lines if not line.startswith("note: ")])
    if judged.failed:
        head = visible(outcome(judged))
        table = to_text(comparison_table(judged.comparison))
        pytest.fail("\n".join([head, *(line for line in lines if line != head), "", table]), pytrace=False)
    return judged


def _options(given: dict[str, Any]) -> dict[str, Any]:
    """Return the choices by the names of `judge_pair`; unknown ones are refused."""
    import inspect

    from gapline.errors import UsageError
    from gapline.study import open_study
    from gapline.text import meant

    takes = inspect.signature(open_study).parameters
    known = {*_OWN, *_SINGULAR, *(name for name in takes if name not in ("sources", "title"))}
    if wrong := next((name for name in given if name not in known), None):
        raise UsageError(f"expected an option of `gapline compare`, got {wrong!r}", hint=meant(wrong, known))
    if sum(given.get(name) is not None for name in _GATES) != 1:
        raise UsageError("expected one gate, got none or several", hint=f"give one of {', '.join(_GATES)}")
    chosen = {_SINGULAR.get(name, name): value for name, value in given.items()}
    for name in ("snapshots", "kernels"):
        if isinstance(chosen.get(name), str | Path):
            chosen[name] = (chosen[name],)
    return chosen


def _keep(request: pytest.FixtureRequest, lines: list[str]) -> None:
    request.node.user_properties.append((_PROPERTY, "\n".join(lines)))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the result of every gate, including those that passed."""
    found: dict[str, tuple[str, list[str]]] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            said = [str(text) for name, text in getattr(report, "user_properties", ()) if name == _PROPERTY]
            # A test has several reports: the worst outcome and the last lines count.
            outcome, known = found.get(getattr(report, "nodeid", ""), ("passed", []))
            if said:
                worst = outcome if report.outcome == "passed" else report.outcome
                found[report.nodeid] = worst, max(known, said, key=len)
    if found:
        terminalreporter.section("gapline gates", sep="-")
    for nodeid in sorted(found):
        outcome, said = found[nodeid]
        terminalreporter.write_line(f"{outcome} {nodeid}")
        for line in (line for text in said for line in text.split("\n")):
            terminalreporter.write_line(f"  {line}")
