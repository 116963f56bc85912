"""`import_logs`: read files of any known format into one campaign, reporting everything that could not be read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Unpack

import polars as pl

from gapline.campaign.campaign import Campaign
from gapline.campaign.diagnostics import MOST_PROBLEMS
from gapline.campaign.scale import instance_senses
from gapline.contract.fact_origins import FactOrigin, set_origin
from gapline.contract.row_groups import Numbered
from gapline.contract.tables import RUN_KEY, RunKey
from gapline.errors import EnvironmentLacksError, TraceError, listing
from gapline.logs.naming import SEED_NOTES, LogIdentity, refuse_missing, settle_seeds
from gapline.logs.reader import SourceReference
from gapline.logs.survey import LogChoices, Survey, survey_logs
from gapline.logs.survey_table import FileLines, RunLines
from gapline.text import counted
from gapline.traces.candidate_checks import check_source
from gapline.traces.direction import ASSUMED, check_direction
from gapline.traces.read import refuse_problems


class LeftOut(NamedTuple):
    """A file that is not part of a campaign, and why."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Imported:
    """A campaign, the references and the integrals stated in its logs, and the files left out.

    `bad` counts those in `left_out` that cannot be read; the others have no known format and were to be skipped.
    """

    campaign: Campaign
    references: tuple[SourceReference, ...]
    stated_integrals: dict[RunKey, tuple[str, float]]
    files: FileLines
    left_out: tuple[LeftOut, ...] = ()
    bad: int = 0
    kept: int = 0


def import_logs(
    sources: Sequence[str | Path],
    *,
    allow_mixed_clocks: bool = False,
    skip_unknown: bool = False,
    no_references: bool = False,
    negate: Sequence[str] = (),
    strict: bool = False,
    **choices: Unpack[LogChoices],
) -> Imported:
    """Read logs of other programs into a campaign.

    Parameters
    ----------
    sources
        Files, folders, and archives (.zip, .tar, .tar.gz, .tar.zst), which are read like folders; .gz and .zst files
        are decompressed.
    format
        The name of a format, a `Reader`, or "auto" to detect the format from the head of each file.
    only
        Patterns of file names, such as `*.log`: other files are left out, and counted.
    columns, decimal
        How a table differs from a neutral trace: `arm=solver,time=elapsed` or a mapping, and its decimal mark.
    name
        A path pattern such as `{arm}/{instance}-s{seed}.log`, matched against the tail of each path.
    arm, instance, seed, panel
        Values for all runs; they take precedence over the pattern, which takes precedence over the log.
    horizon
        Seconds, for runs whose log states no horizon.
    sense
        "min" or "max" for runs whose log does not state it; a log that states the other is an error.
    time_unit, sort_rows, allow_empty
        Statements about tables among the logs; see `gapline.read`.
    negate
        Arms, or patterns of them, whose logs report the negated objective.
    number_runs
        Number runs that share arm and instance and state no seed 0, 1, 2, … in file order; in a table, begin a new
        run where time goes back within one arm, instance and seed.
    allow_mixed_clocks
        Allow CPU and wall clocks in one campaign.
    skip_unknown
        Leave out files of no known format, and report them.
    no_references
        Ignore the references stated in the logs.
    strict
        Refuse files with problems (see `gapline.read`); otherwise problems are reported and counted.
    progress
        Called with the number of files done and their total.
    keep_going
        Leave out files that cannot be read and runs without a name, instead of refusing the whole import.
    unfinished
        A folder for the progress of the import; a later call with the same folder continues from there.
    executor, jobs
        Any `concurrent.futures.Executor` whose workers can access the files and the folder `unfinished`, which is
        required then, and how many tasks it runs at a time. The campaign is the same, to the last bit, as without.
    memory
        Bytes, or a size such as "2GB", for data that waits to be combined; the rest waits on disk.
    """
    return build_import(
        survey_logs(sources, **choices),
        number_runs=choices.get("number_runs", False),
        allow_mixed_clocks=allow_mixed_clocks,
        skip_unknown=skip_unknown,
        no_references=no_references,
        negate=negate,
        strict=strict,
        allow_empty=choices.get("allow_empty", False),
    )


