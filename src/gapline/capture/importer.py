"""`import_logs`: files of any known format in, one campaign out, with everything that could not be read named."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from gapline.capture.assemble import RunTrace, campaign_from_traces
from gapline.capture.formats import all_readers, detect, find_companion, find_reader
from gapline.capture.logfiles import find_files, load_file
from gapline.capture.naming import Identity, Naming, PathPattern, refuse_missing, settle_seeds
from gapline.capture.reader import Found, FoundRun, LogFile, Reader, SourceReference
from gapline.capture.spool import Spool
from gapline.errors import GaplineError, HorizonError, TraceError, UsageError, listing
from gapline.model.campaign import Campaign
from gapline.model.diagnostics import MOST_PROBLEMS, Diagnostics
from gapline.model.tables import RunKey, RunStatus, VerdictCode

# Events that wait for a pass together: enough to spread its fixed cost, few enough to be small beside a large file.
BATCH = 500_000
SOLVER_SAYS_SO = "candidates count as valid because the solver said so"


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
    sense: str
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
    references: list[SourceReference] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    companions: list[str] = field(default_factory=list)
    spool: Spool = field(default_factory=Spool)


@dataclass(frozen=True, slots=True)
class Imported:
    """A campaign, the references its logs carry, and the integrals they print of themselves."""

    campaign: Campaign
    references: tuple[SourceReference, ...]
    stated_integrals: dict[RunKey, tuple[str, float]]
    files: tuple[FileLine, ...]


def import_logs(
    sources: Sequence[str | Path],
    *,
    format: str = "auto",  # noqa: A002 - the word of the command line
    name: str | None = None,
    arm: str | None = None,
    instance: str | None = None,
    seed: int | None = None,
    panel: str | None = None,
    horizon: float | None = None,
    number_runs: bool = False,
    allow_mixed_clocks: bool = False,
    skip_unknown: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Imported:
    """Read logs of others into a campaign.

    Parameters
    ----------
    sources
        Files and folders; .gz and .zst are unpacked.
    format
        A format's name, or "auto" to look at the head of each file.
    name
        A path pattern such as `{arm}/{instance}-s{seed}.log`, matched against the tail of each path.
    arm, instance, seed, panel
        Given for all runs; they overrule the pattern, which overrules the log.
    horizon
        Seconds, for runs whose log states none.
    number_runs
        Number runs that share arm and instance and state no seed 0, 1, 2, … in file order.
    allow_mixed_clocks
        Take CPU and wall clocks into one campaign.
    skip_unknown
        Leave out files of no known format, and say which.
    progress
        Called with (files done, files in all).
    """
    survey = survey_logs(
        sources,
        format=format,
        name=name,
        arm=arm,
        instance=instance,
        seed=seed,
        panel=panel,
        horizon=horizon,
        progress=progress,
    )
    return build_import(
        survey, number_runs=number_runs, allow_mixed_clocks=allow_mixed_clocks, skip_unknown=skip_unknown
    )


def survey_logs(
    sources: Sequence[str | Path],
    *,
    format: str = "auto",  # noqa: A002
    name: str | None = None,
    arm: str | None = None,
    instance: str | None = None,
    seed: int | None = None,
    panel: str | None = None,
    horizon: float | None = None,
    progress: Callable[[int, int], None] | None = None,
    batch: int = BATCH,
) -> Survey:
    """Read every file and note what is in it; a file that cannot be read is a line of the survey, not an exception."""
    if horizon is not None and not (np.isfinite(horizon) and horizon > 0):
        raise HorizonError(f"--horizon: expected positive finite seconds, got {horizon}")
    pattern = PathPattern.parse(name) if name else None
    readers, notes = all_readers() if format == "auto" else ((find_reader(format),), ())
    survey = Survey(Naming(Identity(arm, instance, seed, panel), pattern), notes=list(notes))
    paths = find_files(sources)
    waiting: list[RunTrace] = []
    events = 0
    for done, path in enumerate(paths):
        if progress:
            progress(done, len(paths))
        try:
            found, reader = _read_one(path, readers, chosen=format != "auto", survey=survey)
            if found is None or reader is None:
                continue
            given = survey.naming.from_path(str(path))
        except (GaplineError, RecursionError, MemoryError) as error:
            survey.files.append(_refused(path, error))
            continue
        start = len(survey.runs)
        for run in found.runs:
            if run.horizon is None:
                run.horizon = horizon
            who = survey.naming.settle(run, given)
            # Seeds are settled over all runs, so the batch goes under the number of the run in the survey.
            waiting.append(run.named(arm="", instance="", seed=len(survey.runs), panel=who.panel))
            survey.runs.append(_run_line(str(path), reader, run, who))
            events += len(run.time)
        survey.files.append(
            FileLine(
                path=str(path),
                format=reader.name,
                first_run=start,
                run_count=len(found.runs),
                problem_count=len(found.problems) + found.unlisted,
                problems=tuple(found.problems[:MOST_PROBLEMS]),
            )
        )
        survey.references.extend(found.references)
        survey.notes.extend(note for note in found.notes if note not in survey.notes)
        if events >= batch:
            survey.spool.add(campaign_from_traces(waiting))
            waiting, events = [], 0
    if waiting:
        survey.spool.add(campaign_from_traces(waiting))
    if progress:
        progress(len(paths), len(paths))
    return survey


def build_import(
    survey: Survey, *, number_runs: bool = False, allow_mixed_clocks: bool = False, skip_unknown: bool = False
) -> Imported:
    """Turn a survey into a campaign, or raise one error that says all of what is missing."""
    _refuse_unreadable(survey, skip_unknown=skip_unknown)
    identities = [run.identity for run in survey.runs]
    where = [f"{run.path} {run.where}".rstrip() for run in survey.runs]
    if not survey.runs:
        raise TraceError(f"expected runs, got none in {listing((file.path for file in survey.files), most=5)}")
    refuse_missing(identities, where, pattern=survey.naming.pattern)
    seeds, seed_notes = settle_seeds(identities, where, number_runs=number_runs)
    keys = [RunKey(who.arm or "", who.instance or "", seed) for who, seed in zip(identities, seeds, strict=True)]
    _refuse_twins(keys, where)
    sense = _only("sense", [(run.sense, run.path) for run in survey.runs])
    if not allow_mixed_clocks:
        _only("clock", [(run.clock, run.path) for run in survey.runs], hint="--allow-mixed-clocks takes them all")
    references = _agreeing(survey.references, sense)
    problems = [problem for file in survey.files for problem in file.problems]
    notes = [*survey.notes, *survey.naming.notes(), *seed_notes]
    if skipped := [file.path for file in survey.files if file.unknown]:
        notes.append(f"{len(skipped):,} files of no known format were left out: {listing(skipped, most=5)}")
    if without := sum(run.horizon is None for run in survey.runs):
        notes.append(f"{without:,} runs state no horizon: give --horizon here or when scoring")
    known = survey.spool.diagnostics
    diagnostics = Diagnostics(
        **{name: getattr(known, name) for name in ("runs", "empty", "candidates", "rejected", "unchecked")},
        **{name: getattr(known, name) for name in ("unordered", "duplicate", "late")},
        sources=tuple(file.path for file in survey.files if file.error is None),
        problems=tuple(problems[:MOST_PROBLEMS]),
        problem_count=sum(file.problem_count for file in survey.files),
        notes=tuple(dict.fromkeys(notes)),
    )
    formats = sorted({run.format for run in survey.runs})
    campaign = survey.spool.finish(
        pl.DataFrame(keys, schema={"arm": pl.String, "instance": pl.String, "seed": pl.Int64}, orient="row"),
        facts={"sense": sense, "source format": ", ".join(formats)},
        diagnostics=diagnostics,
    )
    campaign = _with_notes(campaign, _notes_on_objectives(campaign, sense))
    stated = {key: run.stated_integral for key, run in zip(keys, survey.runs, strict=True) if run.stated_integral}
    return Imported(campaign, references, stated, tuple(survey.files))


def _read_one(
    path: Path, readers: Sequence[Reader], *, chosen: bool, survey: Survey
) -> tuple[Found | None, Reader | None]:
    log = load_file(path)
    if find_companion(log, readers):
        survey.companions.append(str(path))
        return None, None
    reader = readers[0] if chosen else detect(log, readers)
    found = reader.read(log)
    if log.cut:
        found.problems.append(f"{path}: expected a whole compressed file, got one that ends early")
        if found.runs and found.runs[-1].status in (RunStatus.UNKNOWN, RunStatus.FINISHED):
            found.runs[-1].status = RunStatus.KILLED.value
    return found, reader


def _refused(path: Path, error: BaseException) -> FileLine:
    wrapped = (
        error if isinstance(error, GaplineError) else TraceError(f"{path}: cannot be read: {type(error).__name__}")
    )
    return FileLine(
        path=str(path),
        format=None,
        first_run=0,
        run_count=0,
        problem_count=1,
        problems=(wrapped.message,),
        error=wrapped,
        unknown="expected a known format" in wrapped.message or "got an empty file" in wrapped.message,
    )


def _run_line(path: str, reader: Reader, run: FoundRun, who: Identity) -> RunLine:
    time = np.asarray(run.time, np.float64)
    candidates = len(time)
    if run.verdict is not None:
        time = time[np.asarray(run.verdict) != VerdictCode.BOUND]
        candidates = len(time)
    first = last = None
    if candidates:
        low, high = float(time.min()), float(time.max())
        if low != low:  # NaN stamps poison min and max
            time = time[np.isfinite(time)]
            low, high = (float(time.min()), float(time.max())) if len(time) else (np.nan, np.nan)
        first, last = (low, high) if low == low else (None, None)
    return RunLine(
        path, reader.name, run.where, who, candidates, first, last, run.horizon, run.status, run.clock, run.sense,
        run.stated_integral,
    )  # fmt: skip


def _refuse_unreadable(survey: Survey, *, skip_unknown: bool) -> None:
    refused = [file for file in survey.files if file.error and not (skip_unknown and file.unknown)]
    if not refused:
        return
    first = refused[0].error
    assert first is not None
    if len(refused) == 1:
        raise first
    shown = "\n  ".join(file.problems[0] for file in refused[:8])
    more = f"\n  and {len(refused) - 8:,} more" if len(refused) > 8 else ""
    hint = first.hint
    if all(file.unknown for file in refused):
        hint = "leave files of no known format out with --skip-unknown, or name the format with --format"
    raise type(first)(f"{len(refused):,} of {len(survey.files):,} files cannot be read:\n  {shown}{more}", hint=hint)


def _refuse_twins(keys: Sequence[RunKey], where: Sequence[str]) -> None:
    seen: dict[RunKey, str] = {}
    twins = []
    for key, place in zip(keys, where, strict=True):
        if key in seen:
            twins.append(f"{key} in {seen[key]} and {place}")
        seen.setdefault(key, place)
    if twins:
        raise TraceError(
            f"expected each run once, got {len(twins):,} twice: {listing(twins, most=5)}",
            hint="tell them apart with --name, or leave one of the files out",
        )


def _only(what: str, values: Sequence[tuple[str, str]], *, hint: str | None = None) -> str:
    example = dict(reversed(values))
    if len(example) > 1:
        shown = listing(f"{value} ({path})" for value, path in sorted(example.items()))
        raise TraceError(f"expected one {what} in an import, got {shown}", hint=hint or "import them one by one")
    return next(iter(example))


def _agreeing(references: Sequence[SourceReference], sense: str) -> tuple[SourceReference, ...]:
    """Return one reference per instance; logs that disagree about one are an error."""
    kept: dict[str, SourceReference] = {}
    differing = []
    for reference in references:
        other = kept.setdefault(reference.instance, reference)
        if other.value != reference.value:
            differing.append(
                f"{reference.instance}: {other.value} ({other.source}) and {reference.value} ({reference.source})"
            )
        elif reference.certified and not other.certified:
            kept[reference.instance] = reference
    if differing:
        raise TraceError(
            f"expected one reference per instance, got {len(differing):,} that differ: {listing(differing, most=5)}",
            hint=f"leave them out with --no-references, or import the logs of one time only (sense {sense})",
        )
    return tuple(kept[name] for name in sorted(kept))


def _notes_on_objectives(campaign: Campaign, sense: str) -> list[str]:
    notes = []
    if "validation" in campaign.runs.columns and (campaign.runs["validation"] == "solver").any():
        notes.append(SOLVER_SAYS_SO)
    if sense == "max":
        notes.append("objectives are maximised and kept as they are: scoring needs a declared transform")
    else:
        accepted = campaign.verdict != VerdictCode.INVALID
        accepted &= campaign.verdict != VerdictCode.BOUND
        if low := int(np.count_nonzero(campaign.objective[accepted] <= 0)):
            notes.append(f"{low:,} candidates have an objective of 0 or below: scoring needs a declared transform")
    return notes


def _with_notes(campaign: Campaign, notes: Sequence[str]) -> Campaign:
    from dataclasses import replace

    known = campaign.diagnostics
    return replace(campaign, diagnostics=replace(known, notes=(*known.notes, *notes)))


def unread_companions(survey: Survey) -> list[str]:
    """Name data files whose index file was not among the sources, so that nothing of them was read."""
    if any(file.run_count for file in survey.files):
        return []
    return survey.companions


__all__ = ["Imported", "Survey", "UsageError", "build_import", "import_logs", "survey_logs"]
