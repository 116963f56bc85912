"""What a set of files holds, file by file and run by run, before it is decided whether that makes a campaign."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import TypedDict, Unpack

import numpy as np

from gapline.capture.dialect import PLAIN, Dialect
from gapline.capture.formats import Detector, UnknownFormatError, all_readers, find_companion, find_reader
from gapline.capture.logfiles import find_files, keep_only, load_file
from gapline.capture.loglines import shown
from gapline.capture.naming import Identity, Naming, PathPattern, overruled
from gapline.capture.reader import Found, FoundRun, LogFile, Reader, SourceReference
from gapline.capture.spool import IN_MEMORY, Spool
from gapline.errors import GaplineError, HorizonError, TraceError, UsageError, listing
from gapline.model.campaign import as_patterns
from gapline.model.diagnostics import MOST_PROBLEMS
from gapline.model.tables import RunStatus, VerdictCode

# Events that wait for a pass together: enough to spread its fixed cost, few enough to be small beside a large file.
BATCH = 500_000
SOLVER_SAYS_SO = "candidates count as valid because the solver said so"
NO_HORIZON = "no horizon stated: give --horizon here or when scoring"
EMPTY = "an empty file is a run that crashed before its first line (--only leaves files out)"
OFF_PATTERN = "its path does not fit --name: named by its log and by options"


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run of the survey: who it is, and what was found of it. `first` and `last` are null for an empty run."""

    path: str
    format: str
    where: str
    identity: Identity
    candidates: int
    first: float | None
    last: float | None
    horizon: float | None
    status: str
    clock: str
    sense: str | None
    stated_integral: tuple[str, float] | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileLine:
    """One file of the survey: its format, the slice of the survey's runs that it holds, and what is wrong with it."""

    path: str
    problem_count: int
    problems: tuple[str, ...]
    format: str | None = None
    first_run: int = 0
    run_count: int = 0
    error: GaplineError | None = None

    @property
    def unknown(self) -> bool:
        """Whether it is of no known format."""
        return isinstance(self.error, UnknownFormatError)


