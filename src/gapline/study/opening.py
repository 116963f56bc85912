"""Opening a study: the only place that decides which runs count, against which references, under which choices.

A study is a contract, the plan that follows from it, a verified campaign and references. For sources without a contract
(a trace file, an imported campaign), the caller makes the choices.
"""

from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from gapline.campaign.campaign import Campaign
from gapline.campaign.time_scale import Given as TimeScaleGiven
from gapline.campaign.time_scale import scale_times, settle_time_scale
from gapline.contract.argument_checks import several
from gapline.contract.choices import (
    ChoiceArguments,
    FilterChoices,
    SourceChoices,
    find_choice,
    is_set,
    takes_choices,
)
from gapline.contract.fact_origins import CHANGED
from gapline.contract.layout import JOURNALS, REPLICATION
from gapline.contract.progress import doing
from gapline.contract.reading import TOLERANCE
from gapline.contract.solver_versions import version_changes
from gapline.contract.time_scale import TimeScale
from gapline.envelope.build import NOT_POSITIVE, Unchecked, build_envelopes
from gapline.errors import GaplineError, UsageError, closest, listing
from gapline.executors.executors import Workers
from gapline.journal.plan_coverage import runs_of_contract, with_empty_runs
from gapline.references.alarms import find_alarms
from gapline.references.choice import choose_references, stored_snapshots
from gapline.references.contradictions import find_contradictions, find_stored_contradictions
from gapline.references.policy import find_unscorable, first_start, reference_notes, settle_scale
from gapline.references.snapshot import Snapshot
from gapline.scoring.run_references import descriptive_arms
from gapline.statistics.estimate import parse_method
from gapline.study.contract_choices import (
    Pair,
    contract_changes,
    declared_choices,
    load_functions,
    load_time_weight,
    read_contract,
)
from gapline.study.coverage import (
    absent_cells,
    count_begun,
    count_cells,
    plan_cells,
    shared_runs,
    shared_units,
    without_waiting,
)
from gapline.study.study import Study
from gapline.text import as_patterns, counted
from gapline.traces.candidate_checks import check_source
from gapline.traces.direction import check_direction, state_sense, with_notes
from gapline.traces.merge import gather_parts
from gapline.traces.package_source import identity_of, naming_packages, study_folder
from gapline.traces.read import matching, read_in_parts

if TYPE_CHECKING:
    from gapline.contract.contract import Contract
    from gapline.journal.register import Register
    from gapline.study.replication import Replicated

# Choices that may be one value or several; a single one may be a text or a number.
_SEVERAL = ("kernels", "statistics", "tier_two", "goals")
# Choices that the study stores unchanged.
_AS_CHOSEN = ("weighting", "goals", "level", "draws", "seed", "simultaneous", "horizon")


