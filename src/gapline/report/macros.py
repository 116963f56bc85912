"""Every statistic of a report as a LaTeX macro."""

from gapline.analysis.analyse import Analysis
from gapline.model.transform import shortest
from gapline.model.version import VERSION
from gapline.report.facts import StudyFacts
from gapline.report.headline import Headline
from gapline.report.macro_file import Macro
from gapline.report.numbers import count, number, p_value, percent
from gapline.report.order import ArmOrder
from gapline.report.tables.contrasts import compared_rows
from gapline.scoring.goals import attainment_name
from gapline.study import Study

STUDY = "study"


def study_macros(
    study: Study, analysis: Analysis, facts: StudyFacts, order: ArmOrder, headline: Headline, /
) -> list[Macro]:
    """Return the macros of the study, of every arm and of every contrast, in that order."""
    whole = [*_whole(study, facts), Macro(STUDY, "headline", headline.text)]
    return [*whole, *_arms(study, analysis, facts, order), *_contrasts(study, order), *_sensitivity(analysis)]


def _whole(study: Study, facts: StudyFacts) -> list[Macro]:
    entry, coverage = study.references[0], study.coverage
    named = {
        "runs": count(coverage.runs),
        "coverage": str(coverage),
        **{name: count(getattr(facts, name)) for name in ("arms", "instances", "panels")},
        **{name: count(getattr(coverage, name)) for name in ("empty", "failed")},
        "unknown end": count(coverage.unknown),
        "rejected": count(facts.rejected),
        "late": count(facts.late),
        "kernel": study.kernels[0],
        "weight": study.weight,
        "weighting": study.weighting,
        "tolerance": f"{study.tolerance:g}",
        "transform": str(study.envelopes.scale),
        "validation": study.envelopes.validation,
        "reference": entry.snapshot.name,
        "reference policy": entry.policy,
        "reference digest": entry.snapshot.digest,
        "campaign digest": study.campaign.digest(),
        "gapline version": VERSION,
    }
    scale = study.reading.time_scale
    known = {
        "checker": facts.checker,
        "instance set digest": facts.instance_set,
        "time scale": None if scale is None else str(scale),
        "kernel source digest": dict(study.reading.code).get(study.kernels[0]),
    }
    named |= {name: value for name, value in known.items() if value is not None}
    return [Macro(STUDY, name, value) for name, value in named.items()]


def _arms(study: Study, analysis: Analysis, facts: StudyFacts, order: ArmOrder) -> list[Macro]:
    spans = {} if study.intervals is None else {r["arm"]: r for r in study.intervals.frame.iter_rows(named=True)}
    means = {row["arm"]: row for row in study.summary.frame.iter_rows(named=True)}
    health = {row["arm"]: row for row in analysis.health.frame.iter_rows(named=True)}
    solvers = {solver.arm: solver for solver in facts.solvers}
    macros = []
    for arm in order.arms:
        row, span, solver = means[arm], spans.get(arm, {}), solvers[arm]
        named = {"score": number(row[study.kernels[0]]), "rank": order.rank(arm), "tier": str(solver.tier)}
        named |= {f"score {end}": number(span.get(end)) for end in ("low", "high")}
        named |= {f"{kernel} score": number(row[kernel]) for kernel in study.kernels}
        named |= {"final gap": percent(row["final_gap"])}
        named |= {f"attainment {shortest(g)}": percent(row[attainment_name(g)], digits=1) for g in study.goals}
        named |= {name: count(row[name]) for name in ("runs", "empty", "rejected", "late")}
        named |= {n.replace("_", " "): count(health[arm][n]) for n in ("captured", "terminal_invalid")}
        # Where nobody says how any run ended, a count of crashes would be a claim.
        if health[arm]["unknown"] < row["runs"]:
            named["crashed"] = count(health[arm]["crashed"])
        named |= {"solver": " and ".join(solver.names), "solver version": " and ".join(solver.versions)}
        # What is not known (a solver, its version) is empty, and has no macro rather than an empty one.
        macros += [Macro(arm, name, value) for name, value in named.items() if value]
    return macros


def _contrasts(study: Study, order: ArmOrder) -> list[Macro]:
    if study.contrasts is None:
        return []
    macros = []
    for row in compared_rows(study.contrasts, order.descriptive).iter_rows(named=True):
        owner = f"{row['a']} against {row['b']}"
        named = {"difference": number(row["difference"]), "low": number(row["low"]), "high": number(row["high"])}
        if row["p_holm"] is not None:
            named["holm p"] = p_value(row["p_holm"])
        named |= {name: count(row[name]) for name in ("wins", "ties", "losses")}
        macros += [Macro(owner, name, value) for name, value in named.items()]
    return macros


def _sensitivity(analysis: Analysis) -> list[Macro]:
    # A kernel out of its envelope ranks nothing, so that it reverses nothing either.
    counted = [r for r in analysis.metrics.reversals if not r.out_of_envelope]
    facts = {
        "panel orderings": f"{analysis.metrics.pairs:,}",
        "kernel reversals": f"{sum(r.before.reference == r.after.reference for r in counted):,}",
        "complementary pairs": f"{analysis.complementarity.contrasts.height:,}",
        "screened pairs": f"{analysis.complementarity.pairs.height:,}",
    }
    if analysis.references is not None:
        flips = sum(not r.out_of_envelope for r in analysis.references.reversals)
        facts |= {"changed references": f"{analysis.references.changed:,}", "reference reversals": f"{flips:,}"}
    return [Macro(STUDY, name, value) for name, value in facts.items()]
