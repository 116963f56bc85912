"""Read a chunk of logs in one task, in this process or another; the result can be merged with other chunks."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from gapline.campaign.diagnostics import MOST_PROBLEMS
from gapline.contract.fact_origins import COLUMN, FactOrigin, read_origins, write_origins
from gapline.contract.tables import RunStatus, VerdictCode
from gapline.errors import GaplineError, TraceError, UsageError
from gapline.files.memory import limited_memory
from gapline.files.scratch_arrays import spans
from gapline.logs.archive_members import Openings
from gapline.logs.formats import Detector, all_readers, find_reader
from gapline.logs.lines import shown
from gapline.logs.log_files import Source, marks_of
from gapline.logs.naming import LogIdentity, Naming, PathPattern, overruled, refuse_missing
from gapline.logs.reader import HEAD, Found, FoundRun, LogFile, Reader, SourceReference
from gapline.logs.spool import IN_MEMORY, STEP, Spool
from gapline.logs.survey_table import FileLine, FileLines, RunLine, RunLines
from gapline.text import printable, writable
from gapline.traces.candidate_checks import FAR
from gapline.traces.columns import PLAIN, Dialect
from gapline.traces.time_units import IN_WORDS, unit_of_number

# Bytes of the memory budget for each candidate in memory.
PER_CANDIDATE = 128
# Events that are processed together: enough to spread the fixed cost of a pass, but small compared with a large file.
BATCH = 500_000
_BOUND = int(VerdictCode.BOUND)
# Number of candidates of a run, and the first and the last time stamp among them.
_Stamped = tuple[int, float | None, float | None]
SOLVER_SAYS_SO = "candidates count as valid because the solver said so"
NO_HORIZON = "no horizon stated: give --horizon here or when scoring"
EMPTY = "an empty file is a run that crashed before its first line (--only leaves files out)"
OFF_PATTERN = "its path does not fit --name: named by its log and by options"


@dataclass(frozen=True, slots=True)
class Job:
    """How to read and name logs: everything that a task has to know, the same for every chunk.

    Relative paths start at `root`, which workers may need.
    With `refuse_unnamed`, a file with a run without arm or instance is refused; otherwise they are refused together.
    """

    format: str | Reader = "auto"
    dialect: Dialect = PLAIN
    given: LogIdentity = field(default_factory=LogIdentity)
    pattern: str | None = None
    horizon: float | None = None
    sense: str | None = None
    batch: int = BATCH
    in_memory: int = IN_MEMORY
    refuse_unnamed: bool = False
    root: str = ""


@dataclass(slots=True)
class Chunk:
    """The content of some logs.

    Companions and empty files wait until all chunks are known, because an index in another chunk may name them.
    `beside` maps files that were read as companions to their marks.
    """

    files: FileLines = field(default_factory=FileLines)
    runs: RunLines = field(init=False)
    references: list[tuple[SourceReference, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    naming: Naming = field(default_factory=Naming)
    companions: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    beside: dict[str, tuple[int, ...]] = field(default_factory=dict)
    spool: Spool = field(default_factory=Spool)

    def __post_init__(self) -> None:
        self.runs = RunLines(self.files)


def read_chunk(job: Job, sources: Sequence[Source], *, done: Callable[[], None] = lambda: None) -> Chunk:
    """Read some logs; a file that cannot be read becomes a line of the survey, not an exception."""
    pattern = PathPattern.parse(job.pattern) if job.pattern else None
    chunk = Chunk(naming=Naming(job.given, pattern), spool=Spool(in_memory=job.in_memory))
    readers = all_readers()[0]
    if job.format != "auto":
        readers = (job.format if isinstance(job.format, Reader) else find_reader(job.format),)
    detector = Detector(readers)
    seen: set[Path] = set()
    with limited_memory(job.in_memory * PER_CANDIDATE), Openings(sources, job.root) as openings:
        for source in sources:
            try:
                with openings.log(source, seen) as log:
                    log.dialect = job.dialect
                    head = log.head[:HEAD]
                    if any(reader.is_companion(log.path, head) for reader in readers):
                        chunk.companions.append(source.path)
                    elif log.is_blank:
                        chunk.empty.append(source.path)
                    else:
                        reader = readers[0] if job.format != "auto" else detector.detect(log)
                        # Reading may fail in any way; the file becomes a line of the survey, and the others are read.
                        take(chunk, job, log.path, _read_one(log, reader), reader.name)
            except GaplineError as error:
                chunk.files.append(refused(source.path, error))
            chunk.spool.flush(at_least=job.batch)
            done()
    chunk.spool.flush()
    chunk.beside = {str(path): marks_of(path) for path in sorted(seen)}
    return chunk


def crashed_run() -> Found:
    """Return the content of an empty file: a run that crashed."""
    run = FoundRun(time=[], objective=[], status=RunStatus.CRASHED, sense=None, clock="")
    return Found(runs=[run], notes=[EMPTY])


def take(chunk: Chunk, job: Job, path: str, found: Found, format: str) -> None:
    """Add the content of a file; if it is refused, nothing of it is added."""
    naming, matched = chunk.naming, chunk.naming.matched
    in_path = naming.from_path(path)
    off_pattern = [OFF_PATTERN] if naming.pattern and naming.matched == matched else []
    sense, lines = job.sense, list[RunLine]()
    settled = [naming.settle(run, in_path) for run in found.runs]
    for run, who in zip(found.runs, settled, strict=True):
        # The option fills gaps of the log, but never overrules the log.
        if sense is not None and run.sense not in (None, sense) and not run.guessed:
            where = f"{path} {run.where}".rstrip()
            raise UsageError(
                f"--sense {sense}: expected logs that state no other, got {run.sense} in {where}",
                hint="leave --sense out; --negate ARM turns an arm that reports the negated objective",
            )
        for name in (who.arm, who.instance, who.panel):
            # From a path that is not UTF-8, which no table could store.
            if name is not None and not name.isascii() and name != writable(name):
                raise TraceError(f"{printable(path)}: expected names in UTF-8, got {name!a}")
        if job.refuse_unnamed:
            refuse_missing([who], [f"{path} {run.where}".rstrip()], pattern=naming.pattern)
    for run, who in zip(found.runs, settled, strict=True):
        # Before the horizon is filled in, because afterwards its origin is unknown.
        run.carried = {**run.carried, COLUMN: write_origins(_origins(run, job, format))}
        stamped, late = _stamped(run), []
        if run.horizon is None and job.horizon is not None:
            run.horizon, late = job.horizon, _far_late(stamped, job.horizon, format)
        run.sense = (sense or run.sense) if run.guessed else (run.sense or sense)
        # Seeds are settled later, over all runs, so the number of the run in the chunk stands in for the seed.
        chunk.spool.add_run(run.named(arm="", instance="", seed=len(chunk.runs) + len(lines), panel=who.panel))
        notes = [*found.notes, *run.notes, *overruled(run, who), *off_pattern, *late]
        if run.horizon is None:
            notes.append(NO_HORIZON)
        if run.carried.get("validation", "solver") == "solver":
            notes.append(SOLVER_SAYS_SO)
        kernel, integral = run.stated_integral or (None, None)
        facts = (who.instance, who.seed, integral, *stamped, run.horizon, format, run.where, who.arm, who.panel)
        said = "\n".join(dict.fromkeys(notes))
        lines.append(RunLine(*facts, run.status, run.clock, run.sense, kernel, said))
    problems = tuple(found.problems[:MOST_PROBLEMS])
    chunk.files.append(FileLine(path, found.problem_count, problems, format, run_count=len(lines)))
    for line in lines:
        chunk.runs.append(line)
    chunk.references.extend((_renamed(one, found, lines), path) for one in found.references)
    if not found.runs:
        chunk.notes.extend(note for note in found.notes if note not in chunk.notes)


def _origins(run: FoundRun, job: Job, format: str) -> dict[str, FactOrigin]:
    """Return the origin of each known fact of a run: its log or table, or an option if that does not state it."""
    source = FactOrigin.FILE if format == "neutral" else FactOrigin.LOG
    word = run.carried.get("validation", "solver")
    stated = {
        "clock": run.clock,
        "horizon": run.horizon,
        "sense": None if run.guessed and job.sense else run.sense,
        # A table without verdicts says nothing; a log is the solver's own statement.
        "validation": None if word == "solver" and source is FactOrigin.FILE else word,
        "threads": run.carried.get("threads"),
        "machine": run.carried.get("machine"),
    }
    given = {"horizon": job.horizon, "sense": job.sense}
    origins = {fact: source for fact, value in stated.items() if value}
    options = {fact: FactOrigin.OPTION for fact, value in given.items() if value and fact not in origins}
    # Exported tables state the origins of their facts themselves.
    return origins | read_origins(run.carried.get(COLUMN)) | options


def take_or_refuse(chunk: Chunk, job: Job, path: str, found: Found, format: str) -> None:
    """Add the content of a file, or a line with its error if it is refused."""
    try:
        take(chunk, job, path, found, format)
    except GaplineError as error:
        chunk.files.append(refused(path, error))


def refused(path: str, error: GaplineError) -> FileLine:
    """Return the survey line of a file that cannot be read."""
    return FileLine(path, 1, (error.message,), error=error)


def _read_one(log: LogFile, reader: Reader) -> Found:
    try:
        found = reader.read(log)
    except GaplineError:
        raise
    except Exception as error:
        # Any failure of a reader is a defect of the reader; it must not stop the other files of a folder.
        raise TraceError(
            f"{log.path}: the reader of format {reader.name} failed: {type(error).__name__}: {shown(str(error))}"
        ) from error
    if log.cut:
        found.refuse_cut(log.path)
        if found.runs and found.runs[-1].status in (RunStatus.UNKNOWN, RunStatus.FINISHED):
            found.runs[-1].status = RunStatus.KILLED
    return found


def _renamed(reference: SourceReference, found: Found, lines: Sequence[RunLine]) -> SourceReference:
    """Rename the instance of a reference like that of its run; "" is the only run of the file."""
    for run, line in zip(found.runs, lines, strict=True):
        known_as = line.instance
        if known_as and (run.instance or "") == reference.instance != known_as:
            return replace(reference, instance=known_as)
    return reference


def _far_late(stamped: _Stamped, horizon: float, format: str) -> list[str]:
    """Return a note if candidates are far later than a horizon that their log does not state."""
    _, first, last = stamped
    if first is None or last is None or last <= FAR * horizon:
        return []
    # Only a table may use another unit than its reader expects.
    unit = unit_of_number(last, first, FAR * horizon) if format == "neutral" else None
    fix = f"; if times are {IN_WORDS[unit]}, read them with --time-unit {unit}" if unit else ""
    return [f"candidates are later than {FAR:g} times the horizon of {horizon:g} s, which only --horizon states{fix}"]


def _stamped(run: FoundRun) -> _Stamped:
    """Return the number of candidates, and the first and the last time stamp among them."""
    count, first, last = 0, np.inf, -np.inf
    for part in spans(len(run.time), most=STEP):
        time = np.asarray(run.time[part], np.float64)
        if run.bound is not None and run.verdict is not None and _BOUND in (verdict := np.asarray(run.verdict[part])):
            time = time[verdict != _BOUND]
        count += len(time)
        if not len(time):
            continue
        low, high = float(time.min()), float(time.max())
        if not (math.isfinite(low) and math.isfinite(high)):
            stamped = time[np.isfinite(time)]
            low, high = float(stamped.min(initial=np.inf)), float(stamped.max(initial=-np.inf))
        first, last = min(first, low), max(last, high)
    return (count, float(first), float(last)) if first <= last else (count, None, None)
