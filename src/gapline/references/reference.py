"""`Reference`: the known value of one instance, and the entry of a value that a run found."""

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
    """The known value of one instance; `certified` if the source proves that nothing is better.

    `value` is the best-known objective before any transform, None if the store names the instance without a usable
    number (`stated` then holds its text); `primary` and `secondary` are the parts of a hierarchical objective.
    `instance_digest` is that of the instance file, `problem_digest` that of the problem in it, which another file may
    share.
    """

    value: float | None
    certified: bool = False
    source: str = ""
    instance_digest: str | None = None
    problem_digest: str | None = None
    primary: float | None = None
    secondary: float | None = None

    def digests(self) -> dict[str, str]:
        """Return the digests that identify the instance, where known."""
        return known_digests({"instance_digest": self.instance_digest, "problem_digest": self.problem_digest})

    def document(self) -> dict[str, Any]:
        """Return the entry as in the file."""
        return self.model_dump(exclude_unset=True)


class Store(ExtensibleModel):
    """The origin of the values: a name, a version, a URL, and for git a Software Heritage identifier."""

    name: str
    version: str | None = None
    url: str | None = None
    swhid: str | None = None


def found_entry(row: Mapping[str, Any], *, value: float, time: float, solution: str | None) -> dict[str, Any]:
    """Build the entry of a value that a run found, from the run's row, with arm, run, time and solution digest."""
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
    """Return the digests in a run or an entry that identify its instance, where known."""
    return {name: row[name] for name in ("instance_digest", "problem_digest") if row.get(name)}
