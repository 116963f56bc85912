"""The log of LKH-3: `* trial: Cost = penalty_cost, …, Time = seconds` on a CPU clock that restarts in every run."""

import re

from gapline.capture.loglines import EventList, log_lines, parse_number, shown
from gapline.capture.reader import Found, FoundRun, LogFile, Reader
from gapline.errors import TraceError

_IMPROVED = re.compile(r"\*\s*[0-9]+:\s*Cost = (\S+?),(?: .*?,)? ?Time = (\S+) sec\.", re.ASCII)
_IMPROVED_BYTES = re.compile(rb"^\*\s*[0-9]+:\s*Cost = ", re.M)
_RUN = re.compile(r"Run ([0-9]{1,9}): Cost = ", re.ASCII)
_RUN_BYTES = re.compile(rb"^Run [0-9]+: Cost = ", re.M)
_PARAMETER = re.compile(r"(PROBLEM_FILE|SEED|RUNS|TIME_LIMIT)\s*=\s*(.+?)\s*$")
_PROBLEM = re.compile(r'Reading PROBLEM_FILE: "([^"]+)"')
_PREPROCESSING = re.compile(r"Preprocessing time = ([0-9.]+) sec")
PENALISED = "penalty above 0"


def _looks_like(_path: str, head: bytes) -> bool:
    if b"Cost = " in head and (_IMPROVED_BYTES.search(head) or _RUN_BYTES.search(head)):
        return True
    return b"PARAMETER_FILE = " in head and b"PROBLEM_FILE" in head


class _Header:
    """What stands before the runs; a second header begins a second log in the same file."""

    def __init__(self) -> None:
        self.instance: str | None = None
        self.seed: int | None = None
        self.horizon: float | None = None
        self.preprocessing: float | None = None
        self.closed = 0


def _read(log: LogFile) -> Found:
    found = Found()
    header, events, seen, cut_by_clock = _Header(), EventList(found.problems), False, False
    for number, text in log_lines(log.data):
        where = f"{log.path}:{number}"
        if match := _IMPROVED.match(text):
            seen = True
            _add(events, match[1], match[2], where)
        elif text.startswith("* ") and "Cost = " in text:
            seen = True
            found.problems.append(f"{where}: expected Cost and Time of an improvement, got {shown(text)}")
        elif match := _RUN.match(text):
            _close(found, header, events, "time-limit" if cut_by_clock else "finished")
            events, seen, cut_by_clock = EventList(found.problems), False, False
        elif "Time limit exceeded" in text:
            cut_by_clock = True
        elif match := _PREPROCESSING.match(text):
            header.preprocessing = parse_number(match[1])
        elif match := _PROBLEM.match(text):
            header.instance = _instance_name(match[1])
        elif match := _PARAMETER.match(text):
            if match[1] == "PROBLEM_FILE" and (seen or header.closed):
                if seen:
                    _close(found, header, events, "killed")
                header, events, seen = _Header(), EventList(found.problems), False
            _note_parameter(header, match[1], match[2])
    if seen or not header.closed:
        if not seen and header.instance is None and not found.runs:
            raise TraceError(f"{log.path}: expected lines of LKH, got {shown(log.data[:60])}")
        _close(found, header, events, "killed")
    if len(found.runs) == 1:
        found.runs[0].where = ""
    if any(PENALISED in (run.reason or ()) for run in found.runs):
        found.notes.append(
            "LKH: candidates with a penalty above 0 count as invalid; where the penalty is the objective "
            "(min-max, cumulative problems) these logs are not to be scored"
        )
    found.notes.append("LKH: stamps count CPU seconds from the start of each run, without its preprocessing")
    return found


def _add(events: EventList, cost: str, stamp: str, where: str) -> None:
    *penalties, value = cost.split("_")
    penalty = parse_number(penalties[0]) if penalties else 0.0
    if penalty is None:
        events.add(stamp, cost, where=where)
    else:
        valid = penalty <= 0
        events.add(stamp, value, where=where, valid=valid, reason="" if valid else PENALISED)


def _note_parameter(header: _Header, name: str, value: str) -> None:
    if name == "PROBLEM_FILE":
        header.instance = _instance_name(value)
    elif name == "SEED" and re.fullmatch(r"[0-9]{1,18}", value, re.ASCII):
        header.seed = int(value)
    elif name == "TIME_LIMIT":
        limit = parse_number(value.split(maxsplit=1)[0])
        header.horizon = limit if limit is not None and limit > 0 else None


def _close(found: Found, header: _Header, events: EventList, status: str) -> None:
    # LKH counts its seed up by one after each run.
    seed = None if header.seed is None else header.seed + header.closed
    header.closed += 1
    found.runs.append(
        FoundRun(
            **events.columns(),
            instance=header.instance,
            seed=seed,
            horizon=header.horizon,
            status=status,
            clock="cpu",
            resolution=0.01,
            carried={"preprocessing": header.preprocessing},
            where=f"run {len(found.runs) + 1}",
        )
    )


def _instance_name(path: str) -> str:
    name = path.strip().strip('"').replace("\\", "/").rsplit("/", 1)[-1]
    stem, dot, _suffix = name.rpartition(".")
    return stem if dot and stem else name


READER = Reader(name="lkh", describes="log of LKH-3, CPU clock", looks_like=_looks_like, read=_read)
