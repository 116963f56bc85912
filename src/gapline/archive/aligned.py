"""Two studies on one footing: the runs that both have, at horizons that both saw, against one reference."""

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from gapline.analysis.comparison import Side, refuse_other_question
from gapline.envelope.build import Envelopes, build_envelopes
from gapline.errors import MixedScoresError, listing
from gapline.model.campaign import Campaign
from gapline.model.tables import CELL
from gapline.reference.choose import LabelledSnapshot, label_reference
from gapline.reference.policy import Policy, analysis_snapshot
from gapline.study import Study
from gapline.study.present import count_cells

OLD, NEW = "there", "here"


@dataclass(frozen=True, slots=True, eq=False)
class Aligned:
    """Both studies over the same cells; `lacking_old` and `lacking_new` of the planned ones have no run there or here.

    `horizons` says at which horizons both are scored, and what was announced where that differs.
    """

    old: Study
    new: Study
    planned: int
    lacking_old: int
    lacking_new: int
    horizons: str


def align(old: Study, new: Study, /) -> Aligned:
    """Restrict two studies to the cells that the new one plans and both ran.

    Raises
    ------
    MixedScoresError
        Where they have no run in common, solved other files under one name, or read their runs under other choices.
    """
    rows = [study.envelopes.runs.select(*CELL, "horizon", "announced").with_row_index("row") for study in (old, new)]
    shared = rows[0].join(rows[1], on=CELL, suffix="_new", maintain_order="left_right").sort(CELL)
    if not shared.height:
        raise MixedScoresError("expected runs that both studies have, got none of the same arm, instance and seed")
    _refuse_other_instances(old, new, shared)
    # Nothing was seen beyond the shorter of the two.
    shorter = shared.select(pl.min_horizontal("horizon", "horizon_new")).to_series()
    planned = new.cells.select(CELL)
    cells = planned.join(shared.select(CELL, state=pl.lit("done")), on=CELL, how="left", maintain_order="left")
    cells = cells.with_columns(pl.col("state").fill_null("missing"))
    sides = [
        _narrow(study, shared[column].to_list(), shorter.to_numpy())
        for study, column in ((old, "row"), (new, "row_new"))
    ]
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
            # How sure one is of a difference is asked of both in the same way.
            **{name: getattr(old, name) for name in ("interval", "level", "draws", "seed", "simultaneous")},
            planned=cells,
            coverage=count_cells(envelopes.runs, cells, entry.label, planned=True, filled=False, removed=0),
        )
        for study, (campaign, envelopes), entry in zip((old, new), sides, references, strict=True)
    ]
    arm = str(shared["arm"][0])
    refuse_other_question(*(Side(name, arm, study) for name, study in zip((OLD, NEW), narrowed, strict=True)))
    lacking = [planned.join(frame, on=CELL, how="anti").height for frame in rows]
    return Aligned(narrowed[0], narrowed[1], planned.height, lacking[0], lacking[1], _horizon_words(shared, shorter))


def _narrow(study: Study, rows: list[int], horizons: np.ndarray) -> tuple[Campaign, Envelopes]:
    """Keep some rows of the runs, in this order, at shorter horizons where they have longer ones."""
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


def _references(
    old: Study, new: Study, sides: list[tuple[Campaign, Envelopes]]
) -> tuple[LabelledSnapshot, LabelledSnapshot]:
    """Return what both are read against: the declared snapshot, or one that is folded from the runs of both."""
    entries = [study.references[0] for study in (old, new)]
    if all(entry.policy == Policy.ANALYSIS for entry in entries):
        # One folded from each side alone would flatter it: neither could be beaten by the other.
        stored = old.stored[0] if old.stored else None
        first = analysis_snapshot(stored, sides[0][1], tolerance=old.tolerance)
        name = f"{stored.name if stored else 'campaign'} + both campaigns"
        both = analysis_snapshot(first, sides[1][1], tolerance=old.tolerance, name=name)
        entries = [replace(entry, snapshot=both) for entry in entries]
    found = [
        LabelledSnapshot(entry.snapshot, label_reference(entry.snapshot, envelopes, policy=entry.policy))
        for entry, (_, envelopes) in zip(entries, sides, strict=True)
    ]
    return found[0], found[1]


def _refuse_other_instances(old: Study, new: Study, shared: pl.DataFrame) -> None:
    frames = [study.envelopes.runs for study in (old, new)]
    if any("instance_digest" not in frame.columns for frame in frames):
        return
    seen = [
        frame.join(shared.select(CELL), on=CELL, how="semi").select("instance", "instance_digest").drop_nulls().unique()
        for frame in frames
    ]
    joined = seen[0].join(seen[1], on="instance", suffix="_new")
    other = joined.filter(pl.col("instance_digest") != pl.col("instance_digest_new"))["instance"].unique().sort()
    if len(other):
        raise MixedScoresError(f"expected the same instance files there and here, got others of {listing(other)}")


def _horizon_words(shared: pl.DataFrame, shorter: pl.Series) -> str:
    """Say at which horizons both are scored, and on which ones the scores are conditional where these differ."""
    scored = f"scored at {_seconds(shorter)}"
    told = [shared["announced"], shared["announced_new"]]
    if (told[0].eq_missing(told[1])).all() and told[0].eq_missing(shorter).all():
        return scored
    return (
        f"{scored}; announced to the solvers: {_seconds(told[0])} there, {_seconds(told[1])} here: "
        "a score is conditional on the announced horizon"
    )


def _seconds(values: pl.Series) -> str:
    known = values.drop_nulls().unique().sort()
    return f"{listing((f'{value:g}' for value in known), most=4)} s" if len(known) else "none stated"
