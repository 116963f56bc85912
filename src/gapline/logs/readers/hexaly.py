"""The console log of Hexaly Optimizer and LocalSolver: whole seconds; the header states the direction."""

import re
from dataclasses import dataclass, field
from itertools import pairwise

from gapline.contract.tables import Proof
from gapline.errors import TraceError
from gapline.logs.events import EventList, Levels
from gapline.logs.lines import parse_number, shown
from gapline.logs.reader import Found, FoundRun, LogFile, Reader

_EVENT = re.compile(r"\s*\[\s*([0-9.,]+)\s*sec,\s*[0-9]+\s*itr\s*\]:\s*(.*)", re.ASCII)
_EVENT_BYTES = re.compile(rb"^[ \t]*\[[ \t]*[0-9.,]+[ \t]*sec,[ \t]*[0-9]+[ \t]*itr[ \t]*\]:", re.M)
_DIRECTION = re.compile(r"\s*\[\s*objective direction\s*\]:\s*(.*)", re.IGNORECASE)
_LIMIT = re.compile(r"\btime limit\s*[:=]\s*([0-9.]+)\s*sec", re.IGNORECASE)
_SEED = re.compile(r"\bseed\s*[:=]\s*([0-9]{1,18})\b", re.IGNORECASE | re.ASCII)
_PERFORMED = re.compile(r"\s*[0-9]+ iterations performed in ([0-9.]+) seconds", re.IGNORECASE)
_VERSION = re.compile(r"(Hexaly|LocalSolver)\b[^0-9\n]{0,40}([0-9][\w.-]{0,40}?)\.?(?:\s|$)", re.ASCII)
_BANNER = re.compile(rb"^(?:Hexaly|LocalSolver)\b", re.M)
_BOUND = re.compile(r"\s*bounds?\s*=\s*(\S+)\s*$")
# "Infeasible" describes the best solution found; "Inconsistent" says that the model has no solution.
_CLAIMS = {"Optimal": Proof.OPTIMAL.value, "Inconsistent": Proof.INFEASIBLE.value}
LEXICOGRAPHIC = "lexicographic objectives: the first two are kept as primary and secondary, the first as the objective"


def _looks_like(_path: str, head: bytes) -> bool:
    return (b" itr]:" in head and _EVENT_BYTES.search(head) is not None) or (
        b"objective direction" in head and _BANNER.search(head) is not None
    )


@dataclass(slots=True)
class _HexalySolve:
    """The current solve: its header facts and its events."""

    events: EventList
    levels: Levels = field(default_factory=Levels)
    directions: list[str] = field(default_factory=list)
    horizon: float | None = None
    seed: int | None = None
    ended: bool = False
    performed: float | None = None
    bound: float | None = None
    claim: str | None = None
    started: bool = False
    has_events: bool = False

    def note_header(self, text: str) -> None:
        """Read the direction, the limit and the seed from a line."""
        if match := _DIRECTION.match(text):
            self.started = True
            self.directions = [word[:3].lower() for word in match[1].split()]
        if match := _LIMIT.search(text):
            self.started, self.horizon = True, parse_number(match[1])
        if match := _SEED.search(text):
            self.seed = int(match[1])

    def note_end(self, text: str) -> None:
        """Read the lines after the search: its duration, its claim, and the bound."""
        if match := _PERFORMED.match(text):
            self.ended, self.performed = True, parse_number(match[1])
        elif text.startswith(("Optimal solution", "Feasible solution", "Infeasible", "Inconsistent")):
            self.ended = True
            self.claim = _CLAIMS.get(text.partition(" ")[0].rstrip(".:"))
        elif self.ended and (match := _BOUND.match(text)):
            self.bound = parse_number(match[1])


def _read(log: LogFile) -> Found:
    found = Found()
    solve = _HexalySolve(EventList(found.problems))
    lines = log.lines()
    banner: dict[str, str] = {}
    for number, text in lines:
        where = f"{log.path}:{number}"
        if not banner and (match := _VERSION.match(text)):
            banner = {"solver": match[1].lower(), "solver_version": match[2]}
        # A solve that was killed before its first row has only a header.
        is_over = solve.has_events or solve.ended or (solve.started and text.startswith("Model:"))
        if is_over and text.startswith(("Model:", "[objective direction")):
            _close(found, solve, log.path, banner)
            solve = _HexalySolve(EventList(found.problems))
        if match := _EVENT.match(text):
            if number == lines.torn_at:
                found.refuse_torn(where, text)
            else:
                _add_event(solve, match[1], match[2], where)
        else:
            if not solve.has_events:
                solve.note_header(text)
            if number != lines.torn_at or not _BOUND.match(text):
                solve.note_end(text)
            else:
                found.refuse_torn(where, text)
    if solve.started or solve.has_events:
        _close(found, solve, log.path, banner)
    if not found.runs:
        raise TraceError(f"{log.path}: expected lines such as `[  1 sec, 251 itr]: 70`, got {shown(log.head[:60])}")
    return found.numbered()


def _add_event(solve: _HexalySolve, stamp: str, rest: str, where: str) -> None:
    solve.has_events = True
    # The search has begun, but there is no candidate yet.
    if rest.lower().startswith(("no feasible", "infeas", "n/a")):
        return
    cells = rest.split()
    solve.events.add(stamp, cells[0] if cells else None, where=where)
    values = [parse_number(cell) for cell in cells[:2]]
    solve.levels.add([float("nan") if value is None else value for value in values])


def _close(found: Found, solve: _HexalySolve, path: str, banner: dict[str, str]) -> None:
    directions = {word for word in solve.directions if word in ("min", "max")}
    if len(directions) > 1:
        raise TraceError(
            f"{path}: expected objectives of one direction, got {' and '.join(sorted(directions))}",
            hint="a lexicographic mix has no single objective: export the traces as CSV with a declared one",
        )
    # A row shows the best so far: with displays every ten seconds, it may be that much older than its stamp.
    steps = (after - before for before, after in pairwise(solve.events.values("time")))
    widest = max((step for step in steps if step > 1), default=1.0)
    if solve.bound is not None and solve.performed is not None:
        solve.events.add_bound(solve.performed, solve.bound)
        # One row for each event, otherwise the columns would differ in length.
        solve.levels.add(())
    several = len(solve.directions) > 1 or solve.levels.several
    found.runs.append(
        FoundRun(
            **solve.events.columns(),
            clock="wall",
            **(solve.levels.columns() if several else {}),
            seed=solve.seed,
            horizon=solve.horizon or None,
            status="finished" if solve.ended else "killed",
            resolution=widest,
            sense=next(iter(directions), None),
            carried=dict(banner) if solve.claim is None else banner | {"claim": solve.claim},
        )
    )
    if several and LEXICOGRAPHIC not in found.notes:
        found.notes.append(LEXICOGRAPHIC)


READER = Reader("hexaly", "console log of Hexaly Optimizer or LocalSolver, whole seconds", _looks_like, _read)