def build_import(
    survey: Survey,
    *,
    number_runs: bool = False,
    allow_mixed_clocks: bool = False,
    skip_unknown: bool = False,
    no_references: bool = False,
    negate: Sequence[str] = (),
    strict: bool = False,
    allow_empty: bool = False,
) -> Imported:
    """Turn a survey into a campaign, or raise one error that names everything that is missing."""
    _refuse_unreadable(survey, skip_unknown=skip_unknown)
    files, runs = survey.files, survey.runs
    wrong = list(files.flawed.values())
    bad = [file for file in wrong if file.error and not (skip_unknown and file.unknown)]
    if not runs:
        why = f": {bad[0].problems[0]}" if bad else ""
        raise TraceError(f"expected runs, got none in {listing(files.paths, most=5)}{why}")
    if rows := runs.unnamed():
        identities = [LogIdentity(*names) for names in runs.who()[rows].select("arm", "instance").iter_rows()]
        refuse_missing(identities, runs.places(rows), pattern=survey.naming.pattern)
    named, seed_notes = _named(runs, number_runs=number_runs)
    if not allow_mixed_clocks:
        owners = files.owners()
        clocks = runs.among("clock").items()
        _refuse_mixed_clocks([(str(clock), files.paths[owners[row]]) for clock, row in clocks if clock])
    references = () if no_references else _agreeing(survey.references)
    notes = list(survey.notes)
    formats = sorted({str(name) for name in runs.among("format")} - {"empty"}) or ["empty"]
    if bad:
        notes.append(
            f"left out {counted(len(bad), 'file')} that cannot be read: {listing((file.path for file in bad), most=5)}"
        )
    if skipped := [file.path for file in wrong if file.unknown and skip_unknown]:
        notes.append(f"left out {len(skipped):,} of no known format: {listing(skipped, most=5)}")
    counted_ones = [file for file in wrong if not (skip_unknown and file.unknown)]
    diagnostics = replace(
        survey.spool.diagnostics,
        sources=tuple(file.path for file in files if file.error is None),
        problems=tuple(islice((problem for file in counted_ones for problem in file.problems), MOST_PROBLEMS)),
        problem_count=sum(file.problem_count for file in counted_ones),
    )
    if strict:
        refuse_problems(diagnostics)
    campaign = survey.spool.finish(
        named.with_columns(sense=runs.texts("sense"), import_notes=_own_notes(runs, seed_notes)),
        facts={"source format": ", ".join(formats)},
        diagnostics=diagnostics,
    )
    if negate:
        campaign = campaign.negate(negate)
        notes += campaign.diagnostics.notes
    notes += check_source(campaign, allow_empty=allow_empty)
    shown = campaign.runs["sense"].drop_nulls().unique()
    # If all logs that state a direction agree, the others are assumed to have it too.
    notes += check_direction(campaign, shown[0] if len(shown) == 1 else None)
    campaign, sense_notes = _settle_senses(campaign)
    notes += sense_notes
    if odd := survey.spool.not_positive:
        notes.append(
            f"{odd:,} candidates have an objective of 0 or below: `gapline score --kernel berthold` scores them, other "
            "kernels need a declared transform"
        )
    campaign = replace(campaign, diagnostics=replace(diagnostics, notes=tuple(dict.fromkeys(notes))))
    left_out = tuple(LeftOut(file.path, file.error.message) for file in wrong if file.error)
    return Imported(campaign, references, _stated(runs, named), files, left_out, len(bad), survey.kept)


def _named(runs: RunLines, *, number_runs: bool) -> tuple[pl.DataFrame, pl.Series]:
    """Return the keys of the runs, which must be unique, and a note on the seed of each."""
    who = runs.who()
    seeds, notes = settle_seeds(who, runs.places, number_runs=number_runs)
    named = who.select("arm", "instance", seed=seeds)
    # Runs without a seed get a unique one: duplicates are possible only if some runs state a seed.
    if who["seed"].count() and Numbered(named).by(*RUN_KEY).size < named.height:
        rows = named.is_duplicated().arg_true()
        _refuse_twins([RunKey(*key) for key in named[rows].iter_rows()], runs.places(rows))
    return named, notes


def _own_notes(runs: RunLines, seed_notes: pl.Series) -> pl.Series:
    """Return the notes on each run, one per line; runs with the same notes share the text."""
    both = pl.DataFrame({"own": runs.table["notes"], "seed": seed_notes})
    kinds = both.unique()
    texts = ["\n".join(filter(None, (own, SEED_NOTES[seed]))) or None for own, seed in kinds.iter_rows()]
    named = kinds.with_columns(text=pl.Series(texts, dtype=pl.String))
    return both.join(named, on=["own", "seed"], how="left", maintain_order="left")["text"]


def _stated(runs: RunLines, named: pl.DataFrame) -> dict[RunKey, tuple[str, float]]:
    """Return the integrals that the logs state themselves."""
    each = named.with_columns(kernel=runs.texts("kernel"), integral=runs.table["integral"])
    rows = each.filter(pl.col("integral").is_not_null()).iter_rows()
    return {RunKey(arm, instance, seed): (kernel, integral) for arm, instance, seed, kernel, integral in rows}


