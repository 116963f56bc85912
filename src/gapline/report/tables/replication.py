"""Tables of a replication: differences there and here, shifts of the means, and different conditions."""

from itertools import groupby
from typing import get_args

import msgspec
import polars as pl

from gapline.report.numbers import DASH, interval, number, sentence, signed
from gapline.report.table import Column, Table, Text, one_part, part
from gapline.study.replication import DISTURBED, Conclusion, Condition, Measured, Replicated, Shift

THERE, HERE = "there", "here"
_MEASURED = tuple(Measured.__struct_fields__)


def conclusion_table(found: Replicated, /) -> Table:
    """Return each pair of arms twice, there and here; bold if the interval excludes 0."""
    rows = [row for one in found.conclusions for row in _conclusion_rows(one)]
    schema = _schema(Conclusion) | {"agreement": pl.String()} | _schema(Measured, "_old") | _schema(Measured, "_new")
    frame = [
        msgspec.structs.asdict(one)
        | {"agreement": one.agreement.value}
        | {f"{name}_{side}": getattr(getattr(one, side), name) for side in ("old", "new") for name in _MEASURED}
        for one in found.conclusions
    ]
    return Table(
        name="replication-conclusions",
        caption="Differences of mean scores, there and here; negative, the first arm is better",
        columns=(
            Column("pair, and what became of it", text=True),
            Column("", text=True),
            Column("a − b", "A $-$ B"),
            Column(f"{found.level:.0%} interval"),
        ),
        parts=one_part(rows),
        frame=pl.DataFrame(frame, schema=schema),
        notes=(
            sentence(f"{found.kernel} scores{f', intervals by {found.how}' if found.how else ''}; {found.horizons}"),
            sentence(found.reading),
            "Bold where the interval excludes 0.",
            *(() if all(one.declared for one in found.conclusions) else ("† exploratory: not declared there.",)),
        ),
    )


def _schema(kind: type[msgspec.Struct], side: str = "") -> dict[str, pl.DataType]:
    """Return the columns for the plain fields of a struct, without enumerations and nested structs."""
    columns = {int: pl.Int64(), float: pl.Float64(), str: pl.String(), bool: pl.Boolean()}
    types = ((field.name, {field.type, *get_args(field.type)}) for field in msgspec.structs.fields(kind))
    return {f"{name}{side}": columns[one] for name, some in types for one in some if one in columns}


def _conclusion_rows(one: Conclusion) -> list[list[Text | str]]:
    # A mark instead of a word: a narrow terminal shortens long names in the middle.
    labels = (f"{one.a} − {one.b}{'' if one.declared else ' †'}", one.agreement.value)
    return [
        [label, where, Text(signed(side.difference), side.told_apart), interval(side.low, side.high)]
        for label, where, side in zip(labels, (THERE, HERE), (one.old, one.new), strict=True)
    ]


def shift_table(found: Replicated, /) -> Table:
    """Return the shift of each arm's mean, over all panels and in each; bold if it is significant."""
    frame = pl.DataFrame(list(map(msgspec.structs.asdict, found.shifts)), schema=_schema(Shift))
    parts = []
    for arm, shifts in groupby(found.shifts, key=lambda one: one.arm):
        several = list(shifts)
        # With a single panel, its row would repeat the total.
        shown = several[:1] if len(several) == 2 else several
        parts.append(part(arm, [_shift_row(one) for one in shown]))
    return Table(
        name="replication-shifts",
        caption="Mean scores, there and here; smaller is better",
        columns=(
            Column("panel", text=True),
            Column(THERE),
            Column(HERE),
            Column("shift"),
            Column(f"{found.level:.0%} interval"),
            Column("shown", text=True),
        ),
        parts=tuple(parts),
        frame=frame,
        notes=(
            "The shift is here minus there, paired by instance. Each is tested by itself, not adjusted for their "
            "number: of many, some are shown by chance. Arms of tier 2 are described, not tested.",
        ),
    )


def _shift_row(one: Shift) -> list[Text | str]:
    shown = one.verdict if one.verdict in ("better", "worse") else ""
    return [
        "all panels" if one.panel is None else one.panel,
        number(one.old),
        number(one.new),
        Text(signed(one.shift), bool(shown)),
        interval(one.low, one.high),
        shown or (DASH if one.tier == 1 else "tier 2"),
    ]


def condition_table(found: Replicated, /, *, alike: bool = True) -> Table:
    """Return the conditions there and here, different ones first; without `alike`, identical ones are left out."""
    # The number of disturbed runs is always shown.
    chosen = [one for one in found.conditions if one.differs or (one.what == DISTURBED and not alike)]
    other = [one for one in found.conditions if one.old and one.new and one not in chosen]
    unknown = [one for one in found.conditions if not (one.old and one.new)]
    parts = [part("differs" if alike else None, map(_condition_row, chosen))]
    if alike:
        parts += [part("alike", map(_condition_row, other)), part("known of one alone", map(_condition_row, unknown))]
    return Table(
        name="replication-conditions",
        caption="Under what it was measured, there and here",
        columns=(Column("what", text=True), Column(THERE, text=True), Column(HERE, text=True)),
        parts=tuple((heading, rows) for heading, rows in parts if rows),
        frame=pl.DataFrame(
            [msgspec.structs.asdict(one) | {"differs": one.differs} for one in found.conditions],
            schema=_schema(Condition) | {"differs": pl.Boolean()},
        ),
    )


def _condition_row(one: Condition) -> list[Text | str]:
    return [one.what, one.old or DASH, one.new or DASH]
