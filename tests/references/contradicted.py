"""Runs and snapshots in which some certificate is contradicted."""

from gapline.references.snapshot import Snapshot

RUNS = (("a", "i1", 1, [(1, 12.0), (5, 9.0)]), ("b", "i1", 1, [(2, 9.5)]), ("a", "i2", 1, [(1, 5.0)]))


def snapshot(values, name="s", certified=(), digests=None):
    entries = {
        instance: {"value": value, "certified": instance in certified, "source": f"source of {name}"}
        | ({"instance_digest": digests[instance]} if digests else {})
        for instance, value in values.items()
    }
    return Snapshot.from_entries(entries, name=name, store={"name": "s"})
