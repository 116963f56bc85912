"""The values of snapshots: their current state, their changes, and their sources."""

from collections.abc import Iterator, Mapping, Sequence

from gapline.references.diff import Difference
from gapline.references.history import Step
from gapline.references.reference import Reference
from gapline.report.numbers import DASH, share_decimals
from gapline.report.table import Column, Table, part, word_table

_SOURCE = [Column(name, text=True, spare=1 + place) for place, name in enumerate(("certified", "source"))]


def value_table(values: Mapping[str, Reference], /) -> Table:
    """Return the value of every instance, to its last digit, with its source."""
    written = _exact([entry.value for entry in values.values()])
    rows = [
        (instance, value, "yes" if entry.certified else "no", entry.source)
        for (instance, entry), value in zip(values.items(), written, strict=True)
    ]
    return word_table("values", "Values", [Column("instance", text=True), Column("value", spare=0), *_SOURCE], rows)


def difference_table(classes: Mapping[str, Sequence[Difference]], /) -> Table:
    """Return the changes between two snapshots, a part per kind of change."""
    written = _exact([value for found in classes.values() for one in found for value in (one.old, one.new)])
    groups: list[_Group] = []
    for kind, found in classes.items():
        name = kind.replace("_", " ")
        rows = [(one.instance, next(written), next(written), *_change(kind, one)) for one in found]
        groups.append((f"{name}: {len(rows)}", name, rows))
    columns = [Column("instance", text=True), Column("old", spare=0), Column("new", spare=0), *_SOURCE]
    return _grouped("differences", "What changed", "change", columns, groups)


def _change(kind: str, one: Difference) -> tuple[str, str]:
    """Return which side is certified, and the source of the new value."""
    who = " and ".join(name for name in ("old", "new") if getattr(one, f"{name}_certified"))
    if kind != "instance_changed":
        return who, one.new_source or ""
    old, new = (
        DASH if digest is None else f"{digest[:19]}…" for digest in (one.old_instance_digest, one.new_instance_digest)
    )
    return who, f"{old} -> {new}: not comparable"


def step_table(steps: Mapping[str, Sequence[Step]], store: str | None, /) -> Table:
    """Return the history of each instance's value, newest first; commits of a store below the snapshots."""
    kinds = [
        (heading, instance, [step for step in mine if (step.commit is None) == (heading == instance)])
        for instance, mine in steps.items()
        for heading in (instance, f"{instance} in {store}")
    ]
    written = _exact([step.value for *_, chosen in kinds for step in chosen])
    groups = [(heading, name, [(next(written), *_step(step)) for step in chosen]) for heading, name, chosen in kinds]
    words = [Column(name, text=True) for name in ("as of", "change", "where")]
    columns = [Column("value", spare=0), *words, *_SOURCE]
    return _grouped("steps", "Where the values come from, newest first", "instance", columns, groups)


def _step(step: Step) -> tuple[str, ...]:
    where = step.where if step.commit is None else f"commit {step.commit[:12]} by {step.committer}: {step.where}"
    return ((step.as_of or "undated")[:19], step.change, where, "yes" if step.certified else "no", step.source or "")


# A heading, the entry in the first column of the CSV, and the rows.
_Group = tuple[str, str, Sequence[tuple[str, ...]]]


def _grouped(name: str, caption: str, key: str, columns: Sequence[Column], groups: Sequence[_Group]) -> Table:
    listed = [(first, *row) for _, first, rows in groups for row in rows]
    frame = word_table(name, caption, [Column(key), *columns], listed).frame
    return Table(name, caption, tuple(columns), tuple(part(head, rows) for head, _, rows in groups if rows), frame)


def _exact(values: Sequence[float | None]) -> Iterator[str]:
    return iter(share_decimals([DASH if value is None else repr(value) for value in values]))
