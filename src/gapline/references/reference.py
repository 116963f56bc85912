"""`Reference`: what a snapshot knows of one instance, and the entry of a value that a run found."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from gapline.contract.tables import RunKey


class ExtensibleModel(BaseModel):
    """A part of a snapshot, which keeps fields that a later schema may have."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True, allow_inf_nan=False, populate_by_name=True)

    @property
    def more(self) -> dict[str, Any]:
        """Fields beyond the schema, kept as they were read."""
        return dict(self.model_extra or {})


class Reference(ExtensibleModel):
    """What is known of one instance; `certified` where the source proves that nothing is better.

    `value` is the best-known objective before any transform, None where the store names the instance without a usable
    number (`stated` then holds what it said); `primary` and `secondary` are the parts of a hierarchical objective.
    `instance_digest` is that of the instance file, `problem_digest` of the problem in it, which other bytes may hold.
    """

    value: float | None
    certified: bool = False
    source: str = ""
    instance_digest: str | None = None
    problem_digest: str | None = None
    primary: float | None = None
    secondary: float | None = None

    def digests(self) -> dict[str, str]:
        """Return the digests that say which instance this is, where known."""
        return known_digests({"instance_digest": self.instance_digest, "problem_digest": self.problem_digest})

    def document(self) -> dict[str, Any]:
        """Return the entry as it stands in the file."""
        return self.model_dump(exclude_unset=True)


class Store(ExtensibleModel):
    """Where the values were frozen from: a name, a version, a URL; a Software Heritage identifier where it is git."""

    name: str
    version: str | None = None
    url: str | None = None
    swhid: str | None = None


def found_entry(row: Mapping[str, Any], *, value: float, time: float, solution: str | None) -> dict[str, Any]:
    """Word the entry of a value that a run found, from the run's row: it names arm, run, time and solution digest."""
    key, validation = RunKey(row["arm"], row["instance"], row["seed"]), row.get("validation") or "declared"
    entry = {
        "value": value,
        "certified": False,
        "source": f"run {key} at {time:g} s, valid by {validation}",
        "fold": {
            "arm": key.arm,
            "run": str(key),
            "seed": key.seed,
            "time": time,
            "started": row.get("started"),
            "solution_digest": solution,
            "validation": validation,
        },
    }
    return entry | known_digests(row)


def known_digests(row: Mapping[str, Any]) -> dict[str, str]:
    """Return the digests of a run or an entry that say which instance it is of, where known."""
    return {name: row[name] for name in ("instance_digest", "problem_digest") if row.get(name)}
