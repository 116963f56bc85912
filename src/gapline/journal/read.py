"""Read a journal: the valid prefix of an attempt, and the problems of the rest."""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

import msgspec

from gapline.contract.number_limits import EXACT, is_rounded
from gapline.contract.tables import Proof, Reason, RunStatus
from gapline.errors import TraceError
from gapline.files.open_file import open_regular, reason_of
from gapline.journal.events import CapturedEvent, CapturedEvents, Record, Said, decode_record, decode_said, present
from gapline.journal.fairness import disturbances
from gapline.journal.line import EVENTS_FILE, ORDER_FILE, RECORD_SCHEMA, SCHEMA, unseal
from gapline.journal.records import OVER_CAP, WHOLE_CAUSES, Ending, Order, read_order

# Far more than a supervisor keeps of a line (16 MB), even if every character is escaped.
MOST_LINE = 256 << 20
UNREADABLE = "candidate not readable"


class JournalState(StrEnum):
    """The state of an attempt according to its journal."""

    WHOLE = "whole"  # it ended by itself or at a limit: a result
    BROKEN = "broken"  # it was cut short: the prefix is evidence, and the cell has to be run again
    QUARANTINED = "quarantined"  # the file was changed after it was written: nothing in it counts


@dataclass(slots=True)
class Outcome:
    """The content of a journal without its events. `torn` counts the bytes after the last whole line.

    `model` is the simplified problem that the solver says it solves. `asked` counts the events that a checker has to
    judge; `claim` is the last claim of the solver to have proven something: `optimal` or `infeasible`; `resolutions`
    are the units of the last digits of objectives and bounds, if these were read from rounded output.
    """

    path: Path
    order: Order | None = None
    # The problem of the order file; the journal begins with a copy of the same order.
    unordered: str | None = None
    ending: Ending | None = None
    solver: str | None = None
    version: str | None = None
    model: str | None = None
    claim: str | None = None
    resolutions: dict[str, float] = field(default_factory=dict)
    # Of the last line that verifies; verdict files refer to it.
    checksum: int = 0
    # Not an error by itself: a killed writer leaves a torn line.
    torn: int = 0
    corruption: str | None = None
    asked: int = 0

    @property
    def state(self) -> JournalState:
        """Whole, broken or quarantined."""
        if self.corruption is not None:
            return JournalState.QUARANTINED
        whole = self.ending is not None and self.ending.cause in WHOLE_CAUSES
        return JournalState.WHOLE if whole and not self.torn else JournalState.BROKEN

    @property
    def status(self) -> RunStatus:
        """How the run ended, as in the runs table."""
        if self.state is not JournalState.WHOLE or self.ending is None:
            return RunStatus.LOST
        return run_status(self.ending)

    @property
    def failure(self) -> str | None:
        """The signal or exit code of a run that failed; None if it did not fail."""
        if self.ending is None or self.status not in (RunStatus.CRASHED, RunStatus.KILLED, RunStatus.MEMORY_LIMIT):
            return None
        return self.ending.signal or f"exit code {self.ending.exit_code}"

    @property
    def disturbed(self) -> list[str]:
        """What disturbed the run from outside."""
        return [] if self.order is None or self.ending is None else disturbances(self.order, self.ending)

    @property
    def left_behind(self) -> int:
        """The number of processes of the solver that survived our cleanup."""
        return 0 if self.ending is None else self.ending.leftover

    @property
    def over_cap(self) -> int:
        """The number of events that exceeded the cap of the journal and are not in it."""
        return 0 if self.ending is None else self.ending.dropped.get(OVER_CAP, 0)

    def order_problems(self) -> list[str]:
        """Return a line if the order file cannot be read, with the consequence."""
        if self.unordered is None:
            return []
        known = "the journal says what it is of" if self.order else "nothing says what the attempt is of"
        return [f"{self.unordered}; {known}"]

    def problems(self) -> list[str]:
        """Return the reasons why the attempt is not whole, one line each; empty if it is."""
        ending = self.ending
        found = self.order_problems()
        if self.corruption is not None:
            found.append(f"{self.corruption}; the run is quarantined")
        if self.torn:
            found.append(f"{self.path}: expected a whole last line, got {self.torn} bytes of one; the prefix counts")
        if ending is None:
            if not found:
                found.append(f"{self.path}: the attempt has no end; the runner or the machine stopped before it")
            return found
        if ending.cause not in WHOLE_CAUSES:
            found.append(f"{self.path}: {ending.error or ending.cause}; the attempt is not whole")
        return found


