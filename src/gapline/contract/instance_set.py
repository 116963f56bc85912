"""The instances that arms are compared on: decided only here, and part of every `Reading`.

A mean over the easy half of the instances says nothing against a mean over all of them. Ranks, bold means and winners
therefore exist only among arms that ran the same instances.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.contract.ladders import find_ladders
from gapline.contract.result_table import as_document
from gapline.contract.row_groups import Numbered
from gapline.errors import listing
from gapline.text import counted

LEAVE_OUT, COMMON, EMPTY = "leave-out", "common", "empty"
NO_SOLUTION, NO_COMPARED_SOLUTION = "no run found a solution", "no run of a compared arm found a solution"


@dataclass(frozen=True, slots=True)
class OtherInstances:
    """How the instances of an arm differ from those of the ranked arms: it has `shared` of them, and `more` others."""

    arm: str
    shared: int
    more: int


@dataclass(frozen=True, slots=True)
class InstanceSet:
    """Which arms are ranked, and on how many instances; all ranked arms ran exactly the same ones.

    `rule` says how instances that an arm lacks are treated: `leave-out` ranks the largest group of arms with the same
    instances, `common` leaves out the instances that some compared arm lacks (`left_out` of them), `empty` counts
    missing runs as runs that found nothing. `others` are compared arms that ran other instances: shown, not ranked.
    `reason` says why no arm is ranked; None if some are, or if fewer than two are compared.
    """

    rule: str = LEAVE_OUT
    arms: tuple[str, ...] = ()
    instances: int = 0
    others: tuple[OtherInstances, ...] = ()
    left_out: int = 0
    reason: str | None = None

    def ranked(self, arm: str) -> bool:
        """Return whether an arm may be ranked, tested, printed in bold and named as the best."""
        return arm in self.arms

    @property
    def plain(self) -> bool:
        """Whether every compared arm ran the same instances, and none was left out for that."""
        return not self.others and not self.left_out and self.reason is None

    def __str__(self) -> str:
        """Return the text for a caption, empty if every compared arm ran the same instances."""
        if self.plain:
            return ""
        if self.reason is not None:
            return f"no arm is ranked: {self.reason}"
        on = f"ranked on {counted(self.instances, 'instance')}"
        if self.left_out:
            on += f" that every compared arm ran ({self.left_out:,} left out)"
        if not self.others:
            return on
        rest = listing((self._difference(other) for other in self.others), most=12)
        return f"{on}: {listing(self.arms, most=12)}; other instances, not ranked: {rest}"

    def _difference(self, other: OtherInstances) -> str:
        of = f"{other.shared:,} of these {self.instances:,}" if other.shared else f"none of these {self.instances:,}"
        more = f" and {counted(other.more, 'other')}" if other.more else ""
        return f"{other.arm} ({of}{more})"

    def document(self) -> dict[str, Any]:
        """Return the content for JSON."""
        return as_document(self)


def decide_instance_set(
    runs: pl.DataFrame | Numbered,
    /,
    *,
    tier_two: Collection[str] = (),
    ladders: Sequence[Collection[str]] | None = None,
    rule: str = LEAVE_OUT,
    left_out: int = 0,
) -> InstanceSet:
    """Decide which arms of a runs table (arm, panel, instance) are ranked, and on which instances.

    The ranked arms are the largest group of at least two compared arms that ran exactly the same instances; of groups
    with equally many arms, the one with more instances. If these are equal too, or if no run of a compared arm found a
    solution, no arm is ranked.

    Parameters
    ----------
    runs
        The runs that count: under `common` without the instances that are left out, under `empty` with the empty runs.
    tier_two
        Arms that are described and never ranked.
    ladders
        The arms of each ladder; by default as the runs record them. The steps of a ladder count as one arm here, and a
        ladder on instances of its own forms no group with other arms: it is ranked in its own table.
    rule, left_out
        How missing instances were treated, as captions print it.

    >>> runs = pl.DataFrame({"arm": ["a", "a", "b", "c", "c"], "panel": "p", "instance": ["i", "j", "i", "i", "j"]})
    >>> found = decide_instance_set(runs)
    >>> found.arms, found.instances, str(found)
    (('a', 'c'), 2, 'ranked on 2 instances: a, c; other instances, not ranked: b (1 of these 2)')
    >>> str(decide_instance_set(runs.filter(pl.col("arm") != "c")))
    'no arm is ranked: no two arms ran the same instances'
    """
    names, has = _instances_of_arms(runs)
    compared = [row for row, name in enumerate(names) if name not in tier_two]
    unranked = partial(InstanceSet, rule, left_out=left_out)
    if len(compared) < 2:
        return unranked()
    table = runs.table if isinstance(runs, Numbered) else runs
    if "steps" in table.columns:
        found = set(table.filter(pl.col("steps") > 0)["arm"])
        if found.isdisjoint(names[row] for row in compared):
            return unranked(reason=NO_COMPARED_SOLUTION if found else NO_SOLUTION)
    if ladders is None:
        ladders = list(find_ladders(table).values())
    if rule == COMMON and not has[_asked(names, compared, ladders)].all(axis=0).any():
        return InstanceSet(rule, reason="no instance was run by every compared arm")
    step_of = {arm: number for number, arms in enumerate(ladders) for arm in arms}
    # A campaign with a single ladder compares its steps; next to other arms they count as one solver.
    units = [step_of.get(names[row], names[row]) for row in compared]
    alone = len(set(units)) == 1
    groups: dict[bytes, list[int]] = {}
    for row in compared:
        groups.setdefault(has[row].tobytes(), []).append(row)
    unit_of = dict(zip(compared, range(len(compared)) if alone else units, strict=True))
    sizes = {key: len({unit_of[row] for row in rows}) for key, rows in groups.items()}
    most = max(sizes.values())
    if most < 2:
        what = "two solvers" if any(names[row] in step_of for row in compared) else "two arms"
        return unranked(reason=f"no {what} ran the same instances")
    instances = {key: int(has[rows[0]].sum()) for key, rows in groups.items() if sizes[key] == most}
    largest = max(instances.values())
    best = [key for key, count in instances.items() if count == largest]
    if len(best) > 1:
        on = counted(largest, "instance")
        return unranked(reason=f"{len(best)} groups of {most} arms ran {on} each, and not the same ones")
    ranked = groups[best[0]]
    shared = has[ranked[0]]
    return InstanceSet(
        rule=rule,
        arms=tuple(sorted(names[row] for row in ranked)),
        instances=largest,
        others=tuple(
            OtherInstances(names[row], int((has[row] & shared).sum()), int((has[row] & ~shared).sum()))
            for row in sorted(compared, key=names.__getitem__)
            if row not in ranked
        ),
        left_out=left_out,
    )


def instance_groups(runs: pl.DataFrame | Numbered, /) -> dict[str, int]:
    """Return a number for each arm, the same for arms that ran exactly the same instances.

    >>> runs = pl.DataFrame({"arm": ["a", "b", "b", "c"], "panel": "p", "instance": ["i", "i", "j", "i"]})
    >>> instance_groups(runs)
    {'a': 0, 'b': 1, 'c': 0}
    """
    names, has = _instances_of_arms(runs)
    number: dict[bytes, int] = {}
    order = sorted(range(len(names)), key=names.__getitem__)
    return {names[row]: number.setdefault(has[row].tobytes(), len(number)) for row in order}


def common_instances(
    runs: pl.DataFrame | Numbered, /, *, tier_two: Collection[str] = (), ladders: Sequence[Collection[str]] = ()
) -> tuple[NDArray[np.bool_], int]:
    """Return which runs are on instances that every compared arm has, and how many instances some arm lacks.

    Steps of a ladder count only if no other arm is compared, since a ladder may be on few instances by design. If the
    arms have no instance in common, all runs are kept, and no arm can be ranked.

    >>> runs = pl.DataFrame({"arm": ["a", "a", "b"], "panel": "p", "instance": ["i", "j", "j"]})
    >>> keep, lacking = common_instances(runs)
    >>> keep.tolist(), lacking
    ([False, True, True], 1)
    """
    rows = runs if isinstance(runs, Numbered) else Numbered(runs)
    names, has = _instances_of_arms(rows)
    compared = [row for row, name in enumerate(names) if name not in tier_two]
    common: NDArray[np.bool_] = np.all(has[_asked(names, compared, ladders)], axis=0)
    if not common.any():
        return np.ones(rows.table.height, np.bool_), 0
    return common[rows.by("panel", "instance").row], int(np.count_nonzero(~common))


def _asked(names: list[str], compared: list[int], ladders: Sequence[Collection[str]]) -> list[int]:
    """Return the compared arms outside of ladders, or all of them if every one is a step."""
    steps = {arm for arms in ladders for arm in arms}
    return [row for row in compared if names[row] not in steps] or compared


def _instances_of_arms(runs: pl.DataFrame | Numbered) -> tuple[list[str], NDArray[np.bool_]]:
    """Return the arms, and an array (arms × instances) of whether an arm has a run there."""
    rows = runs if isinstance(runs, Numbered) else Numbered(runs)
    arm, unit = rows.by("arm"), rows.by("panel", "instance")
    names = rows.table["arm"].gather(arm.first_row).to_list()
    has = np.zeros((arm.size, unit.size), np.bool_)
    has[arm.row, unit.row] = True
    return names, has
