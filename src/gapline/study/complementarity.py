"""Complementarity: pairs of arms with similar scores but different final gaps or attainment."""

from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
import polars as pl

from gapline.contract.argument_checks import expect
from gapline.contract.names import parse_weight
from gapline.contract.reading import TOLERANCE
from gapline.contract.result_table import Shown, as_document
from gapline.contract.tables import COMPLEMENTARITY_GRID, COMPLEMENTARITY_PAIRS
from gapline.envelope.build import Envelopes
from gapline.errors import UsageError
from gapline.references.choice import References, as_snapshot
from gapline.scoring.endpoints import final_gaps, hitting_times
from gapline.scoring.integral import integrate_envelopes
from gapline.scoring.kernels import Kernel, parse_kernel
from gapline.scoring.run_references import reference_column
from gapline.statistics.cells import TIE, build_cells, finite_or_none

# The paper's rule: similar scores, and a different endpoint or a different attainment.
MAX_SCORE, MIN_FINAL, MIN_ATTAINMENT, GOAL = 0.005, 0.01, 0.10, 0.01
_FACTORS = (0.5, 1.0, 2.0)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Complementarity(Shown):
    """Every within-panel pair of arms with its absolute differences, and whether the rule selects it.

    `d_final` is null if an arm has no non-empty run in the panel. `grid` counts the pairs that the rule would select
    with its thresholds halved, as given and doubled.
    """

    pairs: pl.DataFrame
    grid: pl.DataFrame
    kernel: str
    goal: float
    reference: str

    @property
    def contrasts(self) -> pl.DataFrame:
        """The selected pairs, the most similar scores first."""
        return self.pairs.filter("selected").drop("selected").sort("d_score", "panel", "a", "b")

    def caption(self) -> str:
        """Return a description in one line."""
        chosen = f"{self.contrasts.height} of {self.pairs.height} pairs selected"
        return f"{chosen}; {self.kernel}, goal {self.goal:g}, against {self.reference}"

    def document(self) -> dict[str, Any]:
        """Return the content for JSON."""
        return as_document(self) | {"pairs": self.pairs.height, "contrasts": self.contrasts.to_dicts()}


def complementarity(
    envelopes: Envelopes,
    snapshot: References,
    /,
    *,
    kernel: str | Kernel = "squeezed",
    weight: str = "uniform",
    goal: float = GOAL,
    tolerance: float = TOLERANCE,
    max_score: float = MAX_SCORE,
    min_final: float = MIN_FINAL,
    min_attainment: float = MIN_ATTAINMENT,
) -> Complementarity:
    """Screen all arms, panel by panel, for similar scores with different endpoints or attainment.

    Only arms that ran the same instances of a panel form a pair there.

    A pair is selected where the scores differ by at most `max_score`, and the raw final gaps by at least `min_final` or
    the attainment of the goal by at least `min_attainment`. Means are over instances as the scores are; final gaps over
    non-empty runs alone. Thresholds hold to 1e-12, so that a difference of exactly ten points counts as ten points.
    """
    expect(envelopes, Envelopes, "complementarity")
    snapshot = as_snapshot(snapshot)
    for name, value in (("max_score", max_score), ("min_final", min_final), ("min_attainment", min_attainment)):
        if not (np.isfinite(value) and value >= 0):
            raise UsageError(f"{name}: expected a finite number of 0 or more, got {value}")
    chosen = parse_kernel(kernel, tolerance=tolerance)
    references = reference_column(snapshot, envelopes)
    cells = build_cells(envelopes.runs)
    scores = integrate_envelopes(envelopes, references, kernels=[chosen], weight=parse_weight(weight))[:, 0]
    raw, _ = final_gaps(envelopes, references)
    hits = hitting_times(envelopes, references, [goal], tolerance)[:, 0]
    # An empty run has no final gap: a zero or a one instead would decide the mean.
    full = ~np.isnan(raw)
    score = cells.panel_means(cells.instance_means(scores))
    final = cells.panel_means(cells.instance_means(raw, where=full))
    attained = cells.panel_means(cells.instance_means(np.isfinite(hits).astype(np.float64)))
    has = cells.counts() > 0
    rows = []
    for panel, name in enumerate(cells.panels):
        for one, other in combinations(range(len(cells.arms)), 2):
            inside = cells.panel == panel
            # Means over different instances of the panel may agree or differ whatever the arms do.
            if not np.array_equal(has[one, inside], has[other, inside]):
                continue
            cell = [abs(float(means[one, panel]) - float(means[other, panel])) for means in (score, final, attained)]
            # Neither of the two ran in this panel.
            if np.isnan(cell[0]):
                continue
            rows.append((name, cells.arms[one], cells.arms[other], *(finite_or_none(value) for value in cell)))
    pairs = pl.DataFrame(rows, schema=COMPLEMENTARITY_PAIRS, orient="row")
    # The thresholds are a choice: the grid shows how many pairs depend on it.
    grid = [
        (s, f, a, pairs.filter(_rule(s, f, a)).height)
        for s, f, a in product(*([factor * v for factor in _FACTORS] for v in (max_score, min_final, min_attainment)))
    ]
    return Complementarity(
        pairs=pairs.with_columns(selected=_rule(max_score, min_final, min_attainment)),
        grid=pl.DataFrame(grid, schema=COMPLEMENTARITY_GRID, orient="row"),
        kernel=chosen.name,
        goal=goal,
        reference=snapshot.name,
    )


def _rule(max_score: float, min_final: float, min_attainment: float) -> pl.Expr:
    ends = (pl.col("d_final") >= min_final - TIE).fill_null(False)
    return (pl.col("d_score") <= max_score + TIE) & (ends | (pl.col("d_attainment") >= min_attainment - TIE))
