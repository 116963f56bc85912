"""Goal attainment: which share of the runs has reached a raw gap goal by each time (the paper's equation 7)."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from gapline.contract.argument_checks import expect, several
from gapline.contract.reading import TOLERANCE
from gapline.contract.transforms import shortest
from gapline.envelope.build import Envelopes
from gapline.errors import listing
from gapline.references.choice import References, as_snapshot, label_reference
from gapline.scoring.curve import common_horizon, group_rows
from gapline.scoring.endpoints import hitting_times
from gapline.scoring.run_references import ReadTable, build_reading, reference_column
from gapline.scoring.weighting import run_weights, share_steps


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AttainmentCurves(ReadTable):
    """Step curves: one row per breakpoint, goal and group; `value` is the share of runs that have attained the goal."""

    by: tuple[str, ...]
    relative: bool

    def caption(self) -> str:
        """Return the choices behind the curve, in one line."""
        return f"attainment of the raw gap goal {listing(map(shortest, self.goals))}; {self.reading.line()}"


def attainment_curve(
    envelopes: Envelopes,
    snapshot: References,
    /,
    *,
    goals: float | Sequence[float] = (0.01,),
    by: str | Sequence[str] = "arm",
    weighting: str = "panel",
    relative: bool = False,
    tolerance: float = TOLERANCE,
    policy: str | None = None,
) -> AttainmentCurves:
    """Return, for each group and goal, the share of runs that have attained (z - z*) <= goal·z* by each time.

    A run that never attains the goal contributes zero at every time and stays in the denominator.

    >>> import gapline as gl
    >>> runs = [{"arm": "a", "instance": "i", "seed": s, "horizon": 10, "trace": t}
    ...         for s, t in ((1, [(2, 10.05)]), (2, []))]
    >>> envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    >>> gl.attainment_curve(envelopes, gl.Snapshot.from_values({"i": 10.0}, name="mine"), goals=[0.01]).frame.rows()
    [('a', 0.01, 0.0, 0.0), ('a', 0.01, 2.0, 0.5)]
    """
    groups = [by] if isinstance(by, str) else list(by)
    goals = several(goals)
    expect(envelopes, Envelopes, "attainment_curve")
    snapshot = as_snapshot(snapshot)
    references = reference_column(snapshot, envelopes)
    hits = hitting_times(envelopes, references, goals, tolerance)
    common_horizon(envelopes.runs, relative=relative)
    if relative:
        hits = hits / envelopes.runs["horizon"].to_numpy()[:, None]
    weights = run_weights(envelopes.runs, by=groups, weighting=weighting)
    frames = []
    for key, rows in group_rows(envelopes.runs, groups):
        named = [pl.lit(cell).alias(name) for name, cell in zip(groups, key, strict=True)]
        for column, goal in enumerate(goals):
            times, shares = share_steps(hits[rows, column], weights[rows], start=0.0)
            steps = pl.DataFrame({"time": times, "value": shares})
            frames.append(steps.select(*named, pl.lit(goal).alias("goal"), "time", "value"))
    return AttainmentCurves(
        frame=pl.concat(frames),
        by=tuple(groups),
        relative=relative,
        reading=build_reading(
            envelopes,
            label_reference(snapshot, envelopes, policy=policy),
            # Attainment is on the raw scale, whatever kernel the scores have.
            kernels=("raw",),
            goals=tuple(goals),
            tolerance=tolerance,
            weighting=str(weighting),
        ),
    )
