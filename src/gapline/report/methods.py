"""The methods paragraph: the paper's reporting contract written from `study.toml` and the data, clause by clause.

Every clause is there: what neither the contract nor the data says is marked "not declared", never guessed.
"""

import tomllib
from typing import NamedTuple

import polars as pl

from gapline import __version__
from gapline.errors import listing
from gapline.model.contract import Contract
from gapline.model.tables import RunStatus
from gapline.report.input import ReportInput
from gapline.report.latex import comment, escape
from gapline.report.tables.table import plain
from gapline.scoring.kernels import KernelCode, parse_kernel

NOT_DECLARED = "not declared"
_BROKEN = [RunStatus.CRASHED.value, RunStatus.MEMORY_LIMIT.value, RunStatus.KILLED.value, RunStatus.LOST.value]
_FORMULAS = {
    KernelCode.SQUEEZED: "the squeezed gap (z − z*) / (z + z*)",
    KernelCode.MAXFORM: "the signed max-form (z − z*) / max(z, z*)",
    KernelCode.BERTHOLD: "Berthold's absolute gap |z − z*| / max(z, z*)",
    KernelCode.RAW: "the raw gap (z − z*) / z*",
}


class Clause(NamedTuple):
    """One statement of the reporting contract; `declared` is false where nobody said."""

    topic: str
    text: str
    declared: bool = True


def methods_clauses(study: ReportInput, /) -> list[Clause]:
    """Return every clause of the reporting contract, in the order of the paper's section 6.1."""
    contract = None if study.contract is None else Contract.model_validate(tomllib.loads(study.contract))
    return [
        _objective(contract),
        _transform(study),
        _validation(study, contract),
        _clock(study, contract),
        _charged(contract),
        _horizon(study),
        _granularity(study, contract),
        _threads(study, contract),
        _machine(study, contract),
        _reference(study),
        _kernel(study),
        _weight(study),
        _failures(study),
        _aggregation(study),
        _goals(study),
        _uncertainty(study),
        _contrasts(study),
        _provenance(study),
    ]


def methods_markdown(study: ReportInput, /) -> str:
    """Return the paragraph in Markdown."""
    clauses = methods_clauses(study)
    text = " ".join(plain(clause.text) for clause in clauses)
    return f"## Methods\n\n{text}\n{_missing(clauses)}"


def methods_latex(study: ReportInput, /) -> str:
    """Return the paragraph in LaTeX."""
    clauses = methods_clauses(study)
    lines = "\n".join(escape(clause.text) for clause in clauses)
    head = [f"gapline {__version__}", *(f"{c.topic}: {NOT_DECLARED}" for c in clauses if not c.declared)]
    return f"{comment(head)}\\paragraph{{Methods.}}\n{lines}\n"


def _missing(clauses: list[Clause]) -> str:
    missing = [clause.topic for clause in clauses if not clause.declared]
    return f"\n*Not declared: {', '.join(missing)}. Say it in study.toml or here.*\n" if missing else ""


def _undeclared(topic: str, subject: str) -> Clause:
    return Clause(topic, f"{subject}: {NOT_DECLARED}.", declared=False)


def _objective(contract: Contract | None) -> Clause:
    if contract is None:
        return _undeclared("objective", "The objective")
    sense = "minimised" if contract.objective.sense == "min" else "maximised"
    return Clause("objective", f"The objective is {contract.objective.name}, {sense}.")


def _transform(study: ReportInput) -> Clause:
    name = str(study.envelopes.transform)
    if name == "none":
        return Clause("transform", "Objectives are scored as they are, without a transform.")
    return Clause("transform", f"Objectives, bounds and references are scored under the transform {name}.")


def _validation(study: ReportInput, contract: Contract | None) -> Clause:
    who = study.envelopes.validation
    checker = study.campaign.facts.get("checker") or (contract.objective.checker if contract is not None else None)
    if who == "solver":
        text = "Candidates count as valid because the solver said so; they were not checked independently."
        return Clause("validation", text)
    if checker is None:
        who_text = "an independent checker" if who == "checker" else who
        text = f"Every candidate was validated by {who_text}, and only valid ones enter the best-so-far envelope; "
        return Clause("validation", f"{text}the checker is {NOT_DECLARED}.", declared=False)
    return Clause(
        "validation",
        f"Every candidate was checked against the original problem and its objective recomputed by the checker "
        f"{checker}{'' if who == 'checker' else f' ({who})'}; only valid ones enter the best-so-far envelope.",
    )


