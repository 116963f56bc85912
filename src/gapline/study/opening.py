"""A study is opened: which runs count, against what, under which choices is decided here alone.

A study is a contract, the plan that follows from it, a verified campaign and references. Sources without a contract (a
trace file, an imported campaign) make a study whose choices are those of the caller.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from gapline.campaign.campaign import Campaign
from gapline.campaign.time_scale import Given as TimeScaleGiven
from gapline.campaign.time_scale import scale_times, settle_time_scale
from gapline.contract.argument_checks import several
from gapline.contract.choices import InputChoices, Sense, TimeUnit
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
from gapline.references.choice import References, choose_references, stored_snapshots
from gapline.references.contradictions import find_contradictions, find_stored_contradictions
from gapline.references.policy import find_unscorable, first_start, reference_notes, settle_scale
from gapline.references.snapshot import Snapshot
from gapline.scoring.run_references import descriptive_arms
from gapline.scoring.scores import DEFAULT_GOALS
from gapline.scoring.user_functions import Weight
from gapline.statistics.bootstrap import DRAWS
from gapline.statistics.estimate import DEFAULT_METHOD, parse_method
from gapline.study.contract_choices import (
    DEFAULT_KERNEL,
    DRAW_SEED,
    LEVEL,
    Pair,
    contract_changes,
    declared_choices,
    lead_goals,
    read_contract,
)
from gapline.study.coverage import (
    Missing,
    absent_cells,
    count_begun,
    count_cells,
    plan_cells,
    shared_runs,
    shared_units,
    without_waiting,
)
from gapline.study.study import Study
from gapline.study.user_code import load_functions, load_time_weight
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


@naming_packages()
def open_study(
    *sources: Any,
    arm: str | Sequence[str] = (),
    panel: str | Sequence[str] = (),
    instance: str | Sequence[str] = (),
    exclude: str | Sequence[str] = (),
    negate: str | Sequence[str] = (),
    columns: str | Mapping[str, str] | None = None,
    decimal: str | None = None,
    sense: Sense | None = None,
    time_unit: TimeUnit | None = None,
    number_runs: bool = False,
    sort_rows: bool = False,
    allow_empty: bool = False,
    strict: bool = False,
    missing: str | Missing = Missing.LEAVE_OUT,
    references: References | None = None,
    snapshots: str | Path | Snapshot | Sequence[str | Path | Snapshot] = (),
    policy: str | None = None,
    horizon: float | None = None,
    time_scale: "TimeScaleGiven | TimeScale" = (),
    transform: str | Sequence[str] = (),
    leave_out_unscorable: bool = False,
    validation: str | None = None,
    allow_unchecked: bool = False,
    checker: str | None = None,
    kernels: str | Sequence[str] = (),
    statistics: str | Sequence[str] = (),
    allow_code: bool = False,
    weight: Weight | None = None,
    goals: float | Sequence[float] = (),
    weighting: str | None = None,
    tier_two: str | Sequence[str] = (),
    contrasts: Sequence[Pair] = (),
    interval: str | None = None,
    level: float | None = None,
    draws: int | None = None,
    seed: int | None = None,
    simultaneous: bool | None = None,
    title: str | None = None,
    workers: Workers | None = None,
    campaign: Campaign | None = None,
    in_progress: bool = False,
) -> Study:
    """Open a study, a campaign or traces: what `score`, `curve`, `compare`, `analyse` and `report` begin with.

    Parameters
    ----------
    sources
        A study directory or a replication package of one, whose contract gives every choice that is not given here;
        or several of them, campaign directories, trace files, zips or patterns of them, frames, campaigns.
    arm, panel, instance, exclude
        Names or patterns to keep; instances to leave out.
    columns, decimal, time_unit, number_runs, sort_rows, allow_empty, strict
        How tables among the sources differ from a neutral trace, what their rows mean, and whether problems are
        refused; see `gapline.read`.
    sense
        "min" or "max" where neither the source nor its contract states the direction of the objective. Without it,
        a source whose objectives rise over time is refused.
    negate
        Arms whose source reports the negated objective: what they say is negated.
    missing
        Runs that an arm lacks. `leave-out` ranks the largest group of arms that ran the same instances and lists the
        others below it; planned cells without a whole attempt are counted, and no order is headlined. `common` ranks
        all arms on the instances that every one of them ran. `empty` counts planned cells without a whole attempt,
        without a plan those that any other arm has, as runs that found nothing (for a closed campaign). `refuse` fails.
    references, snapshots
        Reference values (by instance, a CSV, a `.solu` file, a store such as `mamut:PATH@COMMIT`) or snapshots; else
        the contract's, else those that the sources carry.
    policy
        `frozen` refuses values known after the runs; `analysis` folds the best of the runs in; `both` reads side by
        side.
    time_scale
        What a second of each host is worth in seconds of the reference machine: `HOST=1.37` (names or patterns, once or
        several), or a mapping. Horizons are then in seconds of the reference machine, and every output says so; see
        `gapline.contract.time_scale`.
    horizon, transform, validation, allow_unchecked
        What is accepted; see `gapline.build_envelopes`. Objectives of zero or below are scored by Berthold's gap where
        it is the only kernel.
    checker
        Count the verdicts of this checker instead of those of the contract's; verdicts of two are never mixed.
    leave_out_unscorable
        Leave out instances that cannot be scored (an objective or a reference of zero or below, or none where a run
        solved it), list and count them; else they are refused. What nobody solved needs no reference.
    kernels, weight, goals, weighting
        How runs are scored and averaged. A kernel or a weight may be a function of yours, `python:MODULE:FUNCTION`; a
        weight also a function of time itself.
    statistics
        Functions of one run, `python:MODULE:FUNCTION`, shown and averaged beside the scores; see
        `gapline.scoring.user_functions`.
    allow_code
        Let the code of the study run: functions that its contract names, and modules in its directory or package. A
        kernel of the contract that may not run is refused, a statistic is left out and said to be.
    tier_two
        Arms that are described and not compared.
    contrasts
        Pairs of arms named before the data were seen.
    interval, level, draws, seed
        How intervals and p-values are found: `skew-t` (the default), `t`, `percentile` (the paper's cluster
        bootstrap) or `sign-flip`; draws and seed for those that draw.
    simultaneous
        Intervals of the declared contrasts that hold together, and joint bands beside the pointwise ones.
    workers
        Others who read the candidates and pass over the steps, such as `gapline.executors.tasks` opens on a cluster.
        The one source is then a study or a campaign directory that they see too; the results are the same.
    campaign
        What the sources hold, where it was read already.
    in_progress
        Whether runs are still to come: neither direction nor candidates are judged by those that are there.

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
    kernels, statistics, tier_two, goals = map(several, (kernels, statistics, tier_two, goals))
    sources, paths, folder = _settle_sources(sources)
    packages = tuple(known for path in dict.fromkeys(paths) if (known := identity_of(path)) is not None)
    contract, text, known_register = read_contract(folder)
    stated = declared_choices(contract)
    wanted = {
        name: as_patterns(given)
        for name, given in (("arm", arm), ("panel", panel), ("instance", instance), ("exclude", exclude))
    }
    dialect: dict[str, Any] = {
        "columns": columns, "decimal": decimal, "sense": sense, "time_unit": time_unit, "number_runs": number_runs,
        "sort_rows": sort_rows, "allow_empty": allow_empty, "strict": strict, "checker": checker,
    }  # fmt: skip
    whole, noticed = _read(
        sources, campaign, workers, negate, stated.get("stated_sense"), in_progress=in_progress, **dialect
    )
    scaling = _time_scale(time_scale or stated.get("time_scale", ()), whole)
    register = None if known_register is None else replace(known_register, start=first_start(whole.runs))
    # A contract beside an imported campaign planned nothing that we ran: it names the arms, no cells.
    planned = contract if folder is not None and (folder / JOURNALS).is_dir() else None
    kept, removed = runs_of_contract(whole, contract, cells=planned is not None)
    accepted: dict[str, Any] = {
        "horizon": horizon,
        "unchecked": _unchecked(validation, stated.get("validation"), allow_unchecked),
    }
    campaign, waiting = without_waiting(kept.filter(**wanted), accepted["unchecked"])
    cells = plan_cells(campaign, planned, wanted, waiting)
    rule, absent = absent_cells(cells, missing)
    if rule is Missing.EMPTY and absent.height:
        campaign = with_empty_runs(campaign, absent, contract)
    campaign = campaign if scaling is None else scale_times(campaign, scaling)
    stored = stored_snapshots(paths, folder, contract, references, snapshots, noticed)
    chosen_kernels = tuple(kernels) or stated.get("kernels") or (DEFAULT_KERNEL,)
    chosen_statistics = load_functions(folder, kernels, statistics, stated, noticed, allow_code=allow_code)
    chosen_weight = load_time_weight(folder, weight, stated.get("weight", "uniform"), allow_code=allow_code)
    chosen_policy = policy or stated.get("policy")
    scale = settle_scale(
        campaign,
        as_patterns(transform) or stated.get("transform", ()),
        stored,
        kernels=chosen_kernels,
        sense=stated.get("sense"),
        **accepted,
    )
    left_out: dict[str, str] = {}
    if leave_out_unscorable:
        left_out = find_unscorable(campaign, scale, stored, policy=chosen_policy, **accepted)
    dropped: dict[str, int] = {}
    if left_out:
        campaign, cells, dropped = _without_instances(campaign, cells, left_out)
        scale = scale.without(left_out)
    arms = set(campaign.rows.names("arm"))
    named_two = tier_two or [a for a in stated.get("tier_two", ()) if a in arms]
    descriptive = descriptive_arms(campaign.runs, named_two, exact=stated.get("exact", ()))
    lacking, unshared = 0, dict[str, int]()
    if rule is Missing.COMMON:
        campaign, lacking, unshared = shared_runs(campaign, contract, tier_two=descriptive)
        kept_arms = set(campaign.rows.names("arm"))
        descriptive = tuple(arm for arm in descriptive if arm in kept_arms)
        gone = sorted(set(unshared) - kept_arms)
        noticed += [f"{arm} has no run on an instance that every compared arm ran: left out" for arm in gone]
    doing("building the envelopes")
    envelopes = build_envelopes(campaign, transform=scale, allow_empty=allow_empty, workers=workers, **accepted)
    chosen_tolerance = stated.get("tolerance", TOLERANCE)
    entries = choose_references(
        stored,
        envelopes,
        chosen_policy,
        None if register is None else register.snapshot_digests(),
        chosen_tolerance,
        late=() if register is None else register.late_digests(),
        named=None if contract is None else contract.reference.snapshot,
    )
    pairs, before = _contrasts(contrasts, stated.get("contrasts", ()), register, arms, descriptive)
    return Study(
        sources=paths,
        title=title or stated.get("title") or "gapline report",
        contract=contract,
        contract_text=text,
        register=register,
        arms=tuple(sorted({*kept.rows.names("arm"), *(one.name for one in (contract.arms if contract else ()))})),
        campaign=campaign,
        envelopes=envelopes,
        references=entries,
        stored=stored,
        kernels=chosen_kernels,
        weight=chosen_weight,
        weighting=weighting or stated.get("weighting", "panel"),
        goals=tuple(goals) or lead_goals(stated.get("goals", ())) or DEFAULT_GOALS,
        tolerance=chosen_tolerance,
        tier_two=descriptive,
        declared=pairs,
        registered=before,
        interval=parse_method(interval or stated.get("interval", DEFAULT_METHOD)).value,
        level=stated.get("level", LEVEL) if level is None else level,
        draws=stated.get("draws", DRAWS) if draws is None else draws,
        seed=stated.get("seed", DRAW_SEED) if seed is None else seed,
        simultaneous=stated.get("simultaneous", False) if simultaneous is None else simultaneous,
        planned=cells,
        coverage=count_cells(
            envelopes.runs,
            cells,
            entries[0].label,
            planned=planned is not None,
            filled=rule is Missing.EMPTY,
            removed=removed,
            unscorable=sum(dropped.values()),
            unshared=sum(unshared.values()),
            shared=shared_units(envelopes.runs) if lacking else None,
            unchecked=waiting.height,
            begun=count_begun(campaign),
        ),
        alarms=(
            *(find_alarms(stored, envelopes, tolerance=chosen_tolerance) if stored else ()),
            *find_contradictions(campaign, envelopes, tolerance=chosen_tolerance),
            *find_stored_contradictions(campaign, envelopes, stored, tolerance=chosen_tolerance),
        ),
        statistics=chosen_statistics,
        horizon=horizon,
        time_scale=scaling,
        remarks=(
            *_remarks(kept, contract, register, removed, absent.height if rule is Missing.EMPTY else 0, left_out),
            *noticed,
            *reference_notes(stored, envelopes, register),
        ),
        left_out=left_out,
        dropped=dropped,
        package=packages[0] if folder is not None and packages else None,
        packages=packages,
        replication=_replication(folder),
        missing=rule.value,
        lacking=lacking,
        unshared=unshared,
        given=tuple(name for name, value in (("sense", sense), ("validation", validation)) if value is not None),
    )


