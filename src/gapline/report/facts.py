"""Facts about a study for methods, macros, `results.json` and page, each defined once."""

import hashlib
from dataclasses import dataclass
from typing import Any

import polars as pl

from gapline.contract.fact_origins import FactOrigin, find_origins, was_announced
from gapline.contract.tables import FAILED
from gapline.contract.version import VERSION
from gapline.report.order import ArmOrder, order_arms
from gapline.report.statements.headline import Evidence, Headline, write_headline
from gapline.study import Study


@dataclass(frozen=True, slots=True)
class Solver:
    """What an arm ran, as its runs record it, or else as the contract says; two versions in one arm cause a warning.

    `model` names the simplified model that it solves; None if it solves the instances as they are.
    """

    arm: str
    tier: int
    names: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    model: str | None = None

    def __str__(self) -> str:
        # The adapter "command" only tells how an arm is started: the arm's own name is more useful.
        names = " and ".join(name for name in self.names if name != "command")
        versions = " and ".join(self.versions)
        if names:
            return f"{self.arm} ({f'{names} {versions}'.rstrip()})"
        lacks = "version" if self.names else "solver"
        return f"{self.arm} {versions or f'({lacks} not stated)'}"


@dataclass(frozen=True, slots=True)
class StudyFacts:
    """A study with its counts and identities; facts that were not stated are None.

    Of the failed runs, `held` have a valid candidate. `checker` is only set if one of gapline, or one declared by name,
    checked the candidates. `horizon_source` is the source of the horizons: `journal`, `log`, `file`, `contract` or
    `option`; with journal and contract, the solvers were told the horizon too.
    """

    study: Study
    arms: int
    instances: int
    panels: int
    captured: int
    rejected: int
    late: int
    held: int
    checker: str | None
    solvers: tuple[Solver, ...]
    horizons: tuple[float, ...]
    announced: tuple[float, ...]
    horizon_source: str | None
    hierarchy: tuple[str, ...]
    instance_set: str | None

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
        """The arms whose solver version changed between runs."""
        return tuple(solver for solver in self.solvers if len(solver.versions) > 1)

    def document(self) -> dict[str, Any]:
        """Return the facts for JSON."""
        study = self.study
        return {
            "runs": study.coverage.runs,
            **{name: getattr(self, name) for name in ("arms", "instances", "panels", "captured", "rejected", "late")},
            "coverage": study.coverage.document(),
            "unreadable": study.campaign.diagnostics.problem_count,
            **study.campaign.diagnostics.attempts_document(),
            "validation": study.envelopes.validation,
            "checker": self.checker,
            "solvers": [
                {"arm": s.arm, "tier": s.tier, "solver": list(s.names), "solver_version": list(s.versions)}
                | ({} if s.model is None else {"model": s.model})
                for s in self.solvers
            ],
            "transform": str(study.envelopes.scale),
            "hierarchy": list(self.hierarchy),
            "tolerance": study.tolerance,
            "instance_set": self.instance_set,
            "contrasts_registered": study.registered,
        }


def study_facts(study: Study, /) -> StudyFacts:
    """Collect the facts of a study."""
    runs = study.envelopes.runs
    return StudyFacts(
        study=study,
        **{f"{name}s": runs[name].n_unique() for name in ("arm", "instance", "panel")},
        **{name: int(runs[name].sum()) for name in ("captured", "rejected", "late")},
        held=runs.filter(pl.col("status").is_in(FAILED) & (pl.col("steps") > 0)).height,
        checker=study.checker,
        solvers=tuple(_solver(study, arm) for arm in sorted(runs["arm"].unique().to_list())),
        horizons=tuple(sorted(runs["horizon"].unique().to_list())),
        announced=tuple(sorted(runs["announced"].drop_nulls().unique().to_list())),
        horizon_source=_horizon_source(study),
        hierarchy=tuple(note for note in study.envelopes.notes if note.startswith("transform hierarchical")),
        instance_set=instance_set_digest(runs),
    )


