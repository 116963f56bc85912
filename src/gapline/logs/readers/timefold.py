"""`BEST_SCORE.csv` of the Timefold benchmarker: `timeMillisSpent,score,initialized`; scores are maximised."""

import csv
import re
from typing import NamedTuple

from gapline.errors import TraceError
from gapline.logs.events import EventList, Levels
from gapline.logs.lines import parse_number, shown
from gapline.logs.reader import Found, FoundRun, LogFile, Reader

NOT_INITIALIZED = "solution not initialized"
MOST_SCORE = 400
# OptaPlanner 6 wrote `timeMillisSpend`; other statistics of a benchmark have no score.
_HEADER = re.compile(rb'"?timeMillisSpen[td]"?\s*,\s*"?score\b', re.IGNORECASE)
_LEVEL = re.compile(r"(\[[^\]]*\]|[^/\[\]]*?)(hard|medium|soft|init)")


class Score(NamedTuple):
    """A parsed score: whether it is feasible and initialized, and the levels below the hard ones."""

    valid: bool
    reason: str
    soft: tuple[float, ...]


def parse_score(text: str) -> Score | None:
    """Parse a score such as `-5hard/-541soft`, `0hard/-2medium/-7soft`, `[0]hard/[-1/-2]soft` or `-12`.

    >>> parse_score("0hard/-541soft")
    Score(valid=True, reason='', soft=(-541.0,))
    >>> parse_score("-5hard/-541soft").reason
    'hard score below 0'
    """
    text = text.strip()
    if len(text) > MOST_SCORE:
        return None
    levels: list[tuple[str, str]] = _LEVEL.findall(text)
    if "/".join(number + name for number, name in levels) != text:
        # A simple score has no level names; before it is initialized, it is `-3init/-12`.
        head, init, tail = text.rpartition("init/")
        levels = [(head, "init"), (tail, "soft")] if init else [(text, "soft")]
    values: dict[str, list[float]] = {"init": [], "hard": [], "medium": [], "soft": []}
    for numbers, name in levels:
        known = [parse_number(part) for part in numbers.strip("[]").split("/")]
        values[name] += [number for number in known if number is not None]
        if None in known:
            return None
    soft = (*values["medium"], *values["soft"])
    if not soft:
        return None
    if any(value < 0 for value in values["init"]):
        return Score(False, NOT_INITIALIZED, soft)
    feasible = all(value >= 0 for value in values["hard"])
    return Score(feasible, "" if feasible else "hard score below 0", soft)


def _read(log: LogFile) -> Found:
    found = Found()
    events = EventList(found.problems)
    levels = Levels()
    lines = log.lines()
    header = next(lines, (1, ""))[1]
    if not _HEADER.match(header.encode()):
        raise TraceError(f"{log.path}:1: expected timeMillisSpent,score, got {shown(header)}")
    last = header
    for number, text in lines:
        if not text.strip():
            continue
        last = text
        where = f"{log.path}:{number}"
        if _HEADER.match(text.encode()):
            raise TraceError(f"{where}: expected rows of one run, got a second header", hint="split the file by run")
        cells = next(csv.reader([text.replace("\0", "�")]))
        # A last line without a line end is complete if its last cell is closed by a quote.
        if len(cells) < 2 or (number == lines.torn_at and not text.endswith('"')):
            found.refuse(where, "timeMillisSpent,score", text)
            continue
        millis, score = parse_number(cells[0]), parse_score(cells[1])
        if score is None:
            events.add(None if millis is None else millis / 1000, cells[1] or None, where=where)
            levels.add(())
            continue
        said = cells[2].strip().lower() if len(cells) > 2 else "true"
        valid, reason = (score.valid, score.reason) if said == "true" else (False, NOT_INITIALIZED)
        stamp: float | str = cells[0] if millis is None else millis / 1000
        events.add(stamp, score.soft[0], where=where, valid=valid, reason=reason)
        levels.add(score.soft)
    run = FoundRun(
        **events.columns(),
        **(levels.columns() if levels.several else {}),
        sense="max",
        clock="wall",
        resolution=0.001,
        status="killed" if lines.torn_at and not last.rstrip().endswith('"') else "unknown",
    )
    if levels.several:
        found.notes.append("scores of several levels: the first two below hard are kept as primary and secondary")
    found.runs.append(run)
    return found


READER = Reader(
    "timefold",
    "BEST_SCORE.csv of the Timefold benchmarker, maximised",
    lambda _path, head: _HEADER.match(head) is not None,
    _read,
)
