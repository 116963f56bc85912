"""Transform sensitivity: the scores of the same runs under another shift constant or multiplier M.

An additive shift changes every relative gap, and M prices the primary component in units of the secondary one: both
belong to the evaluation contract, and the paper asks for their sensitivity next to the results. The declared transform
is the base; every other one is a separate reading, with its own envelopes, references and, under the policy
`analysis`, its own fold.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from gapline.campaign.scale import Scale, vary_scale
from gapline.contract.result_table import Shown, as_document
from gapline.contract.tables import TRANSFORM_POOLED
from gapline.envelope.build import build_envelopes
from gapline.errors import MissingReferenceError, ObjectiveError, listing
from gapline.references.choice import fold_reference
from gapline.references.policy import Policy, find_unscorable
from gapline.references.snapshot import Snapshot
from gapline.scoring.kernels import Kernel
from gapline.statistics.cells import finite_or_none
from gapline.study import Study
from gapline.study.readings import Readings, build_readings
from gapline.study.robustness import VariedChoice
from gapline.study.sensitivity import panel_signs, reversed_pairs

# Factors of declared constants if no transforms are given: the choice of a constant is always arbitrary.
FACTORS = ("x0.5", "x2")


@dataclass(frozen=True, slots=True)
class TransformReversal:
    """Two arms whose order in a panel under another transform is not that under the declared one."""

    transform: str
    panel: str
    a: str
    b: str
    out_of_envelope: bool


@dataclass(frozen=True, slots=True)
class Unscored:
    """A transform under which the runs cannot be scored, and why: their order under it is unknown."""

    transform: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TransformSensitivity(Shown):
    """The declared transform (`base`) against others; `contract/tables.py` defines the columns of `pooled`.

    `shift` is the score under the transform minus that under the base. `pairs` counts pairs of ranked arms × panels
    that are not tied under the base. `notes` say where M breaks the order of the observed solutions, and which arms are
    ranked.
    """

    base: str
    kernel: str
    weight: str
    weighting: str
    pooled: pl.DataFrame
    pairs: int
    reversals: tuple[TransformReversal, ...]
    unscored: tuple[Unscored, ...]
    notes: tuple[str, ...]
    choices: tuple[VariedChoice, ...]
    left_out: tuple[str, ...]

    def caption(self) -> str:
        """Return a description in one line."""
        found = f"{len(self.reversals)} reversals among {self.pairs} pairs against {self.base}"
        return f"{found}; {self.kernel}, weight {self.weight}"

    def document(self) -> dict[str, Any]:
        """Return the content for JSON."""
        return {name: value for name, value in as_document(self).items() if name not in ("choices", "left_out")}


def transform_sensitivity(
    study: Study, base: Readings, /, *, kernel: Kernel, transforms: Sequence[str] | None = None
) -> TransformSensitivity | None:
    """Score the runs of a study under other transforms.

    Parameters
    ----------
    transforms
        Such as `shift:100`, `INSTANCE=shift:100`, `hierarchical:20n`, or `x2`, which doubles every declared constant;
        by default half and twice the declared constants.

    None if no other transform is requested and no declared one has a constant to vary.
    """
    declared = study.envelopes.scale
    texts = tuple(dict.fromkeys(transforms)) if transforms else FACTORS if declared.constants else ()
    if not texts:
        return None
    panels = dict(study.envelopes.runs.select("instance", "panel").iter_rows())
    rows = _pooled_rows(base, str(declared), base)
    reversals, unscored, notes, choices, left_out = [], [], [], [], list[str]()
    # A scale under two names is read once; the declared one is the base.
    seen = [declared]
    for text in texts:
        name = text
        try:
            scale = vary_scale(declared, text, panels)
            # If constants differ by instance, the requested text is shorter than a list of them.
            name = str(scale) if scale.uniform else text
            if scale in seen:
                continue
            seen.append(scale)
            read = _read_under(study, scale, kernel)
        except (ObjectiveError, MissingReferenceError) as error:
            unscored.append(Unscored(name, error.message))
            left_out.append(f"transform {name}: cannot be scored")
            continue
        rows += _pooled_rows(read, name, base)
        reversals += [TransformReversal(name, *pair) for pair in reversed_pairs(base, (0, 0), read, (0, 0))]
        if (check := read.envelopes.hierarchy) is not None and not check.holds:
            notes.append(str(check))
        if read.unranked(0, 0):
            left_out.append(f"transform {name}: out of its envelope")
        else:
            choices.append(VariedChoice("transform", f"transform {name}", read.pooled(0, 0)))
    return TransformSensitivity(
        base=str(declared),
        kernel=kernel.name,
        weight=base.weight,
        weighting=base.weighting,
        pooled=pl.DataFrame(rows, schema=TRANSFORM_POOLED, orient="row"),
        pairs=int(np.count_nonzero(panel_signs(base, 0, 0))),
        reversals=tuple(reversals),
        unscored=tuple(unscored),
        notes=tuple(note for note in (*notes, str(study.instance_set)) if note),
        choices=tuple(choices),
        left_out=tuple(left_out),
    )


def _read_under(study: Study, scale: Scale, kernel: Kernel) -> Readings:
    """Score the runs on another scale, all else as declared; refused if one of the instances cannot be scored."""
    accepted: dict[str, Any] = {"horizon": study.horizon, "unchecked": study.envelopes.unchecked}
    stored = study.stored[:1]
    policy = study.references[0].policy
    # Signed scales take any value: what remains to refuse cannot be scored on any scale.
    bad = find_unscorable(study.campaign, scale, stored, policy=policy, **accepted)
    bad |= _without_components(stored, scale, study.envelopes.scale)
    if bad:
        shown = listing((f"{name} ({why})" for name, why in bad.items()), most=3)
        total = study.envelopes.runs["instance"].n_unique()
        raise ObjectiveError(f"{len(bad):,} of {total:,} instances cannot be scored: {shown}")
    envelopes = build_envelopes(study.campaign, transform=scale, allow_empty=True, **accepted)
    snapshot = study.snapshot
    if policy == Policy.ANALYSIS:
        snapshot = fold_reference(stored[0] if stored else None, envelopes, study.tolerance).snapshot
    return build_readings(
        envelopes,
        {"declared": snapshot},
        kernels=[kernel],
        weight=study.weight,
        weighting=study.weighting,
        tolerance=study.tolerance,
        tier_two=study.tier_two,
        ranked=study.ranked_arms,
    )


def _without_components(stored: Sequence[Snapshot], scale: Scale, declared: Scale) -> dict[str, str]:
    """Return the instances whose reference is a single number under the declared M: another M cannot price it."""
    if not scale.hierarchical or scale.default == declared.default:
        return {}
    return {
        name: "its reference has no components, only a value under the declared M"
        for snapshot in stored
        for name, entry in snapshot.values.items()
        if name in declared.by_instance and None in (entry.primary, entry.secondary) and entry.value is not None
    }


def _pooled_rows(read: Readings, name: str, base: Readings) -> list[tuple[object, ...]]:
    """Return the pooled score of each arm under one transform, its rank among the compared arms, and its shift."""
    means, before, ranks = read.pooled(0, 0), base.pooled(0, 0), read.ranks(0, 0)
    return [
        (name, arm, 2 if arm in read.tier_two else 1, finite_or_none(means[row]), ranks.get(row),
         finite_or_none(means[row] - before[row]))
        for row, arm in enumerate(read.cells.arms)
    ]  # fmt: skip
