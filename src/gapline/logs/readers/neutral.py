"""gapline's own recordings and traces (CSV, JSONL, Parquet, Arrow); missing identity columns come from the path."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import msgspec
import polars as pl

from gapline.campaign.campaign import Campaign
from gapline.contract.tables import RUN_KEY, RUNS, RunStatus
from gapline.errors import TraceError
from gapline.logs.lines import shown
from gapline.logs.reader import Found, FoundRun, LogFile, Reader
from gapline.traces.blocks import Fault, line_blocks
from gapline.traces.columns import header_names, is_neutral
from gapline.traces.neutral import campaign_from_pieces, neutral_format
from gapline.traces.recording import begins_a_run
from gapline.traces.recordings import is_recorded, read_recorded
from gapline.traces.table_formats import Cells, read_pieces

_EVENTS = ("time", "objective")
# Placeholders for columns that the file does not have, used only while it is read.
_PLACEHOLDER: dict[str, str | int] = {"arm": "-", "instance": "-", "seed": 0}
_MAGIC = {b"PAR1": "parquet", b"ARRO": "arrow", b"\xff\xff\xff\xff": "arrow"}
_OPTIONAL = ("bound", "claimed", "primary", "secondary")


def _form(head: bytes) -> str | None:
    """Return the neutral format of a file's head, or None."""
    if head[:4] in _MAGIC:
        return _MAGIC[head[:4]]
    first = next((line for line in head.splitlines() if line.strip()), b"")
    if first.lstrip().startswith(b"{"):
        try:
            keys = msgspec.json.decode(first, type=dict[str, msgspec.Raw])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        return "jsonl" if all(name in keys for name in _EVENTS) else None
    return "csv" if is_neutral(header_names(first)) else None


def _read(log: LogFile) -> Found:
    if begins_a_run(log.head):
        return _read_recording(log)
    form = _form(log.head[: 1 << 20])
    if form is None and log.dialect.reshapes:
        form = neutral_format(Path(log.path)) or ("jsonl" if log.head.lstrip()[:1] == b"{" else "csv")
    if form is None:
        line = log.head[:240].split(b"\n")[0]
        raise TraceError(f"{log.path}: expected columns time and objective as CSV, JSONL or Parquet, got {shown(line)}")
    found = Found()
    torn = form == "jsonl" and (end := _torn_at(log, found)) is not None
    content = log.content(end if torn else None) if form in ("csv", "jsonl") else log.file() or log.data
    pieces = read_pieces(content, form=form, source=log.path, dialect=log.dialect)
    first = next(pieces)
    stated = {name.strip().lower() for name in first.table.columns} | log.dialect.columns.keys()
    silent = [name for name in RUN_KEY if name not in stated]
    if len(silent) == len(RUN_KEY) and first.table.height == 0:
        # Columns without rows: a run that found nothing.
        found.runs.append(FoundRun(time=[], objective=[], sense=None))
        return found
    # Without arm and instance, it is the log of one run; with them, missing seeds are numbered by the table reader.
    placed = silent if len(silent) == len(RUN_KEY) else [name for name in silent if name != "seed"]
    waiting = [first]
    del first

    def placed_pieces() -> Iterator[Cells]:
        nonlocal torn
        # Releases each piece once it is read.
        for piece in chain((waiting.pop() for _ in range(1)), pieces):
            torn |= any(row.fault is Fault.CUT for row in piece.broken.values())
            yield _placed(piece, placed)

    one_run = len(placed) == len(RUN_KEY)
    campaign = campaign_from_pieces(placed_pieces(), source=log.path, dialect=log.dialect, one_run=one_run)
    if (campaign.runs["seed"] != 0).any():
        silent = [name for name in silent if name != "seed"]
    found.problems.extend(campaign.diagnostics.problems)
    found.problems.unlisted = campaign.diagnostics.problem_count - len(campaign.diagnostics.problems)
    found.notes.extend(note for note in campaign.diagnostics.notes if "the solver said so" not in note)
    _split(campaign, silent, found)
    if torn and found.runs and found.runs[-1].status == RunStatus.UNKNOWN:
        found.runs[-1].status = RunStatus.KILLED.value
    return found


def _read_recording(log: LogFile) -> Found:
    """Read a recording of `gapline.record`; whether its run goes on can be seen only from the original file."""
    if not is_recorded(Path(log.path)):
        raise TraceError(
            f"{log.path}: expected a recording that lies in a folder, got one that is compressed or in an archive",
            hint="unpack it first",
        )
    found, campaign = Found(), read_recorded(Path(log.path))
    found.problems.extend(campaign.diagnostics.problems)
    found.problems.unlisted = campaign.diagnostics.problem_count - len(campaign.diagnostics.problems)
    found.notes.extend(campaign.diagnostics.notes)
    _split(campaign, [], found)
    return found


def _torn_at(log: LogFile, found: Found) -> int | None:
    """Return where the last line of a JSONL file begins if the file ends inside it, otherwise None."""
    content = log.content()
    if content[-1:] in (b"", b"\n", b"\r"):
        return None
    start = content.rfind(b"\n") + 1
    last = content[start:]
    try:
        msgspec.json.decode(last, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        number = sum(block.count(b"\n") for block in line_blocks(content, source=log.path)) + 1
        found.refuse_torn(f"{log.path}:{number}", last)
        return start
    return None


def _placed(piece: Cells, names: list[str]) -> Cells:
    """Return a piece with placeholder columns for those that its file does not have."""
    return piece._replace(table=piece.table.with_columns(pl.lit(_PLACEHOLDER[name]).alias(name) for name in names))


def _split(campaign: Campaign, silent: list[str], found: Found) -> None:
    """Add each run separately, without the parts of its identity that the file does not state."""
    extras = [name for name in campaign.runs.columns if name not in (*RUNS, "import_notes")]
    for row in campaign.runs.iter_rows(named=True):
        part = slice(row["first"], row["first"] + row["count"])
        run = FoundRun(
            time=campaign.time[part],
            objective=campaign.objective[part],
            verdict=campaign.verdict[part],
            # A campaign fills in `all`: for the importer, that must count as not stated.
            panel=row["panel"] if row["panel"] != "all" else None,
            horizon=row["horizon"],
            status=row["status"],
            clock=row.get("clock") or "",
            resolution=row.get("resolution"),
            sense=row.get("sense"),
            carried={name: row[name] for name in extras if name != "sense"},
            notes=tuple(own.split("\n")) if (own := row.get("import_notes")) else (),
            where="/".join(str(row[name]) for name in RUN_KEY if name not in silent),
            **{name: row[name] for name in RUN_KEY if name not in silent},
            **{name: column[part] for name in _OPTIONAL if (column := getattr(campaign, name)) is not None},
        )
        if campaign.reason is not None and (codes := campaign.reason[part]).any():
            run.reason = [campaign.reasons[code] for code in codes.tolist()]
        found.runs.append(run)


READER = Reader(
    "neutral",
    "gapline's own traces: CSV, JSONL, Parquet, Arrow",
    lambda _path, head: _form(head) is not None or begins_a_run(head),
    _read,
)