def _settle_senses(campaign: Campaign) -> tuple[Campaign, list[str]]:
    """Give every run the sense of its instance; unknown ones get that of all others, or min."""
    shown = sorted(campaign.runs["sense"].drop_nulls().unique().to_list())
    other = shown[0] if len(shown) == 1 else "min"
    senses = instance_senses(campaign)
    settled = {name: sense or other for name, sense in senses.items()}
    # Runs with few candidates often show no sense: if all others agree, that is not worth a note.
    silent = sorted(name for name, sense in senses.items() if sense is None) if len(shown) > 1 else []
    silent, notes = silent if shown else ["the objective"], []
    if silent:
        whose = listing(silent, most=5)
        notes.append(f"no log shows whether {whose} is minimised or maximised: taken as {other}{ASSUMED[1]}")
    if number := list(settled.values()).count("max"):
        words = f"{counted(number, 'instance')} maximised and kept as written"
        notes.append(f"{words}: scored through the reciprocal unless a transform is declared")
    only = set(settled.values())
    facts = dict(campaign.facts) | ({"sense": only.pop()} if len(only) == 1 else {})
    column = pl.col("instance").replace_strict(settled, return_dtype=pl.String)
    # A run without candidates gets the direction of the other runs on its instance.
    shows = campaign.runs.select(pl.col("sense").is_not_null().any().over("instance")).to_series()
    runs = set_origin(campaign.runs, "sense", FactOrigin.NOT_STATED, ~shows) if silent else campaign.runs
    return replace(campaign, runs=runs.with_columns(sense=column), facts=facts), notes


def _refuse_unreadable(survey: Survey, *, skip_unknown: bool) -> None:
    refused = [file for file in survey.files.flawed.values() if file.error and not (skip_unknown and file.unknown)]
    if survey.keep_going:
        # A missing package is not the file's fault, and would leave out all files of this format.
        refused = [file for file in refused if isinstance(file.error, EnvironmentLacksError)]
    if not refused:
        return
    first = refused[0].error
    assert first is not None
    hint = first.hint
    if all(file.unknown for file in refused) and len(survey.files) > 1:
        hint = f"--only '*.log' names those to read, --skip-unknown leaves out files of no known format; or {hint}"
    if len(refused) == 1:
        # The type of the error, and with it the exit code, is kept: a missing package is not a broken file.
        raise type(first)(first.message, hint=hint)
    shown = "\n  ".join(file.problems[0] for file in refused[:8])
    more = f"\n  and {len(refused) - 8:,} more" if len(refused) > 8 else ""
    raise type(first)(f"{len(refused):,} of {len(survey.files):,} files cannot be read:\n  {shown}{more}", hint=hint)


def _refuse_twins(keys: Sequence[RunKey], where: Sequence[str]) -> None:
    seen: dict[RunKey, str] = {}
    both = [(key, seen.setdefault(key, place), place) for key, place in zip(keys, where, strict=True)]
    if twins := [f"{key} in {first} and {place}" for key, first, place in both if first is not place]:
        raise TraceError(
            f"expected each run once, got {len(twins):,} twice: {listing(twins, most=5)}",
            hint="tell them apart with --name, or leave one of the files out",
        )


def _refuse_mixed_clocks(clocks: Sequence[tuple[str, str]]) -> None:
    if len(clocks) > 1:
        shown = listing(f"{clock} ({path})" for clock, path in sorted(clocks))
        hint = "--allow-mixed-clocks takes them all"
        raise TraceError(f"expected one clock in an import, got {shown}", hint=hint)


def _agreeing(references: Sequence[tuple[SourceReference, str]]) -> tuple[SourceReference, ...]:
    """Return one reference per instance; raise an error if logs disagree."""
    kept: dict[str, tuple[SourceReference, str]] = {}
    differing = []
    for reference, path in references:
        other, where = kept.setdefault(reference.instance, (reference, path))
        if other.value != reference.value:
            differing.append(f"{reference.instance}: {other.value} ({where}) and {reference.value} ({path})")
        # The same value, proven in one log and only found in another: the proof applies to both.
        elif reference.certified and not other.certified:
            kept[reference.instance] = (reference, path)
    if differing:
        raise TraceError(
            f"expected one reference per instance, got {len(differing):,} that differ: {listing(differing, most=5)}",
            hint="leave the references out with --no-references, or import the logs of each time by themselves",
        )
    return tuple(kept[name][0] for name in sorted(kept))
