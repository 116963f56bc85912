"""The journals of a package: the attempts, with names of machines and users replaced."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import msgspec

from gapline.contract.layout import JOURNALS, slug
from gapline.contract.tables import RunKey
from gapline.errors import IntegrityError, listing
from gapline.files.open_file import open_regular, reason_of
from gapline.journal.attempts import attempts_of, cells_of
from gapline.journal.events import decode_record, decode_said
from gapline.journal.line import EVENTS_FILE, LOG_FILES, ORDER_FILE, is_sealed, seal, unseal
from gapline.journal.read import MOST_LINE
from gapline.journal.records import Order, order_document, seal_order
from gapline.journal.verdicts import VerdictsHead, is_verdict_file
from gapline.package.scrub import Scrubber, alias_hosts
from gapline.text import counted

# Redactions are listed by pattern: with thousands of runs, a line for each file is unreadable.
_IN_ATTEMPT = f"{JOURNALS}/*/*/"
# Entries of an order that are not redacted: the names that identify the run, and digests.
_KEPT = ("arm", "instance", "panel", "condition", "schema")


@dataclass(frozen=True, slots=True)
class AttemptSurvey:
    """The attempts of a study by cell, in order, and the machines and directories that their orders name.

    `copies` are folders of runs with a directory of their own; `names` are those of arms, instances and panels.
    """

    attempts: tuple[Path, ...]
    copies: tuple[str, ...]
    hosts: tuple[str, ...]
    studies: frozenset[str]
    names: frozenset[str]

    def scrubber(self) -> Scrubber:
        """Return the scrubber that redacts these machines."""
        return Scrubber(alias_hosts(self.hosts), studies=self.studies, names=self.names)


def survey_attempts(study: Path) -> AttemptSurvey:
    """Read the orders of all attempts; an unreadable one is skipped here and refused when its journal is read."""
    attempts: list[Path] = []
    copies: list[str] = []
    hosts: list[str] = []
    studies, names = set(), set()
    for cell in cells_of(study):
        orders = [(attempt, _order(attempt)) for attempt in attempts_of(cell)]
        known = [order for _, order in orders if order is not None]
        if known and _is_copy(cell, known[-1]):
            copies.append(f"{JOURNALS}/{cell.name}")
            continue
        attempts += [attempt for attempt, _ in orders]
        for order in known:
            hosts.append(order.machine.get("host", ""))
            studies.add(order.directory)
            names |= {order.arm, order.instance, order.panel}
    return AttemptSurvey(
        tuple(attempts), tuple(copies), tuple(dict.fromkeys(hosts)), frozenset(studies), frozenset(names)
    )


def _is_copy(cell: Path, order: Order) -> bool:
    own = cell.with_name(slug(RunKey(order.arm, order.instance, order.seed)))
    return own.name != cell.name and own.is_dir()


def _order(attempt: Path) -> Order | None:
    try:
        return msgspec.json.decode(order_document(attempt), type=Order)
    except (OSError, ValueError, msgspec.MsgspecError):
        pass
    try:
        with open_regular(attempt / EVENTS_FILE) as stream:
            return decode_record(unseal(stream.readline(MOST_LINE).removesuffix(b"\n"), 0)[0]).start
    except (OSError, ValueError, msgspec.MsgspecError):
        return None


def stage_attempts(
    surveyed: AttemptSurvey, folder: Path, scrub: Scrubber | None, tell: Callable[[int, int], object] = lambda *_: None
) -> None:
    """Write the attempts into the journal of a folder, redacted; without a scrubber they are copied unchanged.

    Files that do not verify are refused by name.
    """
    damaged: list[str] = []
    for number, attempt in enumerate(surveyed.attempts):
        tell(number, len(surveyed.attempts))
        target = folder / JOURNALS / attempt.parent.name / attempt.name
        target.mkdir(parents=True)
        names = attempt_files(attempt)
        if scrub is None:
            for name in names:
                shutil.copyfile(attempt / name, target / name)
        elif damage := _stage(attempt, names, target, scrub):
            damaged.append(damage)
    tell(len(surveyed.attempts), len(surveyed.attempts))
    refuse_damaged(damaged)


def refuse_damaged(damaged: list[str]) -> None:
    """Refuse to pack journals that do not verify."""
    if damaged:
        what = counted(len(damaged), "file")
        raise IntegrityError(
            f"expected journals that verify, got {what} that do not: {listing(damaged)}",
            hint="put back a copy of it, or move the attempt out of the study",
        )


def attempt_files(attempt: Path) -> list[str]:
    """Return the names of the files of an attempt that go into a package, links and other odd files included."""
    known = (ORDER_FILE, EVENTS_FILE, *LOG_FILES)
    return sorted(path.name for path in attempt.iterdir() if path.name in known or is_verdict_file(path.name))


def _stage(attempt: Path, names: list[str], target: Path, scrub: Scrubber) -> str | None:
    """Write a redacted attempt; return what is wrong with the first file that does not verify."""
    checksums = (0, 0)
    # The journal goes first: the verdicts name its checksum.
    for name in sorted(names, key=lambda name: (name != EVENTS_FILE, name)):
        path = attempt / name
        try:
            if name == ORDER_FILE:
                order = msgspec.json.decode(order_document(attempt), type=dict[str, Any])
                clean = scrub_order(order, scrub, f"{_IN_ATTEMPT}{ORDER_FILE}")
                (target / name).write_bytes(seal_order(msgspec.json.encode(clean)))
                continue
            with open_regular(path) as source:
                if name == EVENTS_FILE:
                    checksums = _scrub_events(source, target / name, scrub)
                elif is_verdict_file(name):
                    _scrub_verdicts(source, target, name, scrub, *checksums)
                else:
                    with (target / name).open("xb") as sink:
                        sink.writelines(scrub.line(line, f"{_IN_ATTEMPT}*.log") for line in read_lines(source))
        except OSError as error:
            # An error without a file name, such as a full disk, is no damage to the journal.
            if error.filename is None:
                raise
            return f"{path}: expected a file, got {reason_of(error)}"
        except (ValueError, msgspec.MsgspecError) as error:
            return f"{path}: {error}"
    return None


def read_lines(source: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of a file with their line ends."""
    # A longer line comes in pieces, which bounds the memory.
    while line := source.readline(MOST_LINE):
        yield line


