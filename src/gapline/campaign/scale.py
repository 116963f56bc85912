"""`Scale`: the objective transform of each instance, and captured objectives on the transformed scale."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from gapline.campaign.campaign import Campaign
from gapline.contract.transforms import PANEL, Declared, Transform, TransformKind, Values, parse_transforms
from gapline.errors import ObjectiveError, UsageError, listing
from gapline.files.scratch_arrays import scratch_array, spans
from gapline.text import matches, meant

Floats = NDArray[np.float64]

SENSES = ("min", "max")
_FACTOR = re.compile(r"x([0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?)")
# One sense for all instances, or one per instance.
Senses = str | Mapping[str, str] | None


@dataclass(frozen=True, slots=True)
class Scale:
    """The transform of each instance, and a default for instances without runs.

    `signed` allows values of any sign, for which only Berthold's gap is defined; a maximised objective is negated.

    >>> scale = Scale(Transform(), {"i": Transform.parse("shift:10")})
    >>> scale.apply(["i", "j"], [1.0, 1.0]).tolist(), str(scale)
    ([11.0, 1.0], 'shift:10')
    """

    default: Transform = field(default_factory=Transform)
    by_instance: Mapping[str, Transform] = field(default_factory=dict)
    signed: bool = False

    def __str__(self) -> str:
        counts = Counter(map(str, self.by_instance.values())) or Counter([str(self.default)])
        if len(counts) == 1:
            words = next(iter(counts))
        else:
            words = ", ".join(f"{name} ({number} instances)" for name, number in sorted(counts.items()))
        return f"{words}, any sign" if self.signed else words

    @property
    def hierarchical(self) -> bool:
        """Whether objectives are scalarised from two components; this holds for all instances or for none."""
        return self.default.hierarchical

    @property
    def constants(self) -> bool:
        """Whether scores depend on a declared constant; the constant of a reciprocal cancels."""
        used = set(self.by_instance.values()) or {self.default}
        return any(one.constant != 0 and one.kind is not TransformKind.RECIPROCAL for one in used)

    @property
    def uniform(self) -> bool:
        """Whether all instances have the default."""
        # Identity is the fast path: this is evaluated for every piece of a campaign.
        return all(one is self.default or one == self.default for one in self.by_instance.values())

    @property
    def keeps(self) -> bool:
        """Whether every objective is scored without a transform."""
        return self.uniform and self.default.keeps and not self.hierarchical

    def of(self, instance: str) -> Transform:
        """Return the transform of an instance."""
        return self.by_instance.get(instance, self.default)

    def without(self, instances: Collection[str]) -> "Scale":
        """Leave out instances that are not scored, so that reports do not mention them."""
        return replace(self, by_instance={name: t for name, t in self.by_instance.items() if name not in instances})

    def apply(self, instances: Sequence[str], values: ArrayLike) -> Values:
        """Transform one value of each instance, such as its reference."""
        z = np.asarray(values, np.float64)
        if self.uniform:
            return self.default.apply(z)
        return np.array([float(self.of(name).apply(value)) for name, value in zip(instances, z, strict=True)])

    def apply_column(self, runs: pl.DataFrame, column: Values) -> Values:
        """Transform a column of candidates or bounds; each run owns the slice `first:first+count`."""
        uniform = self.uniform
        if uniform and self.default.keeps:
            return column
        out: Values = scratch_array(len(column))
        for part in spans(len(column)):
            out[part] = self.default.apply(column[part]) if uniform else column[part]
        if uniform:
            return out
        for instance, first, count in runs.select("instance", "first", "count").iter_rows():
            part = slice(first, first + count)
            out[part] = self.of(instance).apply(column[part])
        return out


def choose_scale(
    campaign: Campaign, declared: Declared | Scale = None, *, sense: Senses = None, signed: bool = False
) -> Scale:
    """Choose the transform of every instance of a campaign.

    Parameters
    ----------
    declared
        One transform for all instances, or several, each with a rule: `INSTANCE=shift:10`,
        `panel:NAME=negate-shift:100`, where names may be patterns. The rule of an instance precedes that of its panel.
    sense
        `min` or `max` for runs whose source gives neither; one for all, or by instance.
    signed
        Allow values of any sign.
    """
    if isinstance(declared, Scale):
        return declared
    default, rules = parse_transforms(declared)
    senses = instance_senses(campaign, sense)
    panels: dict[str, str] = {}
    if rules:
        panels = dict(campaign.runs.select("instance", "panel").unique("instance", keep="last").iter_rows())
    _refuse_idle(rules, panels)
    turned = Transform(TransformKind.NEGATE_SHIFT, 0.0) if signed else Transform(TransformKind.RECIPROCAL, 1.0)
    found, wrong = {}, []
    for instance, known in senses.items():
        chosen = next((t for rule, t in rules if _fits(rule, instance, panels[instance])), default)
        if chosen.kind is TransformKind.NONE and known == "max":
            chosen = turned
        if known is not None and chosen.kind is not TransformKind.NONE and chosen.maximises != (known == "max"):
            wrong.append(f"{instance} ({known}, {chosen})")
        found[instance] = chosen
    if wrong:
        raise ObjectiveError(
            f"expected transforms that fit the sense of their instance, got {len(wrong):,} others: {listing(wrong)}",
            hint="none, shift:C and hierarchical:M minimise; reciprocal and negate-shift:C maximise",
        )
    if set(found.values()) == {turned} and default.kind is TransformKind.NONE:
        default = turned
    return Scale(default, found, signed)


def vary_scale(base: Scale, text: str, panels: Mapping[str, str]) -> Scale:
    """Return a variant of a declared scale, for the instances whose panels are given.

    `shift:100` replaces the transform of all instances, `INSTANCE=shift:100` and `panel:NAME=shift:100` that of some;
    `x2` multiplies every declared constant.

    >>> str(vary_scale(Scale(Transform.parse("shift:10")), "x2", {"i": "p"}))
    'shift:20'
    """
    if factor := _FACTOR.fullmatch(text):
        by = float(factor[1])
        scaled = {name: _scaled(base.of(name), by) for name in panels}
        return replace(base, default=_scaled(base.default, by), by_instance=scaled)
    default, rules = parse_transforms(text)
    _refuse_idle(rules, panels)
    rule, chosen = rules[0] if rules else ("*", default)
    if chosen.hierarchical != base.hierarchical:
        raise ObjectiveError(f"expected {'M' if base.hierarchical else 'no M'}, as is declared ({base}), got {chosen}")
    found = {name: chosen if _fits(rule, name, panel) else base.of(name) for name, panel in panels.items()}
    wrong = [name for name, transform in found.items() if transform.maximises != base.of(name).maximises]
    if wrong:
        raise ObjectiveError(f"{chosen} does not fit the sense of {listing(wrong)}, declared {base.of(wrong[0])}")
    return replace(base, default=base.default if rules else chosen, by_instance=found)


def _scaled(transform: Transform, factor: float) -> Transform:
    return replace(transform, constant=transform.constant * factor)


def instance_senses(campaign: Campaign, sense: Senses = None) -> dict[str, str | None]:
    """Return the sense of each instance; None if neither its runs nor the campaign nor the caller gives one."""
    names = campaign.rows.names("instance")
    given = dict.fromkeys(names, sense) if sense is None or isinstance(sense, str) else sense
    stated = campaign.facts.get("sense")
    fallback = {name: stated if stated in SENSES else given.get(name) for name in names}
    if "sense" not in campaign.runs.columns:
        return fallback
    table = campaign.runs.select("instance", "arm", pl.col("sense").cast(pl.String)).unique(maintain_order=True)
    found: dict[str, str | None] = {}
    by: dict[str, str] = {}
    for instance, arm, said in table.iter_rows():
        if said is not None and said not in SENSES:
            raise ObjectiveError(f"{instance}: expected sense min or max, got {said!r} (arm {arm})")
        before = found.setdefault(instance, said)
        if said is None or said == before:
            by.setdefault(instance, arm)
            continue
        if before is not None:
            raise ObjectiveError(
                f"{instance}: expected one sense, got {before} (arm {by[instance]}) and {said} (arm {arm})",
                hint=f"where an arm reports the negated objective, `gapline score --negate {arm}` turns it",
            )
        found[instance], by[instance] = said, arm
    return {instance: said or fallback[instance] for instance, said in found.items()}


def _fits(rule: str, instance: str, panel: str) -> bool:
    name, pattern = (panel, rule.removeprefix(PANEL)) if rule.startswith(PANEL) else (instance, rule)
    return matches(name, [pattern])


def _refuse_idle(rules: Sequence[tuple[str, Transform]], panels: Mapping[str, str]) -> None:
    for rule, transform in rules:
        if not any(_fits(rule, instance, panel) for instance, panel in panels.items()):
            known = [PANEL + panel for panel in set(panels.values())] if rule.startswith(PANEL) else list(panels)
            raise UsageError(f"transform {transform}: {rule!r} matches no instance", hint=meant(rule, sorted(known)))


def scored_objectives(campaign: Campaign, scale: Scale) -> Floats:
    """Return all captured objectives on the transformed scale; without a transform, the column itself."""
    if scale.hierarchical:
        values = _scalarised(campaign, scale)
    else:
        values = scale.apply_column(campaign.runs, campaign.objective)
    # The compiled pass takes read-only columns only, so that one compiled version is enough.
    if values is not campaign.objective:
        values.flags.writeable = False
    return values


def _scalarised(campaign: Campaign, scale: Scale) -> Floats:
    transform = scale.default
    if campaign.primary is None or campaign.secondary is None:
        raise ObjectiveError(f"transform {transform}: expected columns primary and secondary, got none")
    size = None
    if transform.per_size:
        if "size" not in campaign.runs.columns:
            transform.multiplier(None)
        whole = campaign.runs["size"].cast(pl.Float64).fill_null(np.nan).to_numpy()
        transform.multiplier(whole)
        size = np.ones(len(campaign.time))
        for first, count, n in zip(campaign.runs["first"], campaign.runs["count"], whole, strict=True):
            size[first : first + count] = n
    return transform.scalarise(campaign.primary, campaign.secondary, size=size)