@naming_packages()
@takes_choices(ChoiceArguments)
def open_study(
    *sources: Any,
    workers: Workers | None = None,
    campaign: Campaign | None = None,
    in_progress: bool = False,
    **choices: Unpack[ChoiceArguments],
) -> Study:
    """Open a study, a campaign or traces, the first step of `score`, `curve`, `compare`, `analyse` and `report`.

    Parameters
    ----------
    sources
        A study directory or a replication package of one, whose contract supplies every choice that is not given here;
        or several of them, campaign directories, trace files, zips or patterns of them, frames, campaigns.
    {choices}
    workers
        Workers that read the candidates and walk through the steps, such as `gapline.executors.tasks` opens on a
        cluster. The only source is then a study or a campaign directory that they can access too; the results are the
        same.
    campaign
        The campaign of the sources, if it was already read.
    in_progress
        Whether runs are still to come: then neither direction nor candidates are judged by the runs so far.

    >>> import gapline as gl
    >>> runs = [{"arm": arm, "instance": "i", "seed": 1, "horizon": 10, "trace": [(time, 30.0)]}
    ...         for arm, time in (("a", 2), ("b", 4))]
    >>> snapshot = gl.Snapshot.from_values({"i": 10.0}, name="mine")
    >>> study = open_study(gl.Campaign.from_runs(runs), snapshots=[snapshot])
    >>> study.summary.frame.select("arm", "squeezed").rows()
    [('a', 0.6), ('b', 0.7)]
    """
    if not sources:
        raise UsageError("open_study: expected at least one source, got none")
    sources, paths, folder = _settle_sources(sources)
    packages = tuple(known for path in dict.fromkeys(paths) if (known := identity_of(path)) is not None)
    contract, text, known_register = read_contract(folder)
    declared = declared_choices(contract)
    chosen = _settle_choices(choices, declared)
    given, stated, _ = chosen.maps
    wanted = {name: as_patterns(given.get(name, ())) for name in FilterChoices.__annotations__}
    whole, noticed = _read(sources, campaign, workers, declared.get("stated_sense"), given, in_progress=in_progress)
    scaling = _time_scale(chosen["time_scale"], whole)
    register = None if known_register is None else replace(known_register, start=first_start(whole.runs))
    # A contract next to an imported campaign planned no runs of ours: it names arms, but no cells.
    planned = contract if folder is not None and (folder / JOURNALS).is_dir() else None
    kept, removed = runs_of_contract(whole, contract, cells=planned is not None)
    accepted: dict[str, Any] = {"horizon": chosen["horizon"], "unchecked": _unchecked(given, chosen["validation"])}
    campaign, waiting = without_waiting(kept.filter(**wanted), accepted["unchecked"])
    cells = plan_cells(campaign, planned, wanted, waiting)
    rule = chosen["missing"]
    absent = absent_cells(cells, rule)
    if rule == "empty" and absent.height:
        campaign = with_empty_runs(campaign, absent, contract)
    campaign = campaign if scaling is None else scale_times(campaign, scaling)
    # An empty mapping of references is a choice too.
    stored = stored_snapshots(paths, folder, contract, choices.get("references"), chosen["snapshots"], noticed)
    statistics = load_functions(folder, given, stated, noticed)
    weight = load_time_weight(folder, given, chosen["weight"])
    kernels, policy, tolerance = chosen["kernels"], chosen["policy"], stated.get("tolerance", TOLERANCE)
    scale = settle_scale(
        campaign,
        as_patterns(chosen["transform"]),
        stored,
        kernels=kernels,
        sense=stated.get("sense"),
        **accepted,
    )
    left_out: dict[str, str] = {}
    if chosen["leave_out_unscorable"]:
        left_out = find_unscorable(campaign, scale, stored, policy=policy, **accepted)
    dropped: dict[str, int] = {}
    if left_out:
        campaign, cells, dropped = _without_instances(campaign, cells, left_out)
        scale = scale.without(left_out)
    arms = set(campaign.rows.names("arm"))
    named_two = given.get("tier_two") or [a for a in stated.get("tier_two", ()) if a in arms]
    descriptive = descriptive_arms(campaign.runs, named_two, exact=stated.get("exact", ()))
    lacking, unshared = 0, dict[str, int]()
    if rule == "common":
        campaign, lacking, unshared = shared_runs(campaign, contract, tier_two=descriptive)
        kept_arms = set(campaign.rows.names("arm"))
        descriptive = tuple(arm for arm in descriptive if arm in kept_arms)
        gone = sorted(set(unshared) - kept_arms)
        noticed += [f"{arm} has no run on an instance that every compared arm ran: left out" for arm in gone]
    doing("building the envelopes")
    envelopes = build_envelopes(
        campaign, transform=scale, allow_empty=chosen["allow_empty"], workers=workers, **accepted
    )
    entries = choose_references(
        stored,
        envelopes,
        policy,
        None if register is None else register.snapshot_digests(),
        tolerance,
        late=() if register is None else register.late_digests(),
        named=None if contract is None else contract.reference.snapshot,
    )
    pairs, before = _contrasts(given.get("contrasts", ()), stated.get("contrasts", ()), register, arms, descriptive)
    return Study(
        sources=paths,
        title=chosen["title"] or "gapline report",
        contract=contract,
        contract_text=text,
        register=register,
        arms=tuple(sorted({*kept.rows.names("arm"), *(one.name for one in (contract.arms if contract else ()))})),
        campaign=campaign,
        envelopes=envelopes,
        references=entries,
        stored=stored,
        kernels=kernels,
        weight=weight,
        tolerance=tolerance,
        tier_two=descriptive,
        declared=pairs,
        registered=before,
        interval=parse_method(chosen["interval"]).value,
        **{name: chosen[name] for name in _AS_CHOSEN},
        planned=cells,
        coverage=count_cells(
            envelopes.runs,
            cells,
            entries[0].label,
            planned=planned is not None,
            filled=rule == "empty",
            removed=removed,
            unscorable=sum(dropped.values()),
            unshared=sum(unshared.values()),
            shared=shared_units(envelopes.runs) if lacking else None,
            unchecked=waiting.height,
            begun=count_begun(campaign),
        ),
        alarms=(
            *(find_alarms(stored, envelopes, tolerance=tolerance) if stored else ()),
            *find_contradictions(campaign, envelopes, tolerance=tolerance),
            *find_stored_contradictions(campaign, envelopes, stored, tolerance=tolerance),
        ),
        statistics=statistics,
        time_scale=scaling,
        remarks=(
            *_remarks(kept, contract, register, removed, absent.height if rule == "empty" else 0, left_out),
            *noticed,
            *reference_notes(stored, envelopes, register),
        ),
        left_out=left_out,
        dropped=dropped,
        package=packages[0] if folder is not None and packages else None,
        packages=packages,
        replication=_replication(folder),
        missing=rule,
        lacking=lacking,
        unshared=unshared,
        given=tuple(name for name in ("sense", "validation") if name in given),
    )