@dataclass(slots=True)
class Journal(Outcome):
    """The content of a journal."""

    events: CapturedEvents = field(init=False)

    def __post_init__(self) -> None:
        self.events = CapturedEvents(self.path)

    def questions(self) -> list[int]:
        """Return the places of the events that a checker has to judge."""
        return [place for place, event in enumerate(self.events.bare()) if _is_question(event)]


def _is_question(event: CapturedEvent) -> bool:
    return event.is_candidate and not event.reason and event.solution is not None


def run_status(ending: Ending) -> RunStatus:
    """Return the status of a whole attempt: `time-limit` only if we had to stop the solver."""
    # The order matters: a solver that we stopped dies by our SIGTERM or SIGKILL, which is not a kill from outside.
    if ending.cause == "horizon":
        return RunStatus.TIME_LIMIT
    if ending.cause == "memory":
        return RunStatus.MEMORY_LIMIT
    if ending.signal in ("SIGKILL", "SIGTERM"):
        # Not by us: by the out-of-memory killer or a user of the machine.
        return RunStatus.KILLED
    return RunStatus.FINISHED if ending.exit_code == 0 else RunStatus.CRASHED


def read_journal(attempt: Path) -> Journal:
    """Read the journal of an attempt directory: all lines up to the first that does not verify.

    Bytes after the last newline are a torn tail, as a killed writer leaves it. A complete line that does not verify was
    changed after it was written: the journal is quarantined.
    """
    path = attempt / EVENTS_FILE
    journal = Journal(path)
    try:
        with open_regular(path) as stream:
            read_lines(journal, stream)
    except FileNotFoundError:
        pass
    except OSError as error:
        journal.corruption = f"{path}: expected a file, got {reason_of(error)}"
    try:
        order = read_order(attempt)
        # If nothing of the journal is usable, the run must stay in every denominator: the order file names it.
        journal.order = journal.order or order
    except FileNotFoundError:
        pass
    # Text that is not UTF-8 is a `ValueError` too.
    except (OSError, ValueError, msgspec.MsgspecError) as error:
        why = reason_of(error) if isinstance(error, OSError) else error
        journal.unordered = f"{attempt / ORDER_FILE}: expected an order, got {why}"
    return journal


def read_lines(journal: Journal, stream: BinaryIO, number: int = 0, place: int = 0) -> tuple[int, int]:
    """Read a journal line by line, starting at line `number` at offset `place`; only one line is in memory at a time.

    Returns number and offset of the line after the last whole one.
    """
    journal.torn = 0
    # We never write a longer line, and reading one whole would fill the memory.
    while line := stream.readline(MOST_LINE):
        if not line.endswith(b"\n"):
            # Either the torn end of the file, or a line so long that we cannot have written it.
            journal.torn = len(line)
            if len(line) == MOST_LINE:
                journal.torn = 0
                journal.corruption = f"{journal.path}:{number + 1}: expected a line of at most {MOST_LINE:,} bytes"
            break
        if journal.corruption is None:
            take_line(journal, line[:-1], number, place)
        number, place = number + 1, place + len(line)
    return number, place


def take_line(journal: Journal, line: bytes, number: int, place: int, *, at: int | None = None) -> None:
    """Add one line, given its number and its offset in the file; `at` is its line number for error messages."""
    try:
        body, checksum = unseal(line, journal.checksum)
        _take(journal, decode_record(body), number, place)
        journal.checksum = checksum
    except (ValueError, msgspec.MsgspecError) as error:
        journal.corruption = f"{journal.path}:{at or number + 1}: {error}"


def _take(journal: Journal, record: Record, number: int, place: int) -> None:
    if record.seq != number:
        raise ValueError(f"expected line number {number}, got {record.seq}")
    if (record.start is not None) != (number == 0):
        raise ValueError("expected the start on the first line and nowhere else")
    if journal.ending is not None:
        raise ValueError("expected nothing after the end")
    if record.start is not None:
        _refuse_newer(journal.path, record.start.schema)
        journal.order = record.start
    elif record.end is not None:
        journal.ending = record.end
    elif record.text is not None and '"objective"' in record.text:
        journal.events.add(_rejected(record.seq, record.t, record.text), place)
    elif isinstance(record.say, msgspec.Raw):
        _take_said(journal, record, decode_said(record.say), place)


