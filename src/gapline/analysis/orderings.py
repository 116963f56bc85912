"""Panel orderings of arms, and which of them reverse between two readings.

An ordering is the sign of the difference of two arms' panel means (instance means first); differences below 1e-12 are
ties. A reversal flips the sign of a pair that is tied in neither reading.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gapline.analysis.readings import Readings
from gapline.model.document import as_document
from gapline.summary.cells import sign


@dataclass(frozen=True, slots=True)
class Angle:
    """One way to read the runs."""

    kernel: str
    reference: str


@dataclass(frozen=True, slots=True)
class Reversal:
    """Two arms whose order in a panel differs between two readings.

    `out_of_envelope` marks Berthold's gap where a run of the pair ended below its reference: shown, not counted.
    """

    panel: str
    a: str
    b: str
    before: Angle
    after: Angle
    out_of_envelope: bool

    def document(self) -> dict[str, Any]:
        """Return it for JSON."""
        found = as_document(self)
        return {"from": found.pop("before"), "to": found.pop("after"), **found}


def panel_signs(readings: Readings, reference: int, kernel: int) -> NDArray[np.int8]:
    """Return, pairs of ranked arms × panels, which arm is better: -1 the first, 1 the second, 0 a tie."""
    means = readings.panel_means(reference, kernel)
    pairs = readings.pairs
    if not pairs:
        return np.zeros((0, means.shape[1]), np.int8)
    one, other = np.array(pairs).T
    return sign(means[one] - means[other])


def find_reversals(readings: Readings, before: tuple[int, int], after: tuple[int, int]) -> list[Reversal]:
    """List the pairs of ranked arms that change order in a panel between two (reference, kernel) readings."""
    old, new = (Angle(readings.kernels[kernel].name, readings.names[name]) for name, kernel in (before, after))
    return [
        Reversal(panel, a, b, old, new, marked)
        for panel, a, b, marked in reversed_pairs(readings, before, readings, after)
    ]


def reversed_pairs(
    one: Readings, before: tuple[int, int], other: Readings, after: tuple[int, int]
) -> list[tuple[str, str, str, bool]]:
    """List panel, a, b of the pairs that change order between two readings of the same cells.

    The last entry marks those that are out of a kernel's envelope.
    """
    # A product below zero needs two signs that are not 0: ties never reverse.
    flipped = panel_signs(one, *before) * panel_signs(other, *after) < 0
    outside = one.outside(*before) | other.outside(*after)
    cells = one.cells
    found = []
    for row, panel in np.argwhere(flipped).tolist():
        a, b = one.pairs[row]
        marked = bool(outside[a, panel] or outside[b, panel])
        found.append((cells.panels[panel], cells.arms[a], cells.arms[b], marked))
    return found
