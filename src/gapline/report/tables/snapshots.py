"""The values of snapshots: as they are, as they changed, and where each comes from."""

from collections.abc import Mapping, Sequence

import polars as pl

from gapline.references.diff import Difference
from gapline.references.history import Step
from gapline.references.reference import Reference
from gapline.report.numbers import DASH, share_decimals
from gapline.report.table import Column, Table, part, word_table


def value_table(values: Mapping[str, Reference], /) -> Table:
    """Return the value of every instance, to its last digit, and who says so."""
    written = share_decimals([_exact(entry.value) for entry in values.values()])
    rows = [
        (instance, value, "yes" if entry.certified else "no", entry.source)
        for (instance, entry), value in zip(values.items(), written, strict=True)
    ]
    columns = (Column("instance", text=True), Column("value", spare=0), *_words("certified", "source"))
    return word_table("values", "Values", columns, rows)


def difference_table(classes: Mapping[str, Sequence[Difference]], /) -> Table:
    """Return what changed between two snapshots, a part per kind of change."""
    found = [(kind, one) for kind, differences in classes.items() for one in differences]
    written = share_decimals([_exact(value) for _, one in found for value in (one.old, one.new)])
    parts: dict[str, list[Sequence[str]]] = {}
    for place, (kind, one) in enumerate(found):
        who = " and ".join(name for name in ("old", "new") if getattr(one, f"{name}_certified"))
        why = one.new_source or ""
        if kind == "instance_changed":
            why = f"{_short(one.old_instance_digest)} -> {_short(one.new_instance_digest)}: not comparable"
        parts.setdefault(kind.replace("_", " "), []).append(
            (one.instance, written[2 * place], written[2 * place + 1], who, why)
        )
    columns = (
        Column("instance", text=True), Column("old", spare=0), Column("new", spare=0), *_words("certified", "source"),
    )  # fmt: skip
    listed = [(kind, *row) for kind, rows in parts.items() for row in rows]
    return Table(
        name="differences",
        caption="What changed",
        columns=columns,
        parts=tuple(part(f"{kind}: {len(rows)}", rows) for kind, rows in parts.items()),
        frame=pl.DataFrame(
            listed, schema=dict.fromkeys(["change", *(c.head for c in columns)], pl.String), orient="row"
        ),
    )


def step_table(steps: Mapping[str, Sequence[Step]], store: str | None, /) -> Table:
    """Return how the value of each instance came to be, newest first; commits of a store below the snapshots."""
    written = share_decimals([_exact(step.value) for mine in steps.values() for step in mine])
    cells = iter(written)
    values = {id(step): next(cells) for mine in steps.values() for step in mine}
    parts, listed = [], []
    for instance, mine in steps.items():
        for heading, chosen in (
            (instance, [step for step in mine if step.commit is None]),
            (f"{instance} in {store}", [step for step in mine if step.commit is not None]),
        ):
            rows = [_step_row(step, values[id(step)]) for step in chosen]
            listed += [(instance, *row) for row in rows]
            if rows:
                parts.append(part(heading, rows))
    columns = (
        Column("value", spare=0), *(Column(name, text=True) for name in ("as of", "change", "where")),
        *_words("certified", "source"),
    )  # fmt: skip
    return Table(
        name="steps",
        caption="Where the values come from, newest first",
        columns=columns,
        parts=tuple(parts),
        frame=pl.DataFrame(
            listed, schema=dict.fromkeys(["instance", *(c.head for c in columns)], pl.String), orient="row"
        ),
    )


def _step_row(step: Step, value: str) -> tuple[str, ...]:
    where = step.where if step.commit is None else f"commit {step.commit[:12]} by {step.committer}: {step.where}"
    known = (step.as_of or "undated")[:19]
    return (value, known, step.change, where, "yes" if step.certified else "no", step.source or "")


def _words(*names: str) -> list[Column]:
    return [Column(name, text=True, spare=1 + place) for place, name in enumerate(names)]


def _exact(value: float | None) -> str:
    return DASH if value is None else repr(value)


def _short(digest: str | None) -> str:
    return DASH if digest is None else f"{digest[:19]}…"