def _settle_sources(given: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[str, ...], Path | None]:
    """Return the sources, those of them that are paths, and the study directory where the one source is a study."""
    # One pattern may stand for several sources, which are then several here too.
    sources = tuple(
        one for source in given for one in (matching(source) if isinstance(source, str | Path) else [source])
    )
    paths = tuple(source for source in sources if isinstance(source, str))
    # Several sources have no contract in common: choices that one of them declares would bind the others.
    return sources, paths, study_folder(paths[0]) if len(sources) == 1 and paths else None


def _without_instances(
    campaign: Campaign, cells: pl.DataFrame | None, left_out: Mapping[str, str]
) -> tuple[Campaign, pl.DataFrame | None, dict[str, int]]:
    """Leave out the runs and cells of some instances; return with them how many runs each arm loses."""
    unscorable = pl.col("instance").is_in(list(left_out))
    dropped = dict(campaign.runs.filter(unscorable).group_by("arm").len().iter_rows())
    kept = replace(campaign, runs=campaign.runs.filter(~unscorable))
    if not len(kept):
        raise GaplineError(f"expected instances that can be scored, got none: {_shown(left_out)}", hint=NOT_POSITIVE)
    return kept, None if cells is None else cells.filter(~unscorable), dropped


def _replication(folder: Path | None) -> "Replicated | None":
    """Read what a study that runs a package again found, where it did."""
    if folder is None or not (folder / REPLICATION).is_file():
        return None
    from gapline.study.replication import Replicated

    return Replicated.load(folder / REPLICATION)


