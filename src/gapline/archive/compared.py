"""Do the conclusions of one study hold in another one of the same plan?"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from gapline.analysis.comparison import Side, paired_scores, panel_differences, verdict
from gapline.archive.agreement import judge_agreement, order_of, rank_agreement
from gapline.archive.aligned import NEW, OLD, Aligned, align
from gapline.archive.conditions import Recorded, conditions, count_disturbed
from gapline.errors import MixedScoresError
from gapline.model.replication import Conclusion, Measured, Origin, RankAgreement, Replicated, Shift
from gapline.study import Study
from gapline.summary.bootstrap import Bootstrap
from gapline.summary.cells import finite_or_none
from gapline.summary.contrasts import Contrasts, contrasts

Pair = tuple[str, str]


def compare_studies(
    old: Study,
    new: Study,
    /,
    *,
    recorded: tuple[Recorded, Recorded] = (Recorded(), Recorded()),
    origin: Origin | None = None,
) -> Replicated:
    """Compare two studies of one plan on the runs that both have, under one reading and against one reference.

    Every declared contrast is looked at, or without one every pair of compared arms; scores, intervals and the paired
    shift of each arm are those of `gapline.contrasts` and `gapline.compare`. `recorded` is what the journals say of
    machine and versions, `origin` the package of the old study.

    Raises
    ------
    MixedScoresError
        Where the two answer different questions, or have no run in common.
    """
    both = align(old, new)
    pairs = both.old.declared or tuple(combinations(both.old.ranked_arms, 2))
    tested = [_contrasts(study, pairs) for study in (both.old, both.new)]
    first = both.old
    notes = [f"{name}: {note}" for name, one in zip((OLD, NEW), tested, strict=True) if one for note in one.notes()]
    notes += [
        f"{name}: no intervals, {study.no_intervals}"
        for name, study in ((OLD, both.old), (NEW, both.new))
        if study.no_intervals
    ]
    policies = [study.references[0].policy for study in (both.old, both.new)]
    if policies[0] != policies[1]:
        notes.append(f"the reference is {policies[0]} for the runs there and {policies[1]} for those here")
    for name, study in ((OLD, both.old), (NEW, both.new)):
        if disturbed := count_disturbed(study):
            notes.append(
                f"{name}: {disturbed:,} of {len(study.envelopes):,} runs were disturbed by other work on the machine; "
                "a shift may come from that"
            )
    alarms = [f"{name}: {alarm}" for name, study in ((OLD, old), (NEW, new)) for alarm in study.alarms]
    return Replicated(
        conclusions=tuple(_conclusion(pair, *tested, declared=pair in first.declared) for pair in pairs),
        ranks=_ranks(both),
        shifts=tuple(shift for arm in sorted(set(first.envelopes.runs["arm"])) for shift in _shifts(both, arm)),
        conditions=conditions(both.old, both.new, recorded),
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


def _ranks(both: Aligned) -> RankAgreement:
    kernel = both.old.kernels[0]
    means = [dict(study.summary.frame.select("arm", kernel).iter_rows()) for study in (both.old, both.new)]
    arms = [arm for arm in both.old.ranked_arms if all(side[arm] is not None for side in means)]
    return rank_agreement(*([float(side[arm]) for arm in arms] for side in means))


def _shifts(both: Aligned, arm: str) -> Iterator[Shift]:
    """Yield how an arm moved: over all panels, then in each; a descriptive arm without intervals."""
    tier = 2 if arm in both.old.tier_two else 1
    lead = both.old
    try:
        boot = Bootstrap(
            paired_scores(Side(OLD, arm, both.old), Side(NEW, arm, both.new)),
            weighting=lead.weighting,
            draws=lead.draws,
            seed=lead.seed,
        )
    except MixedScoresError:
        # Some run has no score under this kernel; why is said once for all arms.
        return
    whole = boot.difference("2", "1")
    judged = whole.judge(method=lead.interval, level=lead.level)
    rows: list[dict[str, Any]] = [
        {"panel": None, "instances": whole.instances, "first": finite_or_none(whole.parts[1])}
        | {"second": finite_or_none(whole.parts[0]), "difference": finite_or_none(whole.value)}
        | {"low": judged.low, "high": judged.high, "reason": judged.reason}
    ]
    for row in [*rows, *panel_differences(boot, lead.interval, lead.level).iter_rows(named=True)]:
        tests = {name: row[name] for name in ("low", "high", "reason")}
        tests["verdict"] = None if row["low"] is None else verdict(row["low"], row["high"])
        yield Shift(
            arm=arm,
            tier=tier,
            **{name: row[name] for name in ("panel", "instances")},
            old=row["first"],
            new=row["second"],
            shift=row["difference"],
            **(tests if tier == 1 else {}),
        )
