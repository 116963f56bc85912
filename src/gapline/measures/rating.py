"""Bradley-Terry ratings on the Elo scale, from wins, ties and losses on instances."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from gapline.contract.tables import RATINGS
from gapline.errors import UsageError, listing
from gapline.measures.compared_arms import Compared, IntervalTable, bootstrap_ends, compare_cells
from gapline.measures.improvement import DRAWS
from gapline.native.arrays import Floats
from gapline.scoring.scores import Scores
from gapline.statistics.cells import no_variation_reason, sign, why_no_spread
from gapline.statistics.intervals import DrawnSums

# Points per factor of ten in the odds, and the mean of all arms.
SCALE, CENTRE = 400 / math.log(10), 1500.0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ratings(IntervalTable):
    """One row per ranked arm, best first: rating, its interval, and its wins, ties and losses against all others.

    `unbounded` says which arms would have no finite rating without the prior; `reason` why there is no rating or no
    interval.
    """

    prior: float
    unbounded: str | None
    reason: str | None

    def caption(self) -> str:
        """Return the choices behind the numbers, in one line."""
        prior = f"{self.prior:g} wins added to each side of every pair" if self.prior else "maximum likelihood"
        return (
            f"Bradley-Terry ratings of arms from wins by mean {self.reading.kernels[0]} score per instance, "
            f"{prior}; 400 points are odds of 10 to 1, the mean is {CENTRE:g}; {self.level:.0%} interval "
            f"by {self.drawn}; {self.reading.line()}"
        )

    def document(self) -> dict[str, Any]:
        """Return the ratings for JSON."""
        return {
            "arms": self.frame.to_dicts(),
            "prior": self.prior,
            "level": self.level,
            "draws": self.draws,
            "seed": self.seed,
            "unbounded": self.unbounded,
            "reason": self.reason,
        }


def ratings(
    scores: Scores | Compared,
    /,
    *,
    prior: float = 0.5,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = 1,
) -> Ratings:
    """Rate the arms that ran the same instances by the Bradley-Terry model of wins on instances.

    P(a beats b) = 1 / (1 + 10^((r_b - r_a) / 400)): Elo's scale. An instance on which two arms have a mean score is one
    game; a tie is half a win for each. An arm that beat all others everywhere has no finite maximum-likelihood rating,
    nor has any set of arms that never lost to the rest; so `prior` wins are added to each side of every pair (0.5: one
    drawn game), which the caption states. With `prior=0` such ratings are None. Intervals draw instances inside their
    panels.

    Missing incumbents: an empty run has its kernel's score and enters the mean of its instance. Beaten references: only
    the order on an instance matters. Only arms that ran the same instances are rated. Every instance counts equally,
    whatever its panel.

    >>> import gapline as gl
    >>> runs = [{"arm": arm, "instance": i, "seed": 1, "horizon": 10, "trace": [(t, 30.0)]}
    ...         for arm, times in {"a": (1, 2, 1), "b": (2, 1, 2)}.items() for i, t in zip("ijk", times)]
    >>> snapshot = gl.Snapshot.from_values(dict.fromkeys("ijk", 10.0), name="mine")
    >>> scores = gl.score(gl.build_envelopes(gl.Campaign.from_runs(runs)), snapshot)
    >>> rated = ratings(scores, prior=0).frame["rating"]
    >>> round(rated[0] - rated[1], 6) == round(400 * math.log10(2), 6)
    True
    """
    if not (math.isfinite(prior) and prior >= 0):
        raise UsageError(f"prior: expected wins of 0 or more, got {prior}")
    compared = scores if isinstance(scores, Compared) else compare_cells(scores)
    names = compared.arms
    signs = _signs(compared)
    both = ~np.isnan(signs)
    wins = np.where(both, (1 - np.nan_to_num(signs)) / 2, 0.0)
    totals = wins.sum(axis=2)
    reason = None
    if len(names) < 2:
        reason = f"a rating needs two arms that ran the same instances, got {len(names)}"
    unbounded = None if reason else _unbounded(totals, names)
    finite = reason is None and (prior > 0 or unbounded is None)
    rated = _fit(totals[None], prior)[0] if finite else np.full(len(names), np.nan)
    low, high = np.full((2, len(names)), np.nan)
    strata = compared.cells.panel[compared.common()[1]]
    if finite and (alone := why_no_spread(compared.cells.panels, strata)) is not None:
        reason = alone
    elif finite and prior == 0:
        reason = "a draw may hold no finite rating: intervals need a prior"
    elif finite:
        flat = wins.reshape(-1, wins.shape[2]).T
        sums = DrawnSums(strata, np.ascontiguousarray(flat), draws=draws, seed=seed).over()
        drawn = sum(sums, start=np.zeros(sums[0].shape)).reshape(draws, len(names), len(names))
        low, high = bootstrap_ends(_fit(drawn, prior), rated, strata, level=level)
        reason = no_variation_reason(len(strata)) if np.isnan(low).all() else None
    counts = [[int((row == side).sum()) for side in (-1, 0, 1)] for row in signs]
    points = [[CENTRE + SCALE * float(x) if np.isfinite(x) else None for x in row] for row in (rated, low, high)]
    rows = [(name, points[0][k], points[1][k], points[2][k], *counts[k]) for k, name in enumerate(names)]
    frame = pl.DataFrame(rows, schema=RATINGS, orient="row")
    frame = frame.sort("rating", "arm", descending=[True, False], nulls_last=True)
    return Ratings(frame, compared.reading, level, draws, seed, prior, unbounded, reason)


def _signs(compared: Compared) -> Floats:
    """Return, arms × arms × units, -1 if the first wins, 0 for a tie, 1 if it loses; NaN without a game."""
    rows, _ = compared.common()
    difference = rows[:, None, :] - rows[None, :, :]
    signs = np.where(np.isnan(difference), np.nan, sign(difference).astype(np.float64))
    # An arm does not play against itself.
    signs[np.arange(len(rows)), np.arange(len(rows))] = np.nan
    return signs


def _fit(wins: Floats, prior: float) -> Floats:
    """Return the log strengths, summing to zero, that maximise the likelihood of each batch of wins; bounded Newton."""
    arms = wins.shape[1]
    extra = prior * (1 - np.eye(arms))
    wins = wins + extra
    games = wins + np.swapaxes(wins, 1, 2)
    strength = np.zeros(wins.shape[:2])
    for _ in range(200):
        chance = 1 / (1 + np.exp(strength[:, None, :] - strength[:, :, None]))
        slope = wins.sum(axis=2) - (games * chance).sum(axis=2)
        weight = games * chance * (1 - chance)
        curvature = -weight
        curvature[:, np.arange(arms), np.arange(arms)] = weight.sum(axis=2)
        # Strengths are determined up to a constant: the added ones keep their sum at zero.
        step = np.linalg.solve(curvature + 1.0, slope[..., None])[..., 0]
        largest = np.abs(step).max(axis=1, keepdims=True)
        strength = strength + step * np.minimum(1.0, 1.0 / np.maximum(largest, 1e-300))
        if largest.max() < 1e-12:
            break
    return np.asarray(strength - strength.mean(axis=1, keepdims=True))


def _unbounded(wins: Floats, names: tuple[str, ...]) -> str | None:
    """Name the arms that never lost to the others: their maximum-likelihood ratings are infinite (Ford's rule)."""
    reach = (wins > 0) | np.eye(len(wins), dtype=bool)
    for _ in range(len(wins)):
        reach = reach @ reach
    if reach.all():
        return None
    # Reached by the fewest arms: no arm outside its group ever beat one inside.
    top = min(range(len(wins)), key=lambda k: int(reach[:, k].sum()))
    ahead = [name for k, name in enumerate(names) if reach[top, k] and reach[k, top]]
    rest = [name for name in names if name not in ahead]
    return f"{listing(ahead)} never lost to {listing(rest)}: without the prior there are no finite ratings"