def scrub_order(order: dict[str, Any], scrub: Scrubber, where: str) -> dict[str, Any]:
    """Return a redacted order; the names of the run and the digests stay."""
    machine, host = order.get("machine"), {}
    if isinstance(machine, dict) and isinstance(machine.get("host"), str):
        # Replace the host by its own entry, even if an arm or instance has the same name.
        host = {"host": scrub.host(machine["host"], where)}
        order = order | {"machine": {name: value for name, value in machine.items() if name != "host"}}
    found = {name: value if name in _KEPT else scrub.value(value, where) for name, value in order.items()}
    return found | {"machine": host | found["machine"]} if host else found


def _scrub_events(source: IO[bytes], target: Path, scrub: Scrubber) -> tuple[int, int]:
    """Rewrite a journal; return the checksum of its last line before and after."""
    where = f"{_IN_ATTEMPT}{EVENTS_FILE}"

    def start(body: bytes) -> bytes:
        record = msgspec.json.decode(body, type=dict[str, Any])
        order = record.get("start")
        if not isinstance(order, dict):
            raise ValueError("expected the start on the first line")
        return msgspec.json.encode(record | {"start": scrub_order(order, scrub, where)})

    with target.open("xb") as sink:
        return _seal_again(source, sink, scrub, where, start, lambda body: _scrub_said(body, scrub, where))


def _seal_again(
    source: IO[bytes],
    sink: IO[bytes],
    scrub: Scrubber,
    where: str,
    first: Callable[[bytes], bytes],
    other: Callable[[bytes], bytes],
    *,
    sealed: bool = True,
) -> tuple[int, int]:
    """Rewrite lines, each changed by `first` or `other`; return the checksum of the last one before and after."""
    before = after = 0
    for number, line in enumerate(read_lines(source), start=1):
        if not line.endswith(b"\n"):
            # A line without an end was cut off when its writer was killed: it has no checksum to renew.
            sink.write(scrub.line(line, where))
            break
        try:
            body, before = unseal(line[:-1], before) if sealed else (line[:-1], 0)
            body = first(body) if number == 1 else other(body)
        except (ValueError, msgspec.MsgspecError) as error:
            raise ValueError(f"line {number}: {error}") from error
        whole, after = seal(body[:-1], after) if sealed else (body + b"\n", 0)
        sink.write(whole)
    return before, after


def _scrub_said(body: bytes, scrub: Scrubber, where: str) -> bytes:
    """Redact a solver's message except its solution: the checker judged those bytes, so they must not change."""
    if b'"solution"' not in body or not scrub.suspects(body):
        return scrub.json(body, where)
    record = decode_record(body)
    solution = decode_said(record.say).solution if isinstance(record.say, msgspec.Raw) else msgspec.UNSET
    # Numbers and lists of numbers contain no text to redact.
    if not isinstance(solution, msgspec.Raw) or b'"' not in bytes(solution):
        return scrub.json(body, where)
    parts = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    said = msgspec.json.decode(parts["say"], type=dict[str, msgspec.Raw])
    clean = {
        name: value if name == "solution" else msgspec.Raw(scrub.json(bytes(value), where))
        for name, value in said.items()
    }
    if all(bytes(clean[name]) == bytes(said[name]) for name in said):
        return body
    return msgspec.json.encode(parts | {"say": msgspec.Raw(msgspec.json.encode(clean))})


def _scrub_verdicts(source: IO[bytes], folder: Path, name: str, scrub: Scrubber, before: int, after: int) -> None:
    """Rewrite the verdicts on a journal with its new checksum."""
    where = f"{_IN_ATTEMPT}verdicts-*.jsonl"
    first = source.readline(MOST_LINE).removesuffix(b"\n")
    source.seek(0)
    sealed = is_sealed(first)
    head = msgspec.json.decode(unseal(first, 0)[0] if sealed else first, type=dict[str, Any])
    # Earlier versions wrote verdicts without checksums and without the checksum of the journal.
    unnamed = {} if sealed else {"journal": ""}
    known = msgspec.convert(head | unnamed, VerdictsHead)
    if sealed and known.journal != f"{before:08x}":
        raise ValueError(f"expected verdicts on journal {before:08x}, got {known.journal}")
    if name not in known.files:
        raise ValueError(f"expected the verdicts of {known.label} in {known.files[0]} alone")
    clean = head | {
        field: scrub.text(text, where) for field in ("checker", "version", "given") if (text := head.get(field))
    }
    clean |= {"journal": f"{after:08x}"} if sealed else {}
    named = msgspec.convert(clean | unnamed, VerdictsHead).files[known.files.index(name)]
    with (folder / named).open("xb") as sink:
        _seal_again(
            source,
            sink,
            scrub,
            where,
            lambda _: msgspec.json.encode(clean),
            lambda body: scrub.json(body, where),
            sealed=sealed,
        )
