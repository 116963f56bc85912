"""The order of the arms: which arms are ranked, their ranks, and the reason if there are none."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gapline.references.alarms import Alarm
from gapline.report.numbers import DASH, sentence
from gapline.report.statements.remarks import descriptive_notes
from gapline.statistics.means import Summary
from gapline.statistics.ranking import rank_means

# Marks a row affected by an integrity alarm.
ALARMED = " (alarm)"


@dataclass(frozen=True, slots=True)
class ArmOrder:
    """The arms as every output lists them: ranked ones best first, then the others of tier 1, then those of tier 2.

    `compared` are the arms that ran the same instances. `ranks` has the arms with a mean, ties share the better rank;
    it is empty if the kernel ranks no arms, and `unrankable` gives the reason. `others` are arms of tier 1 that ran
    other instances, or all of them if no two ran the same, for the given `reason`; sorted by name. `outside` are the
    kernels outside their envelope here, which are shown without ranks or bold print. `alarmed` are arms with runs in an
    integrity alarm: their names are marked. Only a compared arm has a rank, is bold or is named as ahead.
    """

    compared: tuple[str, ...]
    descriptive: tuple[str, ...]
    ranks: dict[str, int]
    unrankable: str | None = None
    outside: frozenset[str] = frozenset()
    others: tuple[str, ...] = ()
    reason: str | None = None
    alarmed: frozenset[str] = frozenset()

    @property
    def arms(self) -> tuple[str, ...]:
        """All arms, in the order of the rows."""
        return (*self.compared, *self.others, *self.descriptive)

    def label(self, arm: str) -> str:
        """Return the name of an arm for the first cell of its row, marked if an integrity alarm affects its runs."""
        return f"{arm}{ALARMED}" if arm in self.alarmed else arm

    def tier(self, arm: str) -> int:
        """Return the tier of an arm."""
        return 2 if arm in self.descriptive else 1

    def rank(self, arm: str) -> str:
        """Return the rank as text; a dash if there is none."""
        return str(self.ranks[arm]) if arm in self.ranks else DASH

    def notes(self) -> list[str]:
        """Return notes on arms that are not compared, and on why no arm is ranked."""
        notes = ["(alarm): runs of this arm are part of an integrity alarm."] if self.alarmed else []
        notes += descriptive_notes(self.descriptive)
        return notes + ([sentence(self.unrankable)] if self.unrankable else [])


def order_arms(summary: Summary, /, *, tier_two: Sequence[str] = (), alarms: Sequence[Alarm] = ()) -> ArmOrder:
    """Order the arms of a summary by the mean of its first kernel; its reading decides which are ranked.

    `tier_two` are further arms that are described and not ranked.

    >>> import gapline as gl
    >>> runs = [{"arm": a, "instance": "i", "seed": 1, "horizon": 9, "tier": tier, "trace": [(0, z)]}
    ...         for a, z, tier in (("b", 12.0, 1), ("a", 13.0, 1), ("c", 11.0, 2))]
    >>> envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    >>> scores = gl.score(envelopes, gl.Snapshot.from_values({"i": 10.0}, name="known"))
    >>> order = order_arms(gl.summarise(scores))
    >>> order.arms, order.ranks
    (('b', 'a', 'c'), {'b': 1, 'a': 2})
    """
    kernel, reading = summary.kernels[0], summary.reading
    # Arms with equal means are sorted by name, so that the order does not depend on that of the files.
    means = dict(summary.frame.select("arm", kernel).sort(kernel, "arm", nulls_last=True).iter_rows())
    compared = tuple(arm for arm in means if reading.instance_set.ranked(arm) and arm not in tier_two)
    known = [arm for arm in compared if means[arm] is not None]
    unrankable = summary.why_unranked.get(kernel)
    if unrankable is not None:
        known = []
    ranks = rank_means(np.array([means[arm] for arm in known], np.float64))
    descriptive = tuple(sorted(arm for arm in means if arm in (*reading.tier_two, *tier_two)))
    return ArmOrder(
        compared=compared,
        descriptive=descriptive,
        ranks=dict(zip(known, ranks.tolist(), strict=True)),
        unrankable=unrankable,
        outside=frozenset(summary.why_unranked),
        others=tuple(sorted(set(means) - set(compared) - set(descriptive))),
        reason=reading.instance_set.reason,
        alarmed=frozenset(arm for alarm in alarms for arm in alarm.arms),
    )
