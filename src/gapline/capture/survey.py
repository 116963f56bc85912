"""What a set of files holds, file by file and run by run, before it is decided whether that makes a campaign."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import TypedDict, Unpack

import numpy as np

from gapline.capture.assemble import RunTrace, campaign_from_traces
from gapline.capture.formats import Detector, UnknownFormatError, all_readers, find_companion, find_reader
from gapline.capture.logfiles import find_files, load_file
from gapline.capture.loglines import shown
from gapline.capture.naming import Identity, Naming, PathPattern
from gapline.capture.reader import Found, FoundRun, Reader, SourceReference
from gapline.capture.spool import IN_MEMORY, Spool
from gapline.errors import GaplineError, HorizonError, TraceError, UsageError, listing
from gapline.model.diagnostics import MOST_PROBLEMS
from gapline.model.tables import RunStatus, VerdictCode

# Events that wait for a pass together: enough to spread its fixed cost, few enough to be small beside a large file.
BATCH = 500_000
SENSES = ("min", "max")


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


@dataclass(frozen=True, slots=True)
class FileLine:
    """One file of the survey: its format, the slice of the survey's runs that it holds, and what is wrong with it."""

    path: str
    format: str | None
    first_run: int
    run_count: int
    problem_count: int
    problems: tuple[str, ...]
    error: GaplineError | None = None
    unknown: bool = False


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


@dataclass(slots=True)
class _Waiting:
    """Runs that wait for the next batch, so that a folder of small files pays the cost of a pass once."""

    spool: Spool
    traces: list[RunTrace] = field(default_factory=list)
    events: int = 0

    def add(self, trace: RunTrace, events: int) -> None:
        self.traces.append(trace)
        self.events += events

    def flush(self, *, at_least: int) -> None:
        if self.traces and self.events >= at_least:
            self.spool.add(campaign_from_traces(self.traces))
            self.traces, self.events = [], 0


class LogChoices(TypedDict, total=False):
    """How logs are read: what `import_logs` and the survey before it take alike (described in `import_logs`)."""

    format: str | Reader
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
    horizon, sense, progress = choices.get("horizon"), choices.get("sense"), choices.get("progress")
    pattern = PathPattern.parse(name) if name else None
    readers, notes = all_readers()
    if format != "auto":
        readers, notes = (format if isinstance(format, Reader) else find_reader(format),), ()
    given = Identity(choices.get("arm"), choices.get("instance"), choices.get("seed"), choices.get("panel"))
    survey = Survey(Naming(given, pattern), notes=list(notes), spool=Spool(in_memory=in_memory))
    detector = Detector(readers)
    paths = find_files(sources)
    waiting = _Waiting(survey.spool)
    for done, path in enumerate(paths):
        if progress:
            progress(done, len(paths))
        try:
            found, reader = _read_one(path, detector, chosen=format != "auto", survey=survey)
            if found is None or reader is None:
                continue
            in_path = survey.naming.from_path(str(path))
        except GaplineError as error:
            survey.files.append(_refused(path, error))
            continue
        start = len(survey.runs)
        for run in found.runs:
            if run.horizon is None:
                run.horizon = horizon
            # The user's word on the direction overrules the log's; his horizon only fills what the log leaves open.
            run.sense = sense or run.sense
            who = survey.naming.settle(run, in_path)
            # Seeds are settled over all runs, so the batch goes under the number of the run in the survey.
            waiting.add(run.named(arm="", instance="", seed=len(survey.runs), panel=who.panel), len(run.time))
            survey.runs.append(_run_line(str(path), reader, run, who))
        survey.files.append(
            FileLine(
                path=str(path),
                format=reader.name,
                first_run=start,
                run_count=len(found.runs),
                problem_count=found.problem_count,
                problems=tuple(found.problems[:MOST_PROBLEMS]),
            )
        )
        survey.references.extend((_renamed(one, found, survey.runs[start:]), str(path)) for one in found.references)
        survey.notes.extend(note for note in found.notes if note not in survey.notes)
        waiting.flush(at_least=batch)
    waiting.flush(at_least=0)
    for path in survey.companions:
        if path.resolve() not in survey.read_beside:
            alone = TraceError(f"{path}: expected the index file that names it among the sources, got the data alone")
            survey.files.append(_refused(path, alone))
    if progress:
        progress(len(paths), len(paths))
    return survey


def _refuse_choices(choices: LogChoices) -> None:
    if strange := sorted(choices.keys() - LogChoices.__annotations__.keys()):
        raise UsageError(f"import: expected {listing(LogChoices.__annotations__)}, got {listing(strange)}")
    horizon, sense = choices.get("horizon"), choices.get("sense")
    if horizon is not None and not (isfinite(horizon) and horizon > 0):
        raise HorizonError(f"--horizon: expected positive finite seconds, got {horizon}")
    if sense is not None and sense not in SENSES:
        raise UsageError(f"--sense: expected min or max, got {sense!r}")


def _read_one(path: Path, detector: Detector, *, chosen: bool, survey: Survey) -> tuple[Found | None, Reader | None]:
    log = load_file(path, survey.read_beside)
    if find_companion(log, detector.readers):
        survey.companions.append(path)
        return None, None
    reader = detector.readers[0] if chosen else detector.detect(log)
    try:
        found = reader.read(log)
    except GaplineError:
        raise
    except Exception as error:
        # A reader that fails is a defect of the reader; it must not take the other files of a folder with it.
        raise TraceError(
            f"{path}: the reader of format {reader.name} failed: {type(error).__name__}: {shown(str(error))}"
        ) from error
    if log.cut:
        found.problems.append(f"{path}: expected a whole compressed file, got one that ends early")
        if found.runs and found.runs[-1].status in (RunStatus.UNKNOWN, RunStatus.FINISHED):
            found.runs[-1].status = RunStatus.KILLED.value
    return found, reader


def _renamed(reference: SourceReference, found: Found, lines: Sequence[RunLine]) -> SourceReference:
    """Let a reference follow its instance: the log's own name for it, or "" for the only run of the file."""
    for run, line in zip(found.runs, lines, strict=True):
        known_as = line.identity.instance
        if known_as and (run.instance or "") == reference.instance != known_as:
            return replace(reference, instance=known_as)
    return reference


def _refused(path: Path, error: GaplineError) -> FileLine:
    return FileLine(
        path=str(path),
        format=None,
        first_run=0,
        run_count=0,
        problem_count=1,
        problems=(error.message,),
        error=error,
        unknown=isinstance(error, UnknownFormatError),
    )


def _run_line(path: str, reader: Reader, run: FoundRun, who: Identity) -> RunLine:
    time = np.asarray(run.time, np.float64)
    if run.verdict is not None:
        time = time[np.asarray(run.verdict) != VerdictCode.BOUND]
    candidates = len(time)
    low, high = (float(time.min()), float(time.max())) if candidates else (np.nan, np.nan)
    if candidates and not isfinite(low + high):
        stamped = time[np.isfinite(time)]
        low, high = (float(stamped.min()), float(stamped.max())) if len(stamped) else (np.nan, np.nan)
    first, last = (low, high) if isfinite(low) else (None, None)
    return RunLine(
        path, reader.name, run.where, who, candidates, first, last, run.horizon, run.status, run.clock, run.sense,
        run.stated_integral,
    )  # fmt: skip
