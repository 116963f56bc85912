"""Tables of paired differences: contrasts, and one comparison."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from gapline.report.numbers import count, interval, number, p_value, sentence
from gapline.report.table import Column, Field, Record, Table, Text, field, field_table, fields
from gapline.statistics.contrasts import Contrasts
from gapline.study.comparison import Comparison

_OUTCOMES = ("wins", "ties", "losses")


def compared_rows(contrasts: Contrasts, descriptive: Sequence[str]) -> pl.DataFrame:
    """Return only the contrasts of compared arms: a descriptive arm is never tested."""
    return contrasts.frame.filter(~(pl.col("a").is_in(list(descriptive)) | pl.col("b").is_in(list(descriptive))))


def by_declaration(frame: pl.DataFrame) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return the rows of pairs of arms under their headings: declared ones, then exploratory ones."""
    kinds = (("declared", frame.filter("declared")), ("exploratory", frame.filter(~pl.col("declared"))))
    return [(name, rows.to_dicts()) for name, rows in kinds if rows.height]


def outcomes(row: Record) -> str:
    """Return how often the first arm wins, ties and loses."""
    return "/".join(count(row[name]) for name in _OUTCOMES)


def contrast_table(contrasts: Contrasts, /, *, empties: Mapping[str, int], descriptive: Sequence[str] = ()) -> Table:
    """Return the differences of means, declared ones first; bold if the interval excludes 0."""
    rows = compared_rows(contrasts, descriptive)
    frame = rows.sort("declared", "a", "b", descending=[True, False, False])
    # If pairs share other instances than the ranked arms, each row states their number.
    shared = bool((frame["instances"] != contrasts.reading.instance_set.instances).any())
    columns = [
        *fields("a", "b", text=True),
        *(fields("instances", form=count) if shared else ()),
        *(field(Column(f"mean {arm}", f"Mean {arm.upper()}", spare=4), f"mean_{arm}", number) for arm in "ab"),
        Field(Column("a − b", "A $-$ B", spare=0), _difference),
        Field(Column(f"{contrasts.level:.0%} interval", spare=0), lambda row: interval(row["low"], row["high"])),
        field(Column("p", "$p$", spare=2), "p", p_value),
        field(Column("Holm p", "Holm $p$"), "p_holm", p_value),
        Field(Column("W/T/L", spare=3), outcomes),
        Field(
            Column("empty a/b", "empty A/B", spare=5),
            lambda row: "/".join(count(empties.get(row[side], 0)) for side in "ab"),
        ),
    ]
    notes = [sentence(contrasts.caption()), *map(sentence, contrasts.notes())]
    notes += ["Instances: those that both arms of a row ran; means and difference are over these."] if shared else []
    notes.append("Bold where the interval excludes 0. W/T/L: instances on which the first arm wins, ties, loses.")
    caption = "Differences of mean scores; negative, the first arm is better"
    return field_table("contrasts", caption, columns, by_declaration(frame), frame, notes)


def _difference(row: Record) -> Text:
    # The interval alone decides bold print; Holm's p is next to it.
    return Text(number(row["difference"]), row["low"] is not None and (row["low"] > 0 or row["high"] < 0))


def comparison_table(comparison: Comparison, /) -> Table:
    """Return the panels of a comparison and the whole; a difference of machines is flagged on every line."""
    flag = "  [machines differ]" if comparison.machine_differs else ""
    frame, ends = comparison.frame, ("first", "second", "difference", "low", "high")
    means = (*comparison.means, comparison.difference, comparison.low, comparison.high)
    # Not "all", which is the name of an unnamed panel.
    whole = {"panel": "all panels", "instances": comparison.instances, **dict(zip(ends, means, strict=True))}
    whole |= {name: int(frame[name].sum()) for name in _OUTCOMES}
    columns = [
        Field(Column("panel", text=True), lambda row: f"{row['panel']}{flag}"),
        *fields("instances", form=count, spare=3, plain=True),
        *fields(*ends[:2], form=number, spare=2, plain=True),
        *fields(*ends[2:], form=number, spare=0, plain=True),
        *fields(*_OUTCOMES, form=count, spare=4, plain=True),
    ]
    caption = f"first: {comparison.first}; second: {comparison.second}"
    parts = [(None, [*frame.to_dicts(), whole])]
    return field_table("comparison", caption, columns, parts, frame, [f"{comparison.caption()}."])