def _settle_choices(choices: Mapping[str, Any], declared: Mapping[str, Any]) -> ChainMap[str, Any]:
    """Look up a choice among those of the caller, then those of the contract, then the defaults."""
    given = {name: value for name, value in choices.items() if is_set(value)}
    given |= {name: tuple(several(given[name])) for name in _SEVERAL if name in given}
    stated = {name: value for name, value in declared.items() if is_set(value)}
    return ChainMap(given, stated, {name: find_choice(name)[1].default for name in ChoiceArguments.__annotations__})


def _settle_sources(given: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[str, ...], Path | None]:
    """Return the sources, the paths among them, and the study directory if the only source is a study."""
    # One pattern may match several sources.
    sources = tuple(
        one for source in given for one in (matching(source) if isinstance(source, str | Path) else [source])
    )
    paths = tuple(source for source in sources if isinstance(source, str))
    # Several sources have no common contract: the choices of one would bind the others.
    return sources, paths, study_folder(paths[0]) if len(sources) == 1 and paths else None


def _without_instances(
    campaign: Campaign, cells: pl.DataFrame | None, left_out: Mapping[str, str]
) -> tuple[Campaign, pl.DataFrame | None, dict[str, int]]:
    """Leave out the runs and cells of some instances; also return how many runs each arm loses."""
    unscorable = pl.col("instance").is_in(list(left_out))
    dropped = dict(campaign.runs.filter(unscorable).group_by("arm").len().iter_rows())
    kept = replace(campaign, runs=campaign.runs.filter(~unscorable))
    if not len(kept):
        raise GaplineError(f"expected instances that can be scored, got none: {_shown(left_out)}", hint=NOT_POSITIVE)
    return kept, None if cells is None else cells.filter(~unscorable), dropped


def _replication(folder: Path | None) -> "Replicated | None":
    """Read the result of a replication from its study directory, None if there is none."""
    if folder is None or not (folder / REPLICATION).is_file():
        return None
    from gapline.study.replication import Replicated

    return Replicated.load(folder / REPLICATION)


def open_studies(sources: Sequence[str], /, **choices: Any) -> dict[str, Study]:
    """Open several sources, each as a separate study, under the same choices; a scaled host may be in only one."""
    if choices.get("time_scale"):
        tables: dict[str, Any] = {name: choices[name] for name in SourceChoices.__annotations__ if name in choices}
        choices["time_scale"] = settle_time_scale(
            choices["time_scale"], [read_in_parts(source, **tables) for source in sources]
        )
    given = choices.get("references") or choices.get("snapshots")
    own = {} if given or len(sources) < 2 else {one: _own(one) for one in sources}
    lenders = [source for source, snapshots in own.items() if snapshots]
    opened = {}
    for source in sources:
        # A source without references uses those of the only other source that has any.
        lent = own[lenders[0]] if len(lenders) == 1 and source not in lenders else ()
        study = open_study(source, **choices | ({"snapshots": lent} if lent else {}))
        remark = f"{source} has no reference of its own: read against that of {lenders[0]}" if lent else ""
        opened[source] = replace(study, remarks=(*study.remarks, remark)) if lent else study
    return opened


def _own(source: str) -> tuple[Snapshot, ...]:
    """Return the snapshots that a source names or contains."""
    paths = matching(source)
    folder = study_folder(paths[0]) if len(paths) == 1 else None
    contract, _, _ = read_contract(folder)
    return stored_snapshots(paths, folder, contract, None, ())