def open_studies(sources: Sequence[str], /, **choices: Any) -> dict[str, Study]:
    """Open several sources, each as a study of its own, under the same choices; a host may be in one of them alone."""
    if choices.get("time_scale"):
        tables: dict[str, Any] = {
            name: choices[name]
            for name in ("columns", "decimal", "strict", "checker", *InputChoices.__annotations__)
            if name in choices
        }
        choices["time_scale"] = settle_time_scale(
            choices["time_scale"], [read_in_parts(source, **tables) for source in sources]
        )
    given = choices.get("references") or choices.get("snapshots")
    own = {} if given or len(sources) < 2 else {one: _own(one) for one in sources}
    lenders = [source for source, snapshots in own.items() if snapshots]
    opened = {}
    for source in sources:
        # What neither the caller nor a source itself names is lent by the only other one that has references.
        lent = own[lenders[0]] if len(lenders) == 1 and source not in lenders else ()
        study = open_study(source, **choices | ({"snapshots": lent} if lent else {}))
        remark = f"{source} has no reference of its own: read against that of {lenders[0]}" if lent else ""
        opened[source] = replace(study, remarks=(*study.remarks, remark)) if lent else study
    return opened


def _own(source: str) -> tuple[Snapshot, ...]:
    """Return the snapshots that a source names or carries."""
    paths = matching(source)
    folder = study_folder(paths[0]) if len(paths) == 1 else None
    contract, _, _ = read_contract(folder)
    return stored_snapshots(paths, folder, contract, None, ())