def _clock(study: ReportInput, contract: Contract | None) -> Clause:
    seen = _column(study, "clock")
    if contract is not None:
        return Clause("clock", f"Time is {_clock_words(contract.time.clock)}.")
    if seen:
        return Clause("clock", f"Time is {listing(_clock_words(name) for name in seen)}, as the source states.")
    return _undeclared("clock", "The clock")


def _clock_words(name: str) -> str:
    return {"wall": "elapsed wall-clock time", "cpu": "CPU time"}.get(name, name)


def _charged(contract: Contract | None) -> Clause:
    if contract is None:
        return _undeclared("charged work", "The work charged to the solver")
    return Clause("charged work", f"The clock charges: {contract.time.charged}.")


def _horizon(study: ReportInput) -> Clause:
    runs = study.envelopes.runs
    scored = listing((f"{h:g} s" for h in sorted(runs["horizon"].unique().to_list())), most=5)
    announced = sorted(runs["announced"].drop_nulls().unique().to_list())
    if not announced:
        text = f"Runs are scored over a horizon of {scored}; the horizon announced to the solvers is {NOT_DECLARED}."
        return Clause("horizon", text, declared=False)
    told = listing((f"{h:g} s" for h in announced), most=5)
    if told == scored:
        return Clause("horizon", f"The horizon is {scored}; it was announced to the solvers, and it is the one scored.")
    return Clause("horizon", f"Runs are scored over {scored}; the horizon announced to the solvers was {told}.")


def _granularity(study: ReportInput, contract: Contract | None) -> Clause:
    seen = _column(study, "resolution")
    if contract is not None:
        return Clause("granularity", f"The granularity of the stamps: {contract.time.granularity}.")
    if seen:
        return Clause("granularity", f"Stamps are multiples of {listing(f'{float(step):g} s' for step in seen)}.")
    return _undeclared("granularity", "The granularity of the stamps")


def _threads(study: ReportInput, contract: Contract | None) -> Clause:
    seen = _column(study, "threads")
    if contract is not None:
        return Clause("threads", f"Each run was given {_count(contract.time.threads, 'thread')}.")
    if seen:
        return Clause("threads", f"Threads per run, as the source states: {listing(seen)}.")
    return _undeclared("threads", "The thread allocation")


def _machine(study: ReportInput, contract: Contract | None) -> Clause:
    declared = contract.time.machine if contract is not None else ""
    seen = _column(study, "machine")
    if declared:
        return Clause("machine", f"Machine class: {declared}.")
    if seen:
        return Clause("machine", f"Machine, as recorded: {listing(seen, most=3)}.")
    return _undeclared("machine", "The machine class")


def _reference(study: ReportInput) -> Clause:
    words = {
        "frozen": "a snapshot frozen before the first run",
        "frozen, declared": "a snapshot declared to be frozen before the runs",
        "retrospective": "a snapshot of values known after the runs, not from this campaign",
        "analysis": "the analysis-time reference, the best of the prior values and of these runs",
    }
    parts = []
    for entry in study.snapshots:
        snapshot = entry.snapshot
        store = snapshot.store.name + (f" {snapshot.store.version}" if snapshot.store.version else "")
        known = f", values known {snapshot.as_of}" if snapshot.as_of else ""
        what = words.get(entry.policy, entry.policy)
        parts.append(f"{snapshot.name} ({what}; store {store}{known}; {snapshot.digest})")
    more = f" The same runs are also read against {'; '.join(parts[1:])}." if len(parts) > 1 else ""
    return Clause("reference", f"Gaps are measured against {parts[0]}.{more}")


def _kernel(study: ReportInput) -> Clause:
    kernel = parse_kernel(study.kernels[0])
    formula = _FORMULAS.get(kernel.code, f"the kernel {kernel.name}")
    if kernel.code is KernelCode.DIMACS:
        formula = f"the DIMACS gap z/z* − 1 with acceptance threshold {kernel.parameter:g}"
    before = (
        f"with the value {kernel.before:g} before the first valid incumbent"
        if kernel.before is not None
        else "which does not exist before the first valid incumbent"
    )
    others = f" Other kernels shown: {', '.join(study.kernels[1:])}." if len(study.kernels) > 1 else ""
    return Clause(
        "kernel",
        f"The gap is {formula}, {before}; a score is its mean over the horizon, and smaller is better.{others}",
    )


