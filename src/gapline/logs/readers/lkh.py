"""The log of LKH-3: `* trial: Cost = penalty_cost, …, Time = seconds` on a CPU clock that restarts in every run."""

import re
from pathlib import PurePosixPath

from gapline.errors import TraceError
from gapline.logs.events import EventList
from gapline.logs.lines import file_name, parse_number, shown
from gapline.logs.reader import Found, FoundRun, LogFile, Reader

_IMPROVED = re.compile(r"(?:\*\s*|Run )[0-9]+:\s*Cost = (\S+?),(?: .*?,)? ?Time = (\S+) sec\.", re.ASCII)
_IMPROVED_BYTES = re.compile(rb"^\*[ \t]*[0-9]+:[ \t]*Cost = ", re.M)
_RUN = re.compile(r"Run [0-9]{1,9}: Cost = ", re.ASCII)
_RUN_BYTES = re.compile(rb"^Run [0-9]+: Cost = ", re.M)
_PARAMETER = re.compile(r"(PROBLEM_FILE|SEED|SCALE|TIME_LIMIT)\s*=(.*)")
_PROBLEM = re.compile(r'Reading PROBLEM_FILE: "([^"]+)"')
_PREPROCESSING = re.compile(r"Preprocessing time = ([0-9.]+) sec")
# Improvements are short; a longer line is noise that the pattern must not search.
_MOST = 300
PENALISED = "penalty above 0"
CLOCK = "LKH: stamps count CPU seconds from the start of each run, without its preprocessing"
PENALTY_RULE = (
    "LKH: candidates with a penalty above 0 count as invalid; where the penalty is the objective (min-max and "
    "cumulative problems) these logs are not to be scored"
)


def _looks_like(_path: str, head: bytes) -> bool:
    if b"Cost = " in head and (_IMPROVED_BYTES.search(head) or _RUN_BYTES.search(head)):
        return True
    return b"PARAMETER_FILE = " in head and b"PROBLEM_FILE" in head


class _Log:
    """The state of reading a log: the facts of its header, and the current run."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self.start_header()

    def start_header(self) -> None:
        """Reset the header; a second header begins a second log in the same file."""
        self.instance: str | None = None
        self.seed: int | None = None
        self.horizon: float | None = None
        self.preprocessing: float | None = None
        self.closed = 0
        self.start_run()

    def start_run(self) -> None:
        """Begin the next run."""
        self.events = EventList(self.found.problems)
        self.seen = False
        self.last_cost = ""
        self.cut_by_clock = False

    def close_run(self, status: str) -> None:
        """Add the current run to the result."""
        run = FoundRun(
            **self.events.columns(),
            instance=self.instance,
            # LKH increases its seed by one after each run.
            seed=None if self.seed is None else self.seed + self.closed,
            horizon=self.horizon,
            status=status,
            clock="cpu",
            resolution=0.01,
            carried={"preprocessing": self.preprocessing},
        )
        self.found.runs.append(run)
        self.closed += 1
        self.start_run()

    def note_parameter(self, name: str, value: str) -> None:
        """Read a line `NAME = value` of the header."""
        if name == "PROBLEM_FILE":
            if self.seen or self.closed:
                if self.seen:
                    self.close_run("killed")
                self.start_header()
            self.instance = PurePosixPath(file_name(value)).stem
        elif name == "SEED" and re.fullmatch(r"[0-9]{1,18}", value, re.ASCII):
            self.seed = int(value)
        elif name == "SCALE" and value not in ("", "1"):
            self.found.notes.append(f"LKH: SCALE = {value[:20]}: costs are as printed, that many times the distances")
        elif name == "TIME_LIMIT":
            limit = parse_number(value)
            self.horizon = limit if limit is not None and limit > 0 else None

    def note(self, text: str) -> None:
        """Read a line that is not an improvement."""
        if _RUN.match(text):
            self.close_run("time-limit" if self.cut_by_clock else "finished")
        elif "Time limit exceeded" in text:
            self.cut_by_clock = True
        elif match := _PREPROCESSING.match(text):
            self.preprocessing = parse_number(match[1])
        elif match := _PROBLEM.match(text):
            self.instance = PurePosixPath(file_name(match[1])).stem
        elif match := _PARAMETER.match(text):
            self.note_parameter(match[1], match[2].strip())


def _read(log: LogFile) -> Found:
    found = Found()
    state = _Log(found)
    for number, text in log.lines():
        where = f"{log.path}:{number}"
        if match := _IMPROVED.match(text[:_MOST]):
            state.seen = True
            # The end of a run repeats its best, unless merging the tours of earlier runs gave a better one.
            if text[0] == "*" or match[1] != state.last_cost:
                _add(state.events, match[1], match[2], where)
            state.last_cost = match[1]
            if text[0] == "R":
                state.note(text)
        elif text.startswith("* ") and "Cost = " in text:
            state.seen = True
            found.refuse(where, "Cost and Time of an improvement", text)
        else:
            state.note(text)
    if not state.seen and state.instance is None and not found.runs:
        raise TraceError(f"{log.path}: expected lines of LKH, got {shown(log.head[:60])}")
    if state.seen or not state.closed:
        state.close_run("killed")
    found.notes.append(CLOCK)
    if any(PENALISED in (run.reason or ()) for run in found.runs):
        found.notes.append(PENALTY_RULE)
    return found.numbered()


def _add(events: EventList, cost: str, stamp: str, where: str) -> None:
    # `penalty_cost` if the problem has penalties, otherwise the cost alone.
    *penalties, value = cost.split("_")
    penalty = parse_number(penalties[0]) if penalties else 0.0
    if penalty is None:
        events.add(stamp, cost, where=where)
    else:
        valid = penalty <= 0
        events.add(stamp, value, where=where, valid=valid, reason="" if valid else PENALISED)


READER = Reader("lkh", "log of LKH-3, CPU clock", _looks_like, _read)
