"""Mean convergence and attainment of the runs that are whole so far, at as many moments as a page draws."""

from typing import Any

import numpy as np
import polars as pl

from gapline.errors import GaplineError
from gapline.scoring.attainment import attainment_curve
from gapline.scoring.curve import mean_curve
from gapline.serve.table import Table

POINTS = 200


def curves_document(table: Table) -> dict[str, Any]:
    """Return the curves of every arm; `refused` says why there are none."""
    study, envelopes = table.study, table.envelopes()
    if study is None or envelopes is None:
        return {
            "relative": False,
            "mean": [],
            "attainment": [],
            "refused": (table.refused or ("no run is whole", ""))[0],
        }
    relative = envelopes.runs["horizon"].n_unique() > 1
    choices: dict[str, Any] = {"weighting": study.weighting, "relative": relative, "tolerance": study.tolerance}
    refused, mean = None, []
    try:
        found = mean_curve(envelopes, study.snapshot, kernel=study.kernels[0], points=POINTS, **choices)
        mean = _lines(found.frame, "value")
    except GaplineError as error:
        # `raw` has no mean curve where a run starts without a candidate.
        refused = error.message
    attained = attainment_curve(envelopes, study.snapshot, goals=study.goals, **choices)
    lines = []
    for goal in study.goals:
        part = attained.frame.filter(pl.col("goal") == goal)
        lines += [line | {"goal": goal} for line in _lines(part, "value")]
    return {"relative": relative, "mean": mean, "attainment": lines, "refused": refused}


def _lines(frame: pl.DataFrame, value: str) -> list[dict[str, Any]]:
    lines = []
    for (arm,), part in frame.group_by("arm", maintain_order=True):
        places = np.unique(np.linspace(0, part.height - 1, min(part.height, 2 * POINTS)).round().astype(np.int64))
        thin = part[places.tolist()]
        lines.append({"arm": arm, "time": thin["time"].to_list(), "value": thin[value].to_list()})
    return lines
