"""Under what a study was run, as its journals tell: versions, solvers, machines. Nothing of the machine that packs."""

from collections.abc import Iterable
from typing import Any

import polars as pl

from gapline.journal.index import Seen
from gapline.model.campaign import Campaign

# Of the machine in an order: versions have lists of their own.
_VERSIONS = ("gapline", "python")


class Environment:
    """What the attempts of a study say of where they ran; instances by the digests under which they were solved."""

    def __init__(self) -> None:
        self._versions: dict[str, set[str]] = {name: set() for name in _VERSIONS}
        self._solvers: dict[str, set[str]] = {}
        self._machines: dict[tuple[tuple[str, str], ...], None] = {}
        self.solved: dict[str, set[str]] = {}
        self.problems: dict[str, set[str]] = {}

    def note(self, seen: Seen) -> None:
        """Take an attempt."""
        outcome = seen.outcome
        order = outcome.order
        if order is None:
            return
        for name in _VERSIONS:
            self._versions[name].update(filter(None, [order.machine.get(name)]))
        facts = {"machine": order.machine.get("host", "")}
        facts |= {name: fact for name, fact in order.machine.items() if name not in ("host", *_VERSIONS)}
        if order.machine:
            self._machines[tuple(facts.items())] = None
        version = " ".join(filter(None, (outcome.solver, outcome.version)))
        self._solvers.setdefault(order.arm, set()).update(filter(None, [version]))
        for name, known in (("instance_digest", self.solved), ("problem_digest", self.problems)):
            known.setdefault(order.instance, set()).update(map(str, filter(None, [order.carried.get(name)])))

    def document(self, campaign: Campaign) -> dict[str, Any]:
        """Return it for JSON; of an imported campaign, what its columns say."""
        if not self._solvers and "solver_version" in campaign.runs.columns:
            rows = campaign.runs.select("arm", pl.col("solver_version").cast(pl.String)).unique().iter_rows()
            for arm, version in rows:
                self._solvers.setdefault(arm, set()).update(filter(None, [version]))
        solvers = {arm: ", ".join(sorted(versions)) for arm, versions in sorted(self._solvers.items()) if versions}
        return {
            **{name: sorted(versions) for name, versions in self._versions.items()},
            "solvers": solvers,
            "checker": campaign.facts.get("checker"),
            "machines": [dict(facts) for facts in sorted(self._machines, key=_by_machine)],
        }


def _by_machine(facts: Iterable[tuple[str, str]]) -> list[tuple[int, str]]:
    # host-2 before host-10.
    return [(len(value), value) for _, value in facts]