def _weight(study: ReportInput) -> Clause:
    if study.weight == "uniform":
        return Clause("time weight", "Every moment of the horizon counts alike.")
    return Clause("time weight", f"Moments of the horizon count by the weight {study.weight}.")


def _failures(study: ReportInput) -> Clause:
    runs = study.envelopes.runs
    rejected, late = int(runs["rejected"].sum()), int(runs["late"].sum())
    empty, broken = int((runs["steps"] == 0).sum()), runs.filter(pl.col("status").is_in(_BROKEN))
    held = broken.filter(pl.col("steps") > 0).height
    unread = study.campaign.diagnostics.problem_count
    unreadable = f", {_count(unread, 'line')} could not be read" if unread else ""
    kernel = parse_kernel(study.kernels[0])
    worst = f"scores {kernel.before:g}" if kernel.before is not None else "has no score"
    return Clause(
        "failures",
        f"Of {runs.height:,} runs with {int(runs['captured'].sum()):,} captured candidates, {rejected:,} candidates "
        f"were rejected as invalid and {late:,} came after the horizon; they stay out of the envelope and are counted"
        f"{unreadable}. {_count(broken.height, 'run')} crashed, were killed or were lost; a run that stopped after "
        f"valid candidates ({held:,} of these) holds its last valid incumbent to the horizon. {_count(empty, 'run')} "
        f"without any valid candidate: such a run {worst} and stays in every denominator; means of final gaps are "
        "over the other runs.",
    )


def _aggregation(study: ReportInput) -> Clause:
    orders = {
        "panel": "over seeds within an instance, then instances within a panel, then panels, each counting alike",
        "instance": "over seeds within an instance, then over instances, each counting alike",
        "run": "over runs, each counting alike",
    }
    runs = study.envelopes.runs
    seeds = runs.group_by("arm", "instance").len()["len"]
    per = " to ".join(dict.fromkeys((str(seeds.min()), str(seeds.max()))))
    balance = (
        "" if study.summary.balance.complete else " The cells are not complete: " + study.summary.balance.notes()[0]
    )
    dot = "." if balance else ""
    return Clause(
        "aggregation",
        f"Arithmetic means are taken {orders[study.weighting]}: {_count(runs['arm'].n_unique(), 'arm')}, "
        f"{_count(runs['instance'].n_unique(), 'instance')} in {_count(runs['panel'].n_unique(), 'panel')}, {per} runs "
        f"per arm and instance.{balance}{dot}",
    )


def _goals(study: ReportInput) -> Clause:
    goals = listing((f"{100 * goal:g} %" for goal in study.goals), most=8)
    return Clause(
        "goals", f"Attainment is reported for raw gaps of {goals}; a run that never attains a goal counts as 0."
    )


def _uncertainty(study: ReportInput) -> Clause:
    if study.intervals is None:
        return Clause("uncertainty", f"No intervals are given: {study.no_intervals or NOT_DECLARED}.")
    spans = study.intervals
    return Clause(
        "uncertainty",
        f"{spans.level:.0%} {spans.method} intervals come from {spans.draws:,} bootstrap draws of instances within "
        f"their panels, seeds attached, shared by all arms (seed {spans.seed}).",
    )


def _contrasts(study: ReportInput) -> Clause:
    if study.contrasts is None:
        return Clause("contrasts", "No contrasts are tested.")
    pairs = study.contrasts.frame.filter("declared").select("a", "b").rows()
    if not pairs:
        return Clause("contrasts", f"Contrasts: {NOT_DECLARED}; all differences are exploratory.", declared=False)
    named = listing((f"{a} against {b}" for a, b in pairs), most=8)
    return Clause(
        "contrasts",
        f"{_count(len(pairs), 'contrast')} declared beforehand, Holm-adjusted together: {named}; all other differences "
        "are exploratory.",
    )


def _provenance(study: ReportInput) -> Clause:
    return Clause("provenance", f"Computed by gapline {__version__} from the campaign {study.campaign.digest()}.")


def _column(study: ReportInput, name: str) -> list[str]:
    runs = study.envelopes.runs
    if name not in runs.columns:
        return []
    return sorted(str(value) for value in runs[name].drop_nulls().unique().to_list())


def _count(number: int, noun: str) -> str:
    """Count in words.

    >>> _count(1, "run"), _count(1200, "run")
    ('1 run', '1,200 runs')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
