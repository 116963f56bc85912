"""What `gapline.record` wrote: a file of many runs, each a journal of its own whose lines may lie between others."""

import contextlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from gapline.capture.journals import Tally, campaign_of_journals, trace_of
from gapline.errors import TraceError
from gapline.journal.attempts import CellRecord, Superseded
from gapline.journal.line import is_sealed, unseal
from gapline.journal.read import MOST_LINE, Journal, take_line
from gapline.journal.trace import LOOKED_AT, RUN_HEAD, begins_a_run
from gapline.model.campaign import Campaign
from gapline.model.limits import open_input
from gapline.model.regular import reason_of
from gapline.model.tables import RunKey


def is_recorded(path: Path) -> bool:
    """Say whether a file is one that `record` wrote."""
    try:
        with open_input(path) as stream:
            return begins_a_run(stream.read(LOOKED_AT))
    except OSError:
        return False


def read_recorded(path: Path) -> Campaign:
    """Read every run of a recorded file; of several with one arm, instance and seed the first whole one counts."""
    journals, problems = read_journals(path)
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
            largest = counting.order is not None and counting.order.carried.get("sense") == "max"
            trace = trace_of(counting, None, attempts=len(attempts), asked=False, maximised=largest)
            trace.carried = {name: value for name, value in trace.carried.items() if value is not None}
            traces.append(trace)
    if not cells:
        raise TraceError(f"{path}: expected runs, got none that can be read", hint="\n".join(problems[:3]) or None)
    notes = tally.notes(path)
    if tally.superseded[Superseded.REPEATED]:
        # Whoever runs a script again looks for the new numbers.
        notes.append(f"{path}: runs of one arm, instance and seed are there twice; to count new ones, use a new file")
    return campaign_of_journals(traces, tally, source=str(path), problems=problems, notes=notes)


def read_journals(path: Path) -> tuple[list[Journal], list[str]]:
    """Read the lines of a file into the journals that they name, and say which lines belong to none."""
    journals: dict[bytes, Journal] = {}
    counts: Counter[bytes] = Counter()
    problems, place = [], 0
    try:
        with open_input(path) as stream:
            for number, whole in enumerate(iter(lambda: stream.readline(MOST_LINE), b""), start=1):
                begin = _last_head(whole, journals)
                head, line = RUN_HEAD.match(whole, begin), whole[begin:].removesuffix(b"\n")
                # A kill in the middle of a write leaves a part of a line. That nothing else is missing is what the
                # checksums and numbers of the lines after it tell.
                is_line = head is not None and is_sealed(line) and whole.endswith(b"\n")
                if torn := (whole[:begin] if is_line else whole).strip():
                    problems.append(f"{path}:{number}: expected a whole line of a run, got {torn[:40]!r}")
                if head is not None and is_line:
                    journal = journals.setdefault(head[1], Journal(path))
                    if journal.corruption is None:
                        take_line(journal, line, counts[head[1]], place + begin, at=number)
                    counts[head[1]] += 1
                place += len(whole)
    except OSError as error:
        raise TraceError(f"{path}: expected a recorded trace, got {reason_of(error)}") from error
    return list(journals.values()), problems


def _last_head(line: bytes, journals: Mapping[bytes, Journal]) -> int:
    """Return where the line proper begins: behind what a killed process left when others wrote to the same file."""
    heads = list(RUN_HEAD.finditer(line))
    if len(heads) < 2:
        return heads[0].start() if heads else 0
    # A solution may hold the like of a head; then the line verifies as it is.
    for head in heads:
        known = journals.get(head[1])
        with contextlib.suppress(ValueError):
            unseal(line[head.start() : -1], 0 if known is None else known.checksum)
            return head.start()
    return heads[0].start()