@dataclass(slots=True)
class Survey:
    """What an import found, before it is decided whether that makes a campaign."""

    naming: Naming
    files: list[FileLine] = field(default_factory=list)
    runs: list[RunLine] = field(default_factory=list)
    references: list[tuple[SourceReference, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    companions: list[Path] = field(default_factory=list)
    read_beside: set[Path] = field(default_factory=set)
    spool: Spool = field(default_factory=Spool)

    def all_notes(self) -> list[str]:
        """Return the notes on the whole and those on its runs, each once."""
        return list(dict.fromkeys([*self.notes, *(note for run in self.runs for note in run.notes)]))


class LogChoices(TypedDict, total=False):
    """How logs are read: what `import_logs` and the survey before it take alike (described in `import_logs`)."""

    format: str | Reader
    only: str | Sequence[str]
    columns: str | Mapping[str, str] | None
    decimal: str | None
    name: str | None
    arm: str | None
    instance: str | None
    seed: int | None
    panel: str | None
    horizon: float | None
    sense: str | None
    progress: Callable[[int, int], None] | None


def survey_logs(
    sources: Sequence[str | Path], *, batch: int = BATCH, in_memory: int = IN_MEMORY, **choices: Unpack[LogChoices]
) -> Survey:
    """Read every file and note what is in it; a file that cannot be read is a line of the survey, not an exception."""
    _refuse_choices(choices)
    format, name = choices.get("format", "auto"), choices.get("name")
    dialect = Dialect.parse(choices.get("columns"), choices.get("decimal"))
    # A table whose columns have to be told can be no other format.
    format = "neutral" if format == "auto" and dialect != PLAIN else format
    progress = choices.get("progress") or (lambda _done, _all: None)
    pattern = PathPattern.parse(name) if name else None
    readers, notes = all_readers()
    if format != "auto":
        readers, notes = (format if isinstance(format, Reader) else find_reader(format),), ()
    given = Identity(choices.get("arm"), choices.get("instance"), choices.get("seed"), choices.get("panel"))
    survey = Survey(Naming(given, pattern), notes=list(notes), spool=Spool(in_memory=in_memory))
    detector = Detector(readers)
    only = choices.get("only", ())
    paths, others = keep_only(find_files(sources), as_patterns(only))
    if others:
        shown_others = listing((str(path) for path in others), most=5)
        survey.notes.append(f"left out {len(others):,} that --only does not name: {shown_others}")
    empty: list[Path] = []
    for done, path in enumerate(paths):
        progress(done, len(paths))
        try:
            log = load_file(path, survey.read_beside)
            log = log if dialect is PLAIN else replace(log, dialect=dialect)
            if find_companion(log, readers):
                survey.companions.append(path)
                continue
            if not log.data.strip():
                empty.append(path)
                continue
            reader = readers[0] if format != "auto" else detector.detect(log)
            # Reading may fail in any way; the file becomes a line of the survey, and the folder is read on.
            found = _read_one(log, reader)
            _take(survey, path, found, reader.name, choices)
        except GaplineError as error:
            survey.files.append(_refused(path, error))
            continue
        survey.spool.flush(at_least=batch)
    # At the end, when it is known which of them are empty tables of an index.
    for path in empty:
        if path.resolve() not in survey.read_beside:
            run = FoundRun(time=[], objective=[], status=RunStatus.CRASHED, sense=None, clock="")
            _take(survey, path, Found(runs=[run], notes=[EMPTY]), "empty", choices)
    survey.spool.flush()
    if pattern and survey.runs and not survey.naming.matched:
        shown_paths = listing((run.path for run in survey.runs), most=3)
        raise UsageError(f"--name {pattern.text}: expected a pattern that fits some path, got {shown_paths}")
    for path in survey.companions:
        if path.resolve() not in survey.read_beside:
            alone = TraceError(f"{path}: expected the index file that names it among the sources, got the data alone")
            survey.files.append(_refused(path, alone))
    progress(len(paths), len(paths))
    return survey


def _take(survey: Survey, path: Path, found: Found, format: str, choices: LogChoices) -> None:
    """Add what was found in a file to the survey."""
    matched = survey.naming.matched
    in_path = survey.naming.from_path(str(path))
    off_pattern = [OFF_PATTERN] if survey.naming.pattern and survey.naming.matched == matched else []
    sense, start = choices.get("sense"), len(survey.runs)
    for run in found.runs:
        if run.horizon is None:
            run.horizon = choices.get("horizon")
        # The user's word fills what the log leaves open, and never overrules it.
        if sense is not None and run.sense not in (None, sense) and not run.guessed:
            where = f"{path} {run.where}".rstrip()
            raise UsageError(
                f"--sense {sense}: expected logs that state no other, got {run.sense} in {where}",
                hint="leave --sense out; --negate ARM turns an arm that reports the negated objective",
            )
        run.sense = (sense or run.sense) if run.guessed else (run.sense or sense)
        who = survey.naming.settle(run, in_path)
        # Seeds are settled over all runs, so the batch goes under the number of the run in the survey.
        survey.spool.add_run(run.named(arm="", instance="", seed=len(survey.runs), panel=who.panel))
        notes = [*found.notes, *run.notes, *overruled(run, who), *off_pattern]
        survey.runs.append(_run_line(str(path), format, run, who, notes))
    problems = tuple(found.problems[:MOST_PROBLEMS])
    survey.files.append(FileLine(str(path), found.problem_count, problems, format, start, len(found.runs)))
    survey.references.extend((_renamed(one, found, survey.runs[start:]), str(path)) for one in found.references)
    if not found.runs:
        survey.notes.extend(note for note in found.notes if note not in survey.notes)


def _refuse_choices(choices: LogChoices) -> None:
    if strange := sorted(choices.keys() - LogChoices.__annotations__.keys()):
        raise UsageError(f"import: expected {listing(LogChoices.__annotations__)}, got {listing(strange)}")
    horizon, sense = choices.get("horizon"), choices.get("sense")
    if horizon is not None and not (isfinite(horizon) and horizon > 0):
        raise HorizonError(f"--horizon: expected positive finite seconds, got {horizon}")
    if sense not in (None, "min", "max"):
        raise UsageError(f"--sense: expected min or max, got {sense!r}")


def _read_one(log: LogFile, reader: Reader) -> Found:
    try:
        found = reader.read(log)
    except GaplineError:
        raise
    except Exception as error:
        # A reader that fails is a defect of the reader; it must not take the other files of a folder with it.
        raise TraceError(
            f"{log.path}: the reader of format {reader.name} failed: {type(error).__name__}: {shown(str(error))}"
        ) from error
    if log.cut:
        found.problems.append(f"{log.path}: expected a whole compressed file, got one that ends early")
        if found.runs and found.runs[-1].status in (RunStatus.UNKNOWN, RunStatus.FINISHED):
            found.runs[-1].status = RunStatus.KILLED
    return found


def _renamed(reference: SourceReference, found: Found, lines: Sequence[RunLine]) -> SourceReference:
    """Let a reference follow its instance: the log's own name for it, or "" for the only run of the file."""
    for run, line in zip(found.runs, lines, strict=True):
        known_as = line.identity.instance
        if known_as and (run.instance or "") == reference.instance != known_as:
            return replace(reference, instance=known_as)
    return reference


def _refused(path: Path, error: GaplineError) -> FileLine:
    return FileLine(str(path), 1, (error.message,), error=error)


def _run_line(path: str, format: str, run: FoundRun, who: Identity, notes: list[str]) -> RunLine:
    time = np.asarray(run.time, np.float64)
    if run.verdict is not None:
        time = time[np.asarray(run.verdict) != VerdictCode.BOUND]
    stamped = time[np.isfinite(time)]
    first, last = (float(stamped.min()), float(stamped.max())) if len(stamped) else (None, None)
    own = {name: getattr(run, name) for name in ("where", "horizon", "status", "clock", "sense", "stated_integral")}
    if run.horizon is None:
        notes.append(NO_HORIZON)
    if run.carried.get("validation", "solver") == "solver":
        notes.append(SOLVER_SAYS_SO)
    counts = {"candidates": len(time), "first": first, "last": last, "notes": tuple(dict.fromkeys(notes))}
    return RunLine(path=path, format=format, identity=who, **counts, **own)  # type: ignore[arg-type]