def study_notes(study: Study, /) -> list[str]:
    """Return the notes for a reader of the numbers, including how the runs were measured."""
    measured = [] if study.fairness is None else study.fairness.lines()
    return list(dict.fromkeys([*study.notes(), *(f"measurement: {line}" for line in measured)]))


def instance_set_digest(runs: pl.DataFrame) -> str | None:
    """Return the digest of the set of instance files: sha256 over their sorted digests, one per line.

    >>> runs = pl.DataFrame({"instance": ["i", "j"], "instance_digest": ["sha256:b", "sha256:a"]})
    >>> instance_set_digest(runs) == "sha256:" + hashlib.sha256(b"sha256:a\\nsha256:b\\n").hexdigest()
    True
    """
    if "instance_digest" not in runs.columns or runs["instance_digest"].null_count():
        return None
    # Sorted and unique: the digest depends on the set alone, not on the order or number of runs.
    lines = "".join(f"{digest}\n" for digest in runs["instance_digest"].unique().sort())
    return "sha256:" + hashlib.sha256(lines.encode("utf-8")).hexdigest()


def _horizon_source(study: Study) -> str | None:
    """Return the source of the horizons; runner and contract also announced them to the solvers."""
    runs = study.envelopes.runs
    if runs["announced"].null_count() == runs.height:
        return None
    if was_announced(runs):
        return FactOrigin.JOURNAL
    planned: set[float] = set()
    if study.contract is not None:
        # A campaign without a contract must not import the contract package.
        from gapline.contract.plan import Plan

        planned = {cell.horizon for cell in Plan.of(study.contract).cells}
    if planned.issuperset(runs["announced"].drop_nulls()):
        return FactOrigin.CONTRACT
    return " and ".join(find_origins(runs)["horizon"])


def _solver(study: Study, arm: str) -> Solver:
    mine = study.envelopes.runs.filter(pl.col("arm") == arm)
    meant = () if study.contract is None else tuple(a.solver for a in study.contract.arms if a.name == arm)
    tier = 1 if arm in study.tier_one else 2
    model = study.simplified_models.get(arm)
    return Solver(arm, tier, recorded(mine, "solver") or meant, recorded(mine, "solver_version"), model)


def recorded(runs: pl.DataFrame, name: str) -> tuple[str, ...]:
    """Return the texts in a column of the runs; empty if there is no such column."""
    if name not in runs.columns:
        return ()
    return tuple(sorted(str(value) for value in runs[name].drop_nulls().unique().to_list()))


def heading(study: Study) -> list[str]:
    """Return the provenance lines for the head of every file."""
    return [
        f"gapline {VERSION}; campaign {study.campaign_digest}",
        *(f"package {package.name}: {package.sha256}, {package.swhid}" for package in study.packages),
        *(f"reference {e.snapshot.name} ({e.policy}): {e.snapshot.digest}" for e in study.references),
    ]


@dataclass(frozen=True, slots=True)
class Statements:
    """The compared arms and their order, the facts, and the headline."""

    order: ArmOrder
    facts: StudyFacts
    headline: Headline


def make_statements(study: Study, /) -> Statements:
    """Build the statements of a study."""
    kernel = study.kernels[0]
    order = order_arms(study.summary, alarms=study.alarms)
    ranking, pairs = study.ranking, study.contrasts
    evidence = Evidence(
        kernel=kernel,
        level=study.level,
        means=dict(study.summary.frame.select("arm", kernel).iter_rows()),
        instances=study.instance_set.instances,
        ranking={} if ranking is None else {row["arm"]: row for row in ranking.frame.iter_rows(named=True)},
        # Declared contrasts first.
        contrasts=[] if pairs is None else sorted(pairs.frame.to_dicts(), key=lambda row: not row["declared"]),
        coverage=study.coverage,
        no_intervals=study.no_intervals,
        alarms=[alarm.instance for alarm in study.alarms],
        empty=study.coverage.empty == study.coverage.runs,
    )
    return Statements(order, study_facts(study), write_headline(order, evidence))
