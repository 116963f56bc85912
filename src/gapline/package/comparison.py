"""Original against replication: align the same runs, compare the signs of contrasts and the orders of arms."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from gapline.campaign.campaign import Campaign
from gapline.contract.tables import CELL
from gapline.envelope.build import Envelopes, build_envelopes
from gapline.errors import MixedScoresError, listing
from gapline.package.conditions import RecordedFacts, conditions, count_disturbed
from gapline.references.choice import LabelledSnapshot, label_reference
from gapline.references.policy import Policy, analysis_snapshot
from gapline.statistics.bootstrap import Bootstrap
from gapline.statistics.cells import TIE, finite_or_none
from gapline.statistics.contrasts import Contrasts, contrasts
from gapline.study import Study
from gapline.study.comparison import Side, paired_scores, panel_differences, refuse_other_question, verdict
from gapline.study.coverage import count_cells
from gapline.study.replication import Agreement, Conclusion, Measured, PackageOrigin, RankAgreement, Replicated, Shift


def order_of(difference: float | None) -> int | None:
    """Return which arm a difference favours: -1 the first, 1 the second, 0 neither; None without a difference.

    >>> order_of(-0.1), order_of(1e-13), order_of(None)
    (-1, 0, None)
    """
    if difference is None:
        return None
    return 0 if abs(difference) < TIE else (1 if difference > 0 else -1)


def judge_agreement(old: Measured, new: Measured) -> Agreement:
    """Return how a replicated difference agrees with the original one.

    >>> told = Measured(instances=9, difference=-0.2, low=-0.3, high=-0.1)
    >>> open_ = Measured(instances=9, difference=0.1, low=-0.3, high=0.5)
    >>> turned = Measured(instances=9, difference=0.2, low=0.1, high=0.3)
    >>> [judge_agreement(told, other).value for other in (told, open_, turned)]
    ['agrees', 'differs in sign, not told apart', 'contradicts']
    """
    if any(one.difference is None or one.low is None for one in (old, new)):
        return Agreement.NOT_TESTED
    if old.told_apart and new.told_apart:
        # Judge by the intervals alone: a bootstrap interval need not contain its own difference.
        sides = [one.low is not None and one.low > 0 for one in (old, new)]
        return Agreement.AGREES if sides[0] == sides[1] else Agreement.CONTRADICTS
    same = order_of(old.difference) == order_of(new.difference)
    return Agreement.SAME_SIGN if same else Agreement.OTHER_SIGN


def rank_agreement(old: Sequence[float], new: Sequence[float]) -> RankAgreement:
    """Return Kendall's tau-b of two lists of means over all pairs of arms; means within 1e-12 are tied.

    With C concordant and D discordant pairs, T pairs tied only in the first list and U only in the second,
    tau = (C - D) / √((C + D + T)(C + D + U)): 1 for the same order, -1 for the reverse one.

    >>> rank_agreement([1.0, 2.0, 3.0], [1.0, 3.0, 2.0]).tau
    0.3333333333333333
    """
    counts = dict.fromkeys(("concordant", "discordant", "tied_old", "tied_new", "tied_both"), 0)
    for i, j in combinations(range(len(old)), 2):
        one, two = order_of(old[i] - old[j]), order_of(new[i] - new[j])
        if one == 0 or two == 0:
            counts["tied_both" if one == two else "tied_old" if one == 0 else "tied_new"] += 1
        else:
            counts["concordant" if one == two else "discordant"] += 1
    ordered = counts["concordant"] + counts["discordant"]
    # The root of a product of two integers: exact where both sides have the same ties.
    product = (ordered + counts["tied_old"]) * (ordered + counts["tied_new"])
    tau = (counts["concordant"] - counts["discordant"]) / math.sqrt(product) if product else None
    return RankAgreement(arms=len(old), tau=tau, **counts)


OLD, NEW = "there", "here"


@dataclass(frozen=True, slots=True, eq=False)
class StudyPair:
    """Both studies over the same cells; `lacking_old` and `lacking_new` count planned cells without a run.

    `horizons` states the horizons at which both are scored, and the announced ones where they differ.
    """

    old: Study
    new: Study
    planned: int
    lacking_old: int
    lacking_new: int
    horizons: str


def align(old: Study, new: Study, /) -> StudyPair:
    """Restrict two studies to the cells that the new one plans and both have run.

    Raises
    ------
    MixedScoresError
        If they have no common run, solved different files under one name, or differ in the choices of their reading.
    """
    both = (old, new)
    rows = [study.envelopes.runs.select(*CELL, "horizon", "announced").with_row_index("row") for study in both]
    shared = rows[0].join(rows[1], on=CELL, suffix="_new", maintain_order="left_right").sort(CELL)
    if not shared.height:
        raise MixedScoresError("expected runs that both studies have, got none of the same arm, instance and seed")
    _refuse_other_instances(old, new, shared)
    # Score both at the shorter horizon: only one study has data beyond it.
    shorter = shared.select(pl.min_horizontal("horizon", "horizon_new")).to_series()
    planned = new.cells.select(CELL)
    cells = planned.join(shared.select(CELL, state=pl.lit("done")), on=CELL, how="left", maintain_order="left")
    cells = cells.with_columns(pl.col("state").fill_null("missing"))
    indices = (shared["row"].to_list(), shared["row_new"].to_list())
    sides = [_narrow(study, index, shorter.to_numpy()) for study, index in zip(both, indices, strict=True)]
    references = _references(old, new, sides)
    pairs = tuple(pair for pair in old.declared if set(pair) <= set(shared["arm"]) and pair in new.declared)
    narrowed = [
        replace(
            study,
            campaign=campaign,
            envelopes=envelopes,
            references=(entry,),
            kernels=study.kernels[:1],
            declared=pairs,
            statistics=(),
            tier_two=tuple(arm for arm in old.tier_two if arm in set(shared["arm"])),
            # Both sides use the same interval settings.
            **{name: getattr(old, name) for name in ("interval", "level", "draws", "seed", "simultaneous")},
            planned=cells,
            coverage=count_cells(envelopes.runs, cells, entry.label, planned=True, filled=False, removed=0),
        )
        for study, (campaign, envelopes), entry in zip(both, sides, references, strict=True)
    ]
    arm = str(shared["arm"][0])
    refuse_other_question(*(Side(name, arm, study) for name, study in zip((OLD, NEW), narrowed, strict=True)))
    lacking = [planned.join(frame, on=CELL, how="anti").height for frame in rows]
    return StudyPair(narrowed[0], narrowed[1], planned.height, lacking[0], lacking[1], _horizon_words(shared, shorter))


def _narrow(study: Study, rows: list[int], horizons: np.ndarray) -> tuple[Campaign, Envelopes]:
    """Select rows of the runs in this order and shorten longer horizons."""
    chosen = study.envelopes.runs[rows]
    kept = study.campaign.runs.with_row_index("_row").join(
        chosen.select(CELL), on=CELL, how="right", maintain_order="right"
    )
    campaign = replace(study.campaign, runs=study.campaign.runs[kept["_row"].to_list()])
    scale = study.envelopes.scale.without(set(study.envelopes.scale.by_instance) - set(chosen["instance"]))
    if (chosen["horizon"].to_numpy() == horizons).all():
        return campaign, replace(study.envelopes.select(rows), scale=scale)
    unchecked = study.envelopes.unchecked
    return campaign, build_envelopes(campaign, horizon=horizons, transform=scale, unchecked=unchecked, allow_empty=True)


def _references(old: Study, new: Study, sides: list[tuple[Campaign, Envelopes]]) -> list[LabelledSnapshot]:
    """Return the reference of both sides: the declared snapshot, or one that is folded from the runs of both."""
    entries = [study.references[0] for study in (old, new)]
    if all(entry.policy == Policy.ANALYSIS for entry in entries):
        # A reference folded from each side alone would flatter it: the other side could never beat it.
        stored = old.stored[0] if old.stored else None
        first = analysis_snapshot(stored, sides[0][1], tolerance=old.tolerance)
        name = f"{stored.name if stored else 'campaign'} + both campaigns"
        both = analysis_snapshot(first, sides[1][1], tolerance=old.tolerance, name=name)
        entries = [replace(entry, snapshot=both) for entry in entries]
    return [
        LabelledSnapshot(entry.snapshot, label_reference(entry.snapshot, envelopes, policy=entry.policy))
        for entry, (_, envelopes) in zip(entries, sides, strict=True)
    ]


def _refuse_other_instances(old: Study, new: Study, shared: pl.DataFrame) -> None:
    frames = [study.envelopes.runs for study in (old, new)]
    if any("instance_digest" not in frame.columns for frame in frames):
        return
    one, two = (
        frame.join(shared.select(CELL), on=CELL, how="semi").select("instance", "instance_digest").drop_nulls().unique()
        for frame in frames
    )
    joined = one.join(two, on="instance", suffix="_new")
    other = joined.filter(pl.col("instance_digest") != pl.col("instance_digest_new"))["instance"].unique().sort()
    if len(other):
        raise MixedScoresError(f"expected the same instance files there and here, got others of {listing(other)}")


def _horizon_words(shared: pl.DataFrame, shorter: pl.Series) -> str:
    """Describe the horizons at which both are scored, and the announced ones that scores are conditional on."""
    scored = f"scored at {_seconds(shorter)}"
    there, here = shared["announced"], shared["announced_new"]
    if there.eq_missing(here).all() and there.eq_missing(shorter).all():
        return scored
    return (
        f"{scored}; announced to the solvers: {_seconds(there)} there, {_seconds(here)} here: "
        "a score is conditional on the announced horizon"
    )


def _seconds(values: pl.Series) -> str:
    known = values.drop_nulls().unique().sort()
    return f"{listing((f'{value:g}' for value in known), most=4)} s" if len(known) else "none stated"


Pair = tuple[str, str]


def compare_studies(
    old: Study,
    new: Study,
    /,
    *,
    recorded: tuple[RecordedFacts, RecordedFacts] = (RecordedFacts(), RecordedFacts()),
    origin: PackageOrigin | None = None,
) -> Replicated:
    """Compare two studies of one plan on their common runs, under one reading and against one reference.

    It compares every declared contrast, or every pair of compared arms if none is declared; scores, intervals and the
    paired shift of each arm are those of `gapline.contrasts` and `gapline.compare`. `recorded` holds the machine and
    version facts from the journals, `origin` the package of the old study.

    Raises
    ------
    MixedScoresError
        If the two answer different questions, or have no common run.
    """
    both = align(old, new)
    first = both.old
    pairs = first.declared or tuple(combinations(first.ranked_arms, 2))
    sides = [(name, study, _contrasts(study, pairs)) for name, study in ((OLD, first), (NEW, both.new))]
    tested = [one for _, _, one in sides]
    notes = [f"{name}: {note}" for name, _, one in sides if one for note in one.notes()]
    notes += [f"{name}: no intervals, {study.no_intervals}" for name, study, _ in sides if study.no_intervals]
    policies = [study.references[0].policy for _, study, _ in sides]
    if policies[0] != policies[1]:
        notes.append(f"the reference is {policies[0]} for the runs there and {policies[1]} for those here")
    notes += [
        f"{name}: {disturbed:,} of {len(study.envelopes):,} runs were disturbed by other work on the machine; "
        "a shift may come from that"
        for name, study, _ in sides
        if (disturbed := count_disturbed(study))
    ]
    alarms = [f"{name}: {alarm}" for name, study in ((OLD, old), (NEW, new)) for alarm in study.alarms]
    return Replicated(
        conclusions=tuple(_conclusion(pair, *tested, declared=pair in first.declared) for pair in pairs),
        ranks=_ranks(both),
        shifts=tuple(shift for arm in sorted(set(first.envelopes.runs["arm"])) for shift in _shifts(both, arm)),
        conditions=conditions(first, both.new, recorded),
        runs=len(first.envelopes),
        planned=both.planned,
        lacking_old=both.lacking_old,
        lacking_new=both.lacking_new,
        kernel=first.kernels[0],
        level=first.level,
        how="" if tested[0] is None else tested[0].how,
        reading=both.new.reading.line(),
        horizons=both.horizons,
        campaign=new.campaign_digest,
        notes=tuple(dict.fromkeys(notes)),
        alarms=tuple(alarms),
        origin=origin,
    )


def _contrasts(study: Study, pairs: tuple[Pair, ...]) -> Contrasts | None:
    if study.no_intervals:
        return None
    chosen: dict[str, Any] = {"declared": pairs, "exploratory": ()} if study.declared else {"exploratory": pairs}
    return contrasts(
        study.bootstrap, method=study.interval, level=study.level, simultaneous=study.simultaneous, **chosen
    )


def _conclusion(pair: Pair, old: Contrasts | None, new: Contrasts | None, *, declared: bool) -> Conclusion:
    one, two = _measured(pair, old), _measured(pair, new)
    orders = [order_of(side.difference) for side in (one, two)]
    return Conclusion(
        a=pair[0],
        b=pair[1],
        declared=declared,
        old=one,
        new=two,
        order_agrees=None if None in orders else orders[0] == orders[1],
        agreement=judge_agreement(one, two),
    )


def _measured(pair: Pair, tested: Contrasts | None) -> Measured:
    if tested is None:
        return Measured(instances=0, reason="some run has no score")
    row = next(row for row in tested.frame.iter_rows(named=True) if (row["a"], row["b"]) == pair)
    return Measured(**{name: row[name] for name in Measured.__struct_fields__})


def _ranks(both: StudyPair) -> RankAgreement:
    kernel = both.old.kernels[0]
    means = [dict(study.summary.frame.select("arm", kernel).iter_rows()) for study in (both.old, both.new)]
    arms = [arm for arm in both.old.ranked_arms if all(side[arm] is not None for side in means)]
    return rank_agreement(*([float(side[arm]) for arm in arms] for side in means))


def _shifts(both: StudyPair, arm: str) -> Iterator[Shift]:
    """Yield the shift of an arm: over all panels, then in each; a descriptive arm has no intervals."""
    lead = both.old
    tier = 2 if arm in lead.tier_two else 1
    try:
        scores = paired_scores(Side(OLD, arm, lead), Side(NEW, arm, both.new))
        boot = Bootstrap(scores, weighting=lead.weighting, draws=lead.draws, seed=lead.seed)
    except MixedScoresError:
        # Some run has no score under this kernel; the reason is given once for all arms.
        return
    whole = boot.difference("2", "1")
    judged = whole.judge(method=lead.interval, level=lead.level)
    numbers = map(finite_or_none, (whole.parts[1], whole.parts[0], whole.value))
    rows: list[tuple[Any, ...]] = [(None, whole.instances, *numbers, judged.low, judged.high, judged.reason)]
    columns = ("panel", "instances", "first", "second", "difference", "low", "high", "reason")
    rows += panel_differences(boot, lead.interval, lead.level).select(columns).iter_rows()
    for panel, instances, old, new, shift, low, high, reason in rows:
        tests: dict[str, Any] = {"low": low, "high": high, "reason": reason}
        tests["verdict"] = None if low is None else verdict(low, high)
        shown = tests if tier == 1 else {}
        yield Shift(arm=arm, tier=tier, panel=panel, instances=instances, old=old, new=new, shift=shift, **shown)