def _read(
    sources: tuple[Any, ...],
    known: Campaign | None,
    workers: Workers | None,
    negate: str | Sequence[str],
    declared: Mapping[str, str] | None,
    *,
    in_progress: bool,
    sense: Sense | None,
    **dialect: Any,
) -> tuple[Campaign, list[str]]:
    """Read the sources, unless their campaign is known, and say what there is to say of their direction."""
    found = known
    if found is None:
        doing("reading the runs")
        # What is stated holds of the objectives that are scored: of an arm that is negated, of what results.
        before = None if negate else sense
        found = read_in_parts(sources[0] if len(sources) == 1 else list(sources), sense=before, **dialect)
    if not in_progress:
        found = with_notes(found, check_source(found, allow_empty=dialect["allow_empty"]))
    # Workers read the files themselves, so that nothing of a campaign in parts is gathered here.
    found = gather_parts(found) if workers is None else found
    whole = state_sense(_negated(found, negate), sense)
    return whole, [] if in_progress else check_direction(whole, declared)


def _negated(campaign: Campaign, arms: str | Sequence[str]) -> Campaign:
    """Negate what some arms report; without a run there is nothing to negate, score or report."""
    if not len(campaign):
        begun = {"under way": len(campaign.running), "interrupted": len(campaign.interrupted)}
        words = ", ".join(f"{number:,} {what}" for what, number in begun.items() if number)
        raise GaplineError(f"expected runs to score, got none{f' that is whole ({words})' if words else ''}")
    return campaign.negate(arms) if arms else campaign


