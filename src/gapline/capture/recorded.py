"""What `gapline.record` wrote: a file of many runs, each a journal of its own whose lines may lie between others."""

import re
from pathlib import Path

from gapline.capture.journals import Tally, campaign_of_journals, trace_of
from gapline.errors import TraceError
from gapline.journal.attempts import CellRecord
from gapline.journal.read import Journal, take_line
from gapline.model.campaign import Campaign
from gapline.model.limits import open_input
from gapline.model.regular import reason_of
from gapline.model.tables import RunKey

_RUN = re.compile(rb'\{"run":"([0-9a-f]{16})","seq":(\d+),')
# Lines among which the first of a run has to be: one before it may have been cut by a kill.
_LOOKED_AT = 3
_MOST_LINE = 256 << 20


def is_recorded(path: Path) -> bool:
    """Say whether a file is one that `record` wrote."""
    try:
        with open_input(path) as stream:
            return any(_RUN.match(stream.readline(1 << 16)) for _ in range(_LOOKED_AT))
    except OSError:
        return False


def read_recorded(path: Path) -> Campaign:
    """Read every run of a recorded file; of several with one arm, instance and seed the first whole one counts."""
    journals, problems = _read(path)
    cells: dict[RunKey, list[Journal]] = {}
    for journal in journals:
        order = journal.order
        if order is None:
            problems.append(f"{journal.corruption or path}: a run without its first line; nobody can say of what it is")
        else:
            cells.setdefault(RunKey(order.arm, order.instance, order.seed), []).append(journal)
    tally = Tally()
    traces = []
    for key, attempts in cells.items():
        record = CellRecord(path, attempts)
        tally.take(key, record)
        if (counting := record.counting) is not None:
            trace = trace_of(counting, None, attempts=len(attempts), asked=False)
            trace.carried = {name: value for name, value in trace.carried.items() if value is not None}
            traces.append(trace)
    if not cells:
        raise TraceError(f"{path}: expected runs, got none that can be read", hint="\n".join(problems[:3]) or None)
    return campaign_of_journals(traces, tally, source=str(path), problems=problems, notes=tally.notes(path))


def _read(path: Path) -> tuple[list[Journal], list[str]]:
    """Read the lines of a file into the journals that they name, and say which lines belong to none."""
    journals: dict[bytes, Journal] = {}
    counts: dict[bytes, int] = {}
    problems, place = [], 0
    try:
        with open_input(path) as stream:
            for number, line in enumerate(iter(lambda: stream.readline(_MOST_LINE), b""), start=1):
                head = _RUN.match(line)
                if head is None or not line.endswith(b"\n"):
                    # A kill in the middle of a write leaves one; the run that it belongs to has no end either.
                    problems.append(f"{path}:{number}: expected a whole line of a run, got {line[:40]!r}")
                else:
                    run = head[1]
                    journal = journals.setdefault(run, Journal(path))
                    if journal.corruption is None:
                        take_line(journal, line[:-1], counts.get(run, 0), place, at=number)
                    counts[run] = counts.get(run, 0) + 1
                place += len(line)
    except OSError as error:
        raise TraceError(f"{path}: expected a recorded trace, got {reason_of(error)}") from error
    return list(journals.values()), problems