def _read(
    sources: tuple[Any, ...],
    known: Campaign | None,
    workers: Workers | None,
    declared: Mapping[str, str] | None,
    given: Mapping[str, Any],
    *,
    in_progress: bool,
) -> tuple[Campaign, list[str]]:
    """Read the sources, unless their campaign is known, and return notes on their direction."""
    found, negate = known, given.get("negate", ())
    if found is None:
        doing("reading the runs")
        dialect: dict[str, Any] = {name: given[name] for name in SourceChoices.__annotations__ if name in given}
        # A stated sense is that of the scored objectives, after the objectives of an arm are negated.
        if negate:
            dialect.pop("sense", None)
        found = read_in_parts(sources[0] if len(sources) == 1 else list(sources), **dialect)
    if not in_progress:
        found = with_notes(found, check_source(found, allow_empty=given.get("allow_empty", False)))
    # Workers read the files themselves, so that nothing of a campaign in parts is gathered here.
    found = gather_parts(found) if workers is None else found
    whole = state_sense(_negated(found, negate), given.get("sense"))
    return whole, [] if in_progress else check_direction(whole, declared)


def _negated(campaign: Campaign, arms: str | Sequence[str]) -> Campaign:
    """Negate the objectives of some arms; a campaign without runs is refused."""
    if not len(campaign):
        begun = {"under way": len(campaign.running), "interrupted": len(campaign.interrupted)}
        words = ", ".join(f"{number:,} {what}" for what, number in begun.items() if number)
        raise GaplineError(f"expected runs to score, got none{f' that is whole ({words})' if words else ''}")
    return campaign.negate(arms) if arms else campaign


def _time_scale(given: "TimeScaleGiven | TimeScale", campaign: Campaign) -> TimeScale | None:
    """Settle the requested time scale; hosts are looked up before any filter removes runs."""
    if isinstance(given, TimeScale) or not given:
        return given or None  # type: ignore[return-value]
    return settle_time_scale(given, [campaign])


def _unchecked(given: Mapping[str, Any], validation: str) -> Unchecked:
    """Return how unchecked candidates are treated; the caller overrides the contract."""
    allow_unchecked = given.get("allow_unchecked", False)
    if given.get("validation") == "solver" and allow_unchecked:
        raise UsageError("expected --validation solver (count them) or --allow-unchecked (leave them out), got both")
    if allow_unchecked:
        return Unchecked.LEAVE_OUT
    return Unchecked.TRUST_SOLVER if validation == "solver" else Unchecked.REFUSE


def _contrasts(
    given: Sequence[Pair],
    declared: Sequence[Pair],
    register: "Register | None",
    arms: set[str],
    tier_two: Sequence[str],
) -> tuple[tuple[Pair, ...], bool | None]:
    """Return the named contrasts, and whether they were registered before the first run (None: unknown)."""
    for name in (name for pair in given for name in pair if name not in arms):
        near = closest(name, arms)
        hint = f"did you mean {near!r}?" if near else f"there are: {listing(sorted(arms))}"
        raise UsageError(f"contrast: expected the name of an arm, got {name!r}", hint=hint)
    # A contrast of the contract may name an arm that a filter left out, or that is descriptive here.
    present = arms - set(tier_two)
    named = tuple((a, b) for a, b in given) or tuple(pair for pair in declared if present.issuperset(pair))
    if register is None or not named:
        return named, None
    before = {frozenset(pair) for pair in register.declared_contrasts()}
    return named, all(frozenset(pair) in before for pair in named)


def _remarks(
    campaign: Campaign,
    contract: "Contract | None",
    register: "Register | None",
    removed: int,
    filled: int,
    unscorable: Mapping[str, str],
) -> tuple[str, ...]:
    """Return remarks on changes after the first run or between runs, and on what was left out or filled in."""
    remarks = [] if register is None else register.notes()
    for name, (recorded, today) in ({} if contract is None else contract_changes(contract, campaign.runs)).items():
        # The register reports it too, unless it was written later or does not know the field.
        known = tuple(f"{CHANGED}: {prefix}{name}: " for prefix in ("time ", ""))
        if not any(remark.startswith(known) for remark in remarks):
            remarks.append(f"{known[0]}{recorded} became {today} (as the journals show)")
    remarks += version_changes(campaign.runs)
    if removed:
        remarks.append(f"{removed:,} runs belong to arms or cells that the contract does not have: left out")
    if filled:
        remarks.append(f"{filled:,} cells without a whole run count as empty streams (--missing empty)")
    if unscorable:
        verb = "is" if len(unscorable) == 1 else "are"
        count = counted(len(unscorable), "instance")
        remarks.append(f"{count} cannot be scored and {verb} left out: {_shown(unscorable)}")
    return tuple(remarks)


def _shown(left_out: Mapping[str, str]) -> str:
    return listing((f"{name} ({why})" for name, why in left_out.items()), most=20)
