"""Series of the Quantum Optimization Benchmarking Library: `[[{"Time": 0.017, "Incumbent": -30, "step": 1}, …], …]`.

Series of Gurobi are rows of its log: they also state BestBd and Model, in whole seconds except for the last row.
"""

import re
from typing import Any

import numpy as np

from gapline.contract.tables import RunStatus, VerdictCode
from gapline.errors import TraceError
from gapline.logs.events import EventList
from gapline.logs.lines import shown
from gapline.logs.loose_json import as_cell, as_float, as_name, decode_json
from gapline.logs.reader import Found, FoundRun, LogFile, Reader

_LOOKS = re.compile(rb'\s*\[(?:\s*\[)?\s*\{[^{}]{0,400}"Incumbent"\s*:', re.IGNORECASE)
# A series is a list of lists; deeper nesting is not a series, and is not parsed to its end.
_DEEPEST = 8
_PIECE = re.compile(r"\{[^{}\[\]]{0,4000}\}|\[|\]")


def _looks_like(path: str, head: bytes) -> bool:
    """Whether a head is a list of records with Time and Incumbent, or only an empty list."""
    if _LOOKS.match(head):
        return re.search(rb'"Time"\s*:', head[:4096], re.IGNORECASE) is not None
    return path.lower().endswith((".json", ".json.gz", ".json.zst")) and b"".join(head[:64].split()) in (b"[]", b"[[]]")


def _read(log: LogFile) -> Found:
    found = Found()
    cut = log.cut
    if not log.data.strip():
        runs: list[Any] = [[]]
        found.notes.append(f"{log.path}: the file is empty, which is read as one run that found nothing")
    else:
        try:
            decoded = decode_json(log.data)
        except ValueError as error:
            decoded = _recover(log.data.decode("utf-8", "replace"))
            cut = True
            if decoded is None:
                raise TraceError(
                    f"{log.path}: expected a list of runs, each a list of {{Time, Incumbent}}, got {shown(log.data)}"
                ) from None
            found.problems.append(f"{log.path}: expected whole JSON, got a file that breaks off ({error})")
        if not isinstance(decoded, list):
            raise TraceError(f"{log.path}: expected a list of runs, got {type(decoded).__name__}")
        # A single run may have no outer list.
        runs = decoded if decoded and all(isinstance(run, list) for run in decoded) else [decoded]
    for seed, run in enumerate(runs):
        events = EventList(found.problems)
        model = None
        place = f"{log.path}: run {seed + 1}" if len(runs) > 1 else log.path
        for number, record in enumerate(run, start=1):
            if not isinstance(record, dict):
                found.refuse(f"{place}: record {number}", "{Time, Incumbent}", str(record)[:80])
                continue
            fields = {str(name).lower(): as_cell(value) for name, value in record.items()}
            time, value, bound = fields.get("time"), fields.get("incumbent"), as_float(fields.get("bestbd"))
            model = model or as_name(fields.get("model"))
            # A row without an incumbent is not a candidate if it states the bound.
            if value is None and bound is not None and isinstance(time, float) and time >= 0:
                events.add_bound(time, bound)
            else:
                events.add(time, value, where=f"{place}: record {number}", bound=bound)
        status = RunStatus.KILLED if cut and seed == len(runs) - 1 else RunStatus.UNKNOWN
        columns = events.columns()
        found.runs.append(
            FoundRun(**columns, instance=model, seed=seed, status=status, resolution=_resolution(columns["time"]))
        )
    _agree_on_sense(found, log.path)
    return found.numbered()


def _resolution(stamps: np.ndarray) -> float | None:
    """Return the unit in which the stamps are written; the last one, the end of the solve, may be finer."""
    known = stamps[np.isfinite(stamps)]
    rows = known[:-1] if len(known) > 1 else known
    return next((10.0**-digits for digits in range(4) if len(rows) and (np.round(rows, digits) == rows).all()), None)


def _recover(text: str) -> list[Any] | None:
    """Return the runs of a truncated text, up to the last complete record; None if there is none."""
    runs: list[list[Any]] = []
    depth = 0
    for piece in _PIECE.finditer(text):
        token = piece[0]
        if token == "[":
            depth += 1
            if depth == 2:
                runs.append([])
            elif depth > _DEEPEST:
                break
        elif token == "]":
            depth -= 1
        elif depth in (1, 2):
            try:
                record = decode_json(token)
            except ValueError:
                continue
            if not runs:
                runs.append([])
            runs[-1].append(record)
    return runs or None


def _agree_on_sense(found: Found, path: str) -> None:
    """Set one sense for all runs of the file, from the steps of the incumbents: submitters differ in their sign."""
    up = down = 0
    for run in found.runs:
        values = run.objective[run.verdict == VerdictCode.VALID]
        up += int((values[1:] > values[:-1]).sum())
        down += int((values[1:] < values[:-1]).sum())
    if not up and not down:
        # Values that never move: the bounds are on the side to which they would.
        for run in found.runs:
            up += 0 if run.bound is None else int((run.bound > run.objective).sum())
            down += 0 if run.bound is None else int((run.bound < run.objective).sum())
    # All runs of a file have one submitter and one instance: they agree, or the file is inconsistent.
    sense = ("max" if up > down else "min") if up or down else None
    for run in found.runs:
        run.sense, run.guessed = sense, True
    if up and down:
        found.problems.append(
            f"{path}: expected incumbents that move one way, got {down:,} steps down and {up:,} up (read as {sense})"
        )
    elif sense is not None:
        found.notes.append(f"QOBLIB series state no sense: read as {sense} from the steps of the incumbents")


READER = Reader("qoblib", "QOBLIB incumbent series (JSON)", _looks_like, _read)
