"""Read files written by `gapline.record`: each holds many runs, each run a journal whose lines may be interleaved."""

import contextlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from gapline.campaign.assembly import RunTrace
from gapline.campaign.campaign import Campaign
from gapline.contract.tables import RunKey, RunStatus
from gapline.errors import TraceError
from gapline.files.open_file import open_input, reason_of
from gapline.journal.attempts import CellRecord, Superseded
from gapline.journal.campaign import Tally, campaign_of_journals, trace_of
from gapline.journal.line import is_sealed, unseal
from gapline.journal.read import MOST_LINE, Journal, take_line
from gapline.journal.unclosed_recordings import Here, Unclosed, unclosed_state
from gapline.traces.recording import LOOKED_AT, RUN_HEAD, begins_a_run


def is_recorded(path: Path) -> bool:
    """Say whether `record` wrote a file."""
    try:
        with open_input(path) as stream:
            return begins_a_run(stream.read(LOOKED_AT))
    except OSError:
        return False


# For a run that was never closed but is over: its status, and the state of its process (the column `unclosed`).
_COUNTS_AS = {
    Unclosed.KILLED: (RunStatus.KILLED, "gone"),
    Unclosed.OVERDUE: (RunStatus.UNKNOWN, "alive"),
}


def read_recorded(path: Path, *, here: Here | None = None) -> Campaign:
    """Read all runs of a recorded file.

    Of several runs with the same arm, instance and seed, the first complete one counts. If none is complete, the first
    one counts that was never closed and is not in progress; a complete one that is added later supersedes it. Runs in
    progress are listed and counted.

    Parameters
    ----------
    here
        The machine and the moment of reading.
    """
    runs, problems = _read_runs(path, here)
    cells: dict[RunKey, list[_Recorded]] = {}
    for run in runs:
        order = run.journal.order
        if order is None:
            what = run.journal.corruption or path
            problems.append(f"{what}: a run without its first line; nobody can say of what it is")
        else:
            cells.setdefault(RunKey(order.arm, order.instance, order.seed), []).append(run)
    tally = Tally()
    traces = []
    for key, attempts in cells.items():
        over = [one for one in attempts if one.unclosed is not Unclosed.IN_PROGRESS]
        record = CellRecord(path, [one.journal for one in over])
        if record.counting is None:
            record.counting = next((one.journal for one in over if one.unclosed), None)
        if record.counting is None and len(over) < len(attempts):
            tally.running.append(key)
            continue
        tally.take(key, record)
        traces += [_trace(one, attempts=len(attempts)) for one in over if one.journal is record.counting]
    if not cells:
        raise TraceError(f"{path}: expected runs, got none that can be read", hint="\n".join(problems[:3]) or None)
    notes = tally.notes(path)
    if tally.superseded[Superseded.REPEATED]:
        # A user who runs a script again expects the new runs to count.
        notes.append(f"{path}: runs of one arm, instance and seed are there twice; to count new ones, use a new file")
    return campaign_of_journals(traces, tally, source=str(path), problems=problems, notes=notes)


class _Recorded(NamedTuple):
    """A run of a recorded file; `unclosed` is None if the run was closed or is unusable."""

    journal: Journal
    unclosed: Unclosed | None


def _read_runs(path: Path, here: Here | None) -> tuple[list[_Recorded], list[str]]:
    """Read the runs of a file, and return messages on lines that belong to no run."""
    known: set[int] = set()
    while True:
        journals, problems = read_journals(path)
        at = here or Here.now()
        runs = [_Recorded(one, _unclosed(one, at)) for one in journals]
        killed = {place for place, one in enumerate(runs) if one.unclosed is Unclosed.KILLED}
        if killed <= known:
            return runs, problems
        # A process may have closed its run after the file was read and exited before it was looked up: read again.
        known |= killed


def _unclosed(journal: Journal, here: Here) -> Unclosed | None:
    if journal.order is None or journal.ending is not None or journal.corruption is not None:
        return None
    return unclosed_state(journal.order, here)


def _trace(run: _Recorded, *, attempts: int) -> RunTrace:
    """Return the events and the status of a run."""
    order = run.journal.order
    assert order is not None
    largest = order.carried.get("sense") == "max"
    trace = trace_of(run.journal, None, attempts=attempts, asked=False, maximised=largest)
    carried = dict(trace.carried)
    if run.unclosed is not None:
        status, process = _COUNTS_AS[run.unclosed]
        trace.status = status.value
        carried |= {"started": order.started if isinstance(order.started, str) else None, "unclosed": process}
    trace.carried = {name: value for name, value in carried.items() if value is not None}
    return trace


def read_journals(path: Path) -> tuple[list[Journal], list[str]]:
    """Read the lines of a file into the journals that they name, and return messages on lines that belong to none."""
    journals: dict[bytes, Journal] = {}
    counts: Counter[bytes] = Counter()
    problems, place = [], 0
    try:
        with open_input(path) as stream:
            for number, whole in enumerate(iter(lambda: stream.readline(MOST_LINE), b""), start=1):
                begin = _last_head(whole, journals)
                head, line = RUN_HEAD.match(whole, begin), whole[begin:].removesuffix(b"\n")
                # A kill during a write leaves a partial line. The checksums and numbers of the later lines show that
                # nothing else is missing.
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
    """Return where the actual line begins, after a partial line that a killed process left in a shared file."""
    heads = list(RUN_HEAD.finditer(line))
    if len(heads) < 2:
        return heads[0].start() if heads else 0
    # A solution may contain text like a head; then the line verifies from its first head.
    for head in heads:
        known = journals.get(head[1])
        with contextlib.suppress(ValueError):
            unseal(line[head.start() : -1], 0 if known is None else known.checksum)
            return head.start()
    return heads[0].start()
