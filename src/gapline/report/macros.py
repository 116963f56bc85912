"""Every statistic of a report as a LaTeX macro."""

from gapline import __version__
from gapline.report.analyses import Analyses
from gapline.report.input import ReportInput
from gapline.report.latex import Macro
from gapline.report.tables.scores import ranked_arms
from gapline.report.terminal import number, percent

STUDY = "study"


def study_macros(study: ReportInput, analyses: Analyses, /) -> list[Macro]:
    """Return the macros of the study, of every arm and of every contrast, in that order."""
    return [*_whole(study), *_arms(study, analyses), *_contrasts(study), *_sensitivity(analyses)]


def _whole(study: ReportInput) -> list[Macro]:
    runs = study.envelopes.runs
    entry = study.snapshots[0]
    facts = {
        "runs": f"{runs.height:,}",
        "arms": f"{runs['arm'].n_unique():,}",
        "instances": f"{runs['instance'].n_unique():,}",
        "panels": f"{runs['panel'].n_unique():,}",
        "empty": f"{int((runs['steps'] == 0).sum()):,}",
        "rejected": f"{int(runs['rejected'].sum()):,}",
        "late": f"{int(runs['late'].sum()):,}",
        "kernel": study.kernels[0],
        "weight": study.weight,
        "weighting": study.weighting,
        "validation": study.envelopes.validation,
        "reference": entry.snapshot.name,
        "reference policy": entry.policy,
        "reference digest": entry.snapshot.digest,
        "campaign digest": study.campaign.digest(),
        "gapline version": __version__,
    }
    return [Macro(STUDY, name, value) for name, value in facts.items()]


def _arms(study: ReportInput, analyses: Analyses) -> list[Macro]:
    spans = {} if study.intervals is None else {r["arm"]: r for r in study.intervals.frame.iter_rows(named=True)}
    means = {row["arm"]: row for row in study.summary.frame.iter_rows(named=True)}
    health = {row["arm"]: row for row in analyses.health.frame.iter_rows(named=True)}
    macros = []
    for rank, arm in enumerate(ranked_arms(study), 1):
        row, span = means[arm], spans.get(arm, {})
        facts = {"score": number(row[study.kernels[0]]), "rank": str(rank)}
        facts |= {f"score {end}": number(span.get(end)) for end in ("low", "high")}
        facts |= {f"{kernel} score": number(row[kernel]) for kernel in study.kernels}
        facts |= {"final gap": percent(row["final_gap"])}
        facts |= {f"attainment {goal:g}": percent(row[f"attainment:{goal:g}"], digits=1) for goal in study.goals}
        facts |= {name: f"{row[name]:,}" for name in ("runs", "empty", "rejected", "late")}
        counted = health[arm]
        facts |= {name.replace("_", " "): f"{counted[name]:,}" for name in ("captured", "terminal_invalid", "crashed")}
        macros += [Macro(arm, name, value) for name, value in facts.items()]
    return macros


def _contrasts(study: ReportInput) -> list[Macro]:
    if study.contrasts is None:
        return []
    macros = []
    for row in study.contrasts.frame.iter_rows(named=True):
        owner = f"{row['a']} against {row['b']}"
        facts = {"difference": number(row["difference"]), "low": number(row["low"]), "high": number(row["high"])}
        if row["p_holm"] is not None:
            facts["holm p"] = f"{row['p_holm']:.2g}"
        facts |= {name: f"{row[name]:,}" for name in ("wins", "ties", "losses")}
        macros += [Macro(owner, name, value) for name, value in facts.items()]
    return macros


def _sensitivity(analyses: Analyses) -> list[Macro]:
    counted = [r for r in analyses.metric.reversals if not r.out_of_envelope]
    facts = {
        "panel orderings": f"{analyses.metric.pairs:,}",
        "kernel reversals": f"{sum(r.before.reference == r.after.reference for r in counted):,}",
        "complementary pairs": f"{analyses.complementarity.contrasts.height:,}",
        "screened pairs": f"{analyses.complementarity.pairs.height:,}",
    }
    if analyses.reference is not None:
        flips = sum(not r.out_of_envelope for r in analyses.reference.reversals)
        facts |= {"changed references": f"{analyses.reference.changed:,}", "reference reversals": f"{flips:,}"}
    return [Macro(STUDY, name, value) for name, value in facts.items()]
