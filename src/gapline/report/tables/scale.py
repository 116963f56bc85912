"""What a score means as a raw gap, and a raw gap as a score."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from gapline.model.transform import shortest
from gapline.report.numbers import DASH, number, share_decimals
from gapline.report.table import Column, Table, one_part

_HELD = "of a run that holds one gap from time 0 to the horizon"


def scale_reports(frame: pl.DataFrame, /) -> list[Table]:
    """Return the tables of `gapline scale`: a row per score or raw gap that was asked for, a column per kernel."""
    found = []
    for given, caption, head in (
        ("score", f"Raw gap by score, {_HELD}", "score"),
        ("raw gap", f"Score by raw gap, {_HELD}", "raw gap"),
    ):
        asked = frame.filter(pl.col("given") == given)
        if asked.height:
            found.append(_table(asked, given, caption, head))
    return found


def _table(asked: pl.DataFrame, given: str, caption: str, head: str) -> Table:
    kernels = list(dict.fromkeys(asked["kernel"].to_list()))
    of_score = given == "score"
    values = list(dict.fromkeys(asked["score" if of_score else "raw_gap"].to_list()))
    by_place = {(row["score" if of_score else "raw_gap"], row["kernel"]): row for row in asked.to_dicts()}
    columns = [share_decimals([shortest(value) for value in values]) if of_score else raw_percents(values)]
    for kernel in kernels:
        found = [by_place[value, kernel] for value in values]
        columns.append(_raw_cells(found) if of_score else [_score_cell(row) for row in found])
    rows = list(zip(*columns, strict=True))
    return Table(
        name="scale-scores" if of_score else "scale-raw-gaps",
        caption=caption,
        columns=(Column(head, spare=0), *(Column(kernel) for kernel in kernels)),
        parts=one_part(rows),
        frame=asked,
        notes=("raw gap g = (z − z*) / z*; below 0 is better than the reference.", *_notes(asked)),
    )


def _notes(asked: pl.DataFrame) -> list[str]:
    """Say what the cells leave out, each once."""
    noted = asked.filter(pl.col("note").is_not_null())
    kinds = noted.group_by("note", maintain_order=True).agg(pl.col("kernel").unique(maintain_order=True))
    return [f"{', '.join(kernels)}: {note}." for note, kernels in kinds.iter_rows()]


def _raw_cells(rows: Sequence[dict[str, Any]]) -> list[str]:
    above, below = ([row[name] for row in rows] for name in ("raw_gap", "raw_gap_below"))
    written = raw_percents([*above, *below])
    cells = []
    for row, high, low in zip(rows, written, written[len(rows) :], strict=False):
        sign = "≥ " if row["saturated"] and row["raw_gap"] is not None else ""
        cells.append(sign + high + (f" or {low}" if row["raw_gap"] is not None and low != DASH else ""))
    return cells


def _score_cell(row: dict[str, Any]) -> str:
    return number(row["score"]) + (" (saturated)" if row["saturated"] else "")


def raw_percents(raws: Sequence[float | None]) -> list[str]:
    """Write the raw gaps of one column in per cent, all with the decimals that the finest of them needs.

    >>> raw_percents([0.10526, None, 0.5])
    ['10.53 %', '–', '50.00 %']
    """
    written = [DASH if raw is None else raw_percent(raw).removesuffix(" %") for raw in raws]
    digits = max((len(text.partition(".")[2]) for text in written if "e" not in text), default=0)
    return [
        DASH if raw is None else raw_percent(raw) if "e" in text else f"{100 * raw:z.{digits}f} %"
        for raw, text in zip(raws, written, strict=True)
    ]


def raw_percent(raw: float) -> str:
    """Write a raw gap in per cent by its leading digits: two decimals would hide a small one.

    >>> raw_percent(0.10526), raw_percent(-0.2), raw_percent(1e-6), raw_percent(2.0)
    ('10.53 %', '-20 %', '0.0001 %', '200 %')
    """
    return f"{100 * raw:.4g} %"
