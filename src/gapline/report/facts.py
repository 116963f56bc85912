"""What is known of a study, gathered once: methods paragraph, macros, `results.json` and page all take it from here."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from gapline.journal.fairness import summarise_fairness
from gapline.model.contract import Contract
from gapline.model.reading import Coverage
from gapline.model.tables import FAILED
from gapline.study import Study


@dataclass(frozen=True, slots=True)
class Solver:
    """What an arm ran, as its runs record it, else as the contract says; two versions in one arm are a warning."""

    arm: str
    tier: int
    names: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.names and not self.versions:
            return f"{self.arm} (solver not stated)"
        version = f" {' and '.join(self.versions)}" if self.versions else ""
        return f"{self.arm} ({' and '.join(self.names)}{version})"


@dataclass(frozen=True, slots=True)
class StudyFacts:
    """Counts, identities and choices of a study.

    `failed` runs crashed, were killed, hit the memory limit or were lost; of them `held` have a valid candidate. Of
    `unknown` runs nobody says how they ended. `checker` is named only where a checker of ours, or one declared by name,
    looked at the candidates. `horizon_source` says who stated the horizons: `contract`, `file`, or None where nobody
    did. `instance_set` is the digest over the digests of all instance files, None unless every run has one.
    `registered` says whether the contrasts were on record before the first run, None where nobody knows.
    """

    arms: int
    instances: int
    panels: int
    captured: int
    rejected: int
    late: int
    held: int
    unreadable: int
    coverage: Coverage
    validation: str
    checker: str | None
    solvers: tuple[Solver, ...]
    horizons: tuple[float, ...]
    announced: tuple[float, ...]
    horizon_source: str | None
    transform: str
    hierarchy: tuple[str, ...]
    parts: bool
    tolerance: float
    instance_set: str | None
    campaign: str
    contract: Contract | None = None
    registered: bool | None = None

    @property
    def compared(self) -> tuple[str, ...]:
        """The arms of tier 1."""
        return tuple(solver.arm for solver in self.solvers if solver.tier == 1)

    @property
    def descriptive(self) -> tuple[str, ...]:
        """The arms of tier 2."""
        return tuple(solver.arm for solver in self.solvers if solver.tier != 1)

    @property
    def changed_versions(self) -> tuple[Solver, ...]:
        """The arms whose solver changed its version between runs."""
        return tuple(solver for solver in self.solvers if len(solver.versions) > 1)

    def document(self) -> dict[str, Any]:
        """Return them for JSON."""
        return {
            "runs": self.coverage.runs,
            **{name: getattr(self, name) for name in ("arms", "instances", "panels", "captured", "rejected", "late")},
            "coverage": self.coverage.document(),
            "unreadable": self.unreadable,
            "validation": self.validation,
            "checker": self.checker,
            "solvers": [
                {"arm": s.arm, "tier": s.tier, "solver": list(s.names), "solver_version": list(s.versions)}
                for s in self.solvers
            ],
            "transform": self.transform,
            "hierarchy": list(self.hierarchy),
            "tolerance": self.tolerance,
            "instance_set": self.instance_set,
            "contrasts_registered": self.registered,
        }


def study_facts(study: Study, /) -> StudyFacts:
    """Gather the facts of a study."""
    runs = study.envelopes.runs
    contract = study.contract
    failed = runs.filter(pl.col("status").is_in(FAILED))
    announced = tuple(sorted(runs["announced"].drop_nulls().unique().to_list()))
    # A runner tells the solver its horizon; the column of a file is somebody's word for it.
    told = contract is not None or "attempt" in runs.columns
    return StudyFacts(
        arms=runs["arm"].n_unique(),
        instances=runs["instance"].n_unique(),
        panels=runs["panel"].n_unique(),
        captured=int(runs["captured"].sum()),
        rejected=int(runs["rejected"].sum()),
        late=int(runs["late"].sum()),
        held=failed.filter(pl.col("steps") > 0).height,
        unreadable=study.campaign.diagnostics.problem_count,
        coverage=study.coverage,
        validation=study.envelopes.validation,
        checker=study.campaign.facts.get("checker"),
        solvers=tuple(_solver(runs, arm, study.tier_one, contract) for arm in sorted(runs["arm"].unique().to_list())),
        horizons=tuple(sorted(runs["horizon"].unique().to_list())),
        announced=announced,
        horizon_source=("contract" if told else "file") if announced else None,
        transform=str(study.envelopes.transform),
        hierarchy=tuple(note for note in study.envelopes.notes if note.startswith("transform hierarchical")),
        parts="best_primary" in runs.columns,
        tolerance=study.tolerance,
        instance_set=instance_set_digest(runs),
        campaign=study.campaign.digest(),
        contract=contract,
        registered=study.registered,
    )


def study_notes(study: Study, /) -> list[str]:
    """Return what a reader has to know beside the numbers, how the runs were measured included."""
    runs = study.campaign.runs
    measured = summarise_fairness(runs.iter_rows(named=True)).lines() if "disturbed" in runs.columns else []
    return [*study.notes(), *(f"measurement: {line}" for line in measured)]


def instance_set_digest(runs: pl.DataFrame) -> str | None:
    """Return the digest of the set of instance files: sha256 over their sorted digests, a line each.

    >>> runs = pl.DataFrame({"instance": ["i", "j"], "instance_digest": ["sha256:b", "sha256:a"]})
    >>> instance_set_digest(runs) == "sha256:" + hashlib.sha256(b"sha256:a\\nsha256:b\\n").hexdigest()
    True
    """
    if "instance_digest" not in runs.columns or runs["instance_digest"].null_count():
        return None
    lines = "".join(f"{digest}\n" for digest in runs["instance_digest"].unique().sort())
    return "sha256:" + hashlib.sha256(lines.encode("utf-8")).hexdigest()


def _solver(runs: pl.DataFrame, arm: str, tier_one: Sequence[str], contract: Contract | None) -> Solver:
    mine = runs.filter(pl.col("arm") == arm)
    meant = tuple(a.solver for a in contract.arms if a.name == arm) if contract is not None else ()
    return Solver(
        arm=arm,
        tier=1 if arm in tier_one else 2,
        names=_values(mine, "solver") or meant,
        versions=_values(mine, "solver_version"),
    )


def _values(runs: pl.DataFrame, name: str) -> tuple[str, ...]:
    if name not in runs.columns:
        return ()
    return tuple(sorted(str(value) for value in runs[name].drop_nulls().unique().to_list()))