def _time_scale(given: "TimeScaleGiven | TimeScale", campaign: Campaign) -> TimeScale | None:
    """Settle what was asked for; the hosts are looked for before any filter takes runs away."""
    if isinstance(given, TimeScale) or not given:
        return given or None  # type: ignore[return-value]
    return settle_time_scale(given, [campaign])


def _unchecked(given: str | None, declared: str | None, allow_unchecked: bool) -> Unchecked:
    """Say what becomes of unchecked candidates; the caller's word stands in for the contract's."""
    if given == "solver" and allow_unchecked:
        raise UsageError("expected --validation solver (count them) or --allow-unchecked (leave them out), got both")
    if allow_unchecked:
        return Unchecked.LEAVE_OUT
    return Unchecked.TRUST_SOLVER if (given or declared) == "solver" else Unchecked.REFUSE


def _contrasts(
    given: Sequence[Pair],
    declared: Sequence[Pair],
    register: "Register | None",
    arms: set[str],
    tier_two: Sequence[str],
) -> tuple[tuple[Pair, ...], bool | None]:
    """Return the contrasts that are named, and whether they were registered before the first run (None: unknown)."""
    for name in (name for pair in given for name in pair if name not in arms):
        near = closest(name, arms)
        hint = f"did you mean {near!r}?" if near else f"there are: {listing(sorted(arms))}"
        raise UsageError(f"contrast: expected the name of an arm, got {name!r}", hint=hint)
    # A contrast of the contract may name an arm that a filter left out, or that was declared descriptive here.
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
    """Say what changed after the first run or between runs, and what was left out or filled in."""
    remarks = [] if register is None else register.notes()
    for name, (recorded, today) in ({} if contract is None else contract_changes(contract, campaign.runs)).items():
        # The register names it too, unless it was written later or does not know the field.
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
