"""The content of a set of files, by file and by run, before the decision whether it makes a campaign."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Any, Unpack

from gapline.contract.choices import InputChoices
from gapline.errors import HorizonError, TraceError, UsageError, listing
from gapline.files.memory import memory_budget
from gapline.logs.archive_members import is_archive, list_members
from gapline.logs.chunk import BATCH, PER_CANDIDATE, Chunk, Job, crashed_run, read_chunk, refused, take_or_refuse
from gapline.logs.formats import all_readers, find_reader
from gapline.logs.log_files import MOST_FILES, Source, cut_sources, find_files, keep_only, look_at
from gapline.logs.naming import LogIdentity, Naming, PathPattern
from gapline.logs.reader import Reader
from gapline.logs.spool import IN_MEMORY, Spool
from gapline.logs.survey_table import MOST_KEPT, FileLines
from gapline.logs.unfinished_import import read_chunks
from gapline.text import as_patterns
from gapline.traces.columns import Dialect

# Below this size (bytes of files, plus the cost of opening each) processes do not pay off: starting two of them takes
# about a second, in which one process reads some 10,000 small logs.
WORTH_A_PROCESS = 96 << 20
_OPENING = 4096


@dataclass(slots=True)
class Survey(Chunk):
    """The findings of an import before the decision whether they make a campaign; `kept` counts files read earlier."""

    kept: int = 0
    keep_going: bool = False

    def all_notes(self) -> list[str]:
        """Return the notes on the import and those on its runs, each once."""
        return list(
            dict.fromkeys([*self.notes, *filter(None, "\n".join(map(str, self.runs.among("notes"))).split("\n"))])
        )

    def add(self, chunk: Chunk) -> None:
        """Append the content of some files."""
        self.files.extend(chunk.files)
        self.runs.extend(chunk.runs)
        self.references += chunk.references
        self.notes += [note for note in chunk.notes if note not in self.notes]
        self.naming.matched += chunk.naming.matched
        self.spool.extend(chunk.spool)
        self.companions += chunk.companions
        self.empty += chunk.empty
        self.beside.update(chunk.beside)


class LogChoices(InputChoices, total=False):
    """How logs are read: options that `import_logs` and `survey_logs` share (described in `import_logs`)."""

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
    progress: Callable[[int, int], None] | None
    executor: Executor | None
    jobs: int
    unfinished: Path | None
    keep_going: bool
    memory: str | int | None


def survey_logs(
    sources: Sequence[str | Path], *, batch: int = BATCH, in_memory: int = IN_MEMORY, **choices: Unpack[LogChoices]
) -> Survey:
    """Read every file and list its content; a file that cannot be read is a line of the survey, not an exception."""
    _refuse_choices(choices)
    format, name = choices.get("format", "auto"), choices.get("name")
    stated: Any = {name: choices[name] for name in InputChoices.__annotations__ if name in choices}  # type: ignore[literal-required]
    dialect = Dialect.parse(choices.get("columns"), choices.get("decimal"), **stated)
    # A table with given column names can have no other format.
    format = "neutral" if format == "auto" and dialect.reshapes else format
    pattern = PathPattern.parse(name) if name else None
    notes = all_readers()[1] if format == "auto" else ()
    if isinstance(format, str) and format != "auto":
        find_reader(format)
    given = LogIdentity(choices.get("arm"), choices.get("instance"), choices.get("seed"), choices.get("panel"))
    folder = choices.get("unfinished")
    # A candidate takes up to 50 bytes, and data that is combined exists twice for a moment.
    in_memory = min(in_memory, memory_budget(choices.get("memory")) // PER_CANDIDATE)
    survey = Survey(
        FileLines(kept=MOST_KEPT),
        notes=list(notes),
        naming=Naming(given, pattern),
        spool=Spool(in_memory=in_memory, folder=folder),
        keep_going=choices.get("keep_going", False),
    )
    listed, others = keep_only(_list_sources(survey, sources), as_patterns(choices.get("only", ())))
    if others:
        shown_others = listing((one.path for one in others), most=5)
        survey.notes.append(f"left out {len(others):,} that --only does not name: {shown_others}")
    job = Job(format, dialect, given, name, choices.get("horizon"), choices.get("sense"), batch, in_memory)
    if choices.get("executor") is not None:
        job = replace(job, root=str(Path.cwd()))
    _read_all(survey, job, listed, choices)
    _settle_waiting(survey, job)
    if pattern and survey.runs and not survey.naming.matched:
        shown_paths = listing((survey.files.paths[place] for place in survey.files.owners()), most=3)
        raise UsageError(f"--name {pattern.text}: expected a pattern that fits some path, got {shown_paths}")
    return survey


def _list_sources(survey: Survey, paths: Sequence[str | Path]) -> list[Source]:
    """List the files, including those in archives."""
    listed: list[Source] = []
    for path in find_files(paths):
        if is_archive(path) and Path(path).is_file():
            inside = list_members(path)
            listed += inside.sources
            survey.notes += [inside.note] if inside.note else []
        else:
            listed.append(Source(path))
    return listed


def _looked_at(listed: list[Source]) -> Iterator[Source]:
    """Yield the sources with their marks and empty the list, to make room in memory for the content."""
    listed.reverse()
    while listed:
        one = listed.pop()
        yield look_at(one.path) if one.inside is None else one


def _read_all(survey: Survey, job: Job, listed: list[Source], choices: LogChoices) -> None:
    """Read the files, here or in processes, and add their content in order."""
    number = len(listed)
    coming = cut_sources(_looked_at(listed))
    # Take as many chunks as it needs to decide whether processes pay off.
    first, worth = list[Sequence[Source]](), 0
    while (worth <= WORTH_A_PROCESS or len(first) < 2) and (some := next(coming, ())):
        first.append(some)
        worth += sum(one.size + _OPENING for one in some)
    is_worth_it = len(first) > 1 and worth > WORTH_A_PROCESS
    progress = choices.get("progress") or (lambda _done, _all: None)
    count = 0

    def report(files: int) -> None:
        nonlocal count
        count += files
        progress(count, number)

    progress(0, number)
    for handed in read_chunks(
        job,
        chain(first, coming),
        folder=survey.spool.folder,
        executor=choices.get("executor") if is_worth_it else None,
        width=choices.get("jobs", 1),
        done=report,
    ):
        chunk = handed.chunk
        # Reading the chunk again is rare, and keeps the stored pieces independent of this option.
        if survey.keep_going and chunk.runs.unnamed():
            chunk = read_chunk(replace(job, refuse_unnamed=True), handed.sources)
        survey.add(chunk)
        survey.kept += len(handed.sources) if handed.kept else 0


def _settle_waiting(survey: Survey, job: Job) -> None:
    """Add empty files as crashed runs, and refuse data without its index, unless an index has named them."""
    job = replace(job, refuse_unnamed=survey.keep_going)
    for start in range(0, len(survey.empty), MOST_FILES):
        for path in survey.empty[start : start + MOST_FILES]:
            if str(Path(path).resolve()) not in survey.beside:
                take_or_refuse(survey, job, path, crashed_run(), "empty")
        survey.spool.flush()
    for path in survey.companions:
        if str(Path(path).resolve()) not in survey.beside:
            alone = TraceError(f"{path}: expected the index file that names it among the sources, got the data alone")
            survey.files.append(refused(path, alone))


def _refuse_choices(choices: LogChoices) -> None:
    if strange := sorted(choices.keys() - LogChoices.__annotations__.keys()):
        raise UsageError(f"import: expected {listing(LogChoices.__annotations__)}, got {listing(strange)}")
    horizon = choices.get("horizon")
    if horizon is not None and not (isfinite(horizon) and horizon > 0):
        raise HorizonError(f"--horizon: expected positive finite seconds, got {horizon}")