def _refuse_newer(path: Path, schema: str) -> None:
    name, _, version = schema.partition("/")
    ours = RECORD_SCHEMA if name == RECORD_SCHEMA.partition("/")[0] else SCHEMA
    known, _, newest = ours.partition("/")
    if name != known or not version.isdecimal() or int(version) > int(newest):
        raise TraceError(f"{path}: expected schema {ours} or older, got {schema}", hint="upgrade gapline to read it")


def _take_said(journal: Journal, record: Record, said: Said, place: int) -> None:
    if isinstance(said.solver, msgspec.Raw) and journal.solver is None:
        journal.solver = _text(said.solver)
        journal.version = _text(said.version) if isinstance(said.version, msgspec.Raw) else None
        journal.model = _text(said.model) if isinstance(said.model, msgspec.Raw) else None
    if isinstance(said.claim, msgspec.Raw):
        claim = _text(said.claim)
        # Any other word claims nothing that could be contradicted; a later claim replaces all earlier ones.
        journal.claim = claim if claim in list(Proof) else None
        units = {name: _number(getattr(said, name))[0] for name in ("value_resolution", "bound_resolution")}
        journal.resolutions = {name: unit for name, unit in units.items() if unit >= 0}
    is_candidate = isinstance(said.objective, msgspec.Raw)
    if not is_candidate and not isinstance(said.bound, msgspec.Raw):
        return
    objective, reason = _number(said.objective)
    bound, bound_reason = _number(said.bound)
    # A bound that is not a number is dropped: it claims nothing that could be rejected.
    if not is_candidate and bound_reason:
        return
    event = CapturedEvent(
        sequence=record.seq,
        time=record.t,
        is_candidate=is_candidate,
        objective=objective,
        bound=bound,
        primary=_number(said.primary)[0],
        secondary=_number(said.secondary)[0],
        solution=present(said.solution),
        reason=reason if is_candidate else "",
    )
    journal.asked += _is_question(event)
    journal.events.add(event, place)


def _number(raw: msgspec.Raw | msgspec.UnsetType) -> tuple[float, str]:
    """Return the number in a JSON value, or NaN and the reason why it is none."""
    text = present(raw)
    if text is None or text in (b'""', b""):
        return float("nan"), Reason.OBJECTIVE_MISSING
    # `float` would raise for text, true or a list, and an error here would mean that the journal was changed.
    if text[:1] not in b"-0123456789":
        return float("nan"), Reason.OBJECTIVE_NOT_A_NUMBER
    value = float(text)
    if value in (float("inf"), float("-inf")):
        return float("nan"), Reason.OBJECTIVE_NOT_FINITE
    if abs(value) >= EXACT and is_rounded(text.decode()):
        return float("nan"), Reason.OBJECTIVE_NOT_EXACT
    return value, ""


def _text(raw: msgspec.Raw) -> str:
    value = msgspec.json.decode(raw)
    return value if isinstance(value, str) else bytes(raw).decode("utf-8", "replace")


_STATED = re.compile(r'"objective"\s*:\s*([^,}\s]*)')


def _rejected(sequence: int, time: float, text: str) -> CapturedEvent:
    """Return a rejected candidate for a line that is not JSON, with a reason taken from its objective."""
    stated = _STATED.search(text)
    # The line is not JSON, but the text after "objective" shows which mistake it is.
    value = stated.group(1).lower().lstrip("+-") if stated else None
    reason: str = Reason.OBJECTIVE_NOT_A_NUMBER
    if value in ("nan", "inf", "infinity"):
        reason = Reason.OBJECTIVE_NOT_FINITE
    elif value == "":
        reason = Reason.OBJECTIVE_MISSING
    elif value is None or re.fullmatch(r"[0-9]+(\.[0-9]+)?", value):
        reason = UNREADABLE
    nan = float("nan")
    return CapturedEvent(sequence, time, True, nan, nan, nan, nan, None, reason)
