"""Every statistic of a report as a LaTeX macro."""

import polars as pl

from gapline.contract.transforms import shortest
from gapline.contract.version import VERSION
from gapline.report.facts import Statements
from gapline.report.numbers import count, number, p_value, percent
from gapline.report.tables.contrasts import compared_rows
from gapline.report.tables.kernels import pooled_means, scored_kernels, shown_pairs
from gapline.report.tables.means import arm_frame
from gapline.report.writers.latex_text import Macro
from gapline.scoring.endpoints import attainment_name
from gapline.study.analyse import Analysis
from gapline.study.sensitivity import mean_ratio

STUDY = "study"


def study_macros(analysis: Analysis, said: Statements, /) -> list[Macro]:
    """Return the macros of the study, of every arm and of every contrast, in that order."""
    return [*_whole(said), *_arms(analysis, said), *_steps(analysis), *_contrasts(said), *_sensitivity(analysis),
            *_kernels(analysis)]  # fmt: skip


def _whole(said: Statements) -> list[Macro]:
    facts, study = said.facts, said.facts.study
    entry, coverage, scale = study.references[0], study.coverage, study.reading.time_scale
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
        "campaign digest": study.campaign_digest,
        "gapline version": VERSION,
        "checker": facts.checker,
        "instance set digest": facts.instance_set,
        "time scale": None if scale is None else str(scale),
        **({} if study.package is None else {
            "package": study.package.name,
            "package digest": study.package.sha256,
            "package swhid": study.package.swhid,
        }),
        "kernel source digest": dict(study.reading.code).get(study.kernels[0]),
        "headline": said.headline.text,
        "headline detail": said.headline.detail,
    }  # fmt: skip
    return [Macro(STUDY, name, value) for name, value in named.items() if value is not None]


def _arms(analysis: Analysis, said: Statements) -> list[Macro]:
    study, order = said.facts.study, said.order
    health = {row["arm"]: row for row in analysis.health.frame.iter_rows(named=True)}
    solvers = {solver.arm: solver for solver in said.facts.solvers}
    macros = []
    for row in arm_frame(study.summary, order, study.intervals).iter_rows(named=True):
        arm, solver = row["arm"], solvers[row["arm"]]
        named = {"score": number(row[study.kernels[0]]), "rank": order.rank(arm), "tier": str(solver.tier)}
        named |= {f"score {end}": number(row.get(end)) for end in ("low", "high")}
        named |= {f"{kernel} score": number(row[kernel]) for kernel in study.kernels}
        named |= {"final gap": percent(row["final_gap"])}
        named |= {f"attainment {shortest(g)}": percent(row[attainment_name(g)], digits=1) for g in study.goals}
        named |= {name: count(row[name]) for name in ("runs", "empty", "rejected", "late")}
        named |= {n.replace("_", " "): count(health[arm][n]) for n in ("captured", "terminal_invalid")}
        # If it is unknown how any run ended, a count of crashes would be a claim.
        if health[arm]["unknown"] < row["runs"]:
            named["crashed"] = count(health[arm]["crashed"])
        named |= {"solver": " and ".join(solver.names), "solver version": " and ".join(solver.versions)}
        # Unknown facts (a solver, its version) have no macro instead of an empty one.
        macros += [Macro(arm, name, value) for name, value in named.items() if value]
    return macros


def _contrasts(said: Statements) -> list[Macro]:
    contrasts = said.facts.study.contrasts
    if contrasts is None:
        return []
    macros = []
    for row in compared_rows(contrasts, said.order.descriptive).iter_rows(named=True):
        named = {name: number(row[name]) for name in ("difference", "low", "high")}
        named |= {} if row["p_holm"] is None else {"holm p": p_value(row["p_holm"])}
        named |= {name: count(row[name]) for name in ("wins", "ties", "losses")}
        macros += [Macro(f"{row['a']} against {row['b']}", name, value) for name, value in named.items()]
    return macros


def _steps(analysis: Analysis) -> list[Macro]:
    """Return macros for the numbers that only tables of ladders have, for ladders that are arms."""
    return [
        Macro(row["arm"], "half valid by", number(row["first_valid"], digits=3))
        for ladder in analysis.ladders.values()
        if ladder.frame["arm"].is_unique().all()
        for row in ladder.frame.iter_rows(named=True)
    ]


def _kernels(analysis: Analysis) -> list[Macro]:
    """Return macros for saturated runs, runs below zero and ratios of means, by kernel and reference."""
    metric = analysis.metrics
    scored = pl.col("kernel").is_in(scored_kernels(metric))
    signs = metric.signs.filter(scored).select("kernel", "reference", "negative")
    macros = [Macro(STUDY, "campaign runs", count(analysis.main.runs.height))]
    for what, frame in (("saturated", metric.saturated.filter(scored)), ("negative", signs)):
        macros += [Macro(STUDY, f"{what} {k} {r}", count(number_of)) for k, r, number_of, *_ in frame.iter_rows()]
    macros += [
        Macro(row["arm"], f"{what} {row['kernel']} {row['reference']}", count(row[what]))
        for row in metric.runs.filter(scored).iter_rows(named=True)
        for what in ("saturated", "negative")
        if row[what] is not None
    ]
    # A ratio that does not exist has no macro, to avoid a dash inside a sentence.
    macros += [
        Macro(arm, f"{kernel} over {metric.lead} {reference}", number(ratio, digits=2))
        for arm, _, kernel, reference, ratio in metric.kernel_ratios.iter_rows()
        if ratio is not None
    ]
    means = pooled_means(metric)
    for larger, smaller in shown_pairs(metric, next(iter(analysis.labels))):
        for kernel, reference, _ in signs.iter_rows():
            ratio = mean_ratio(means[smaller, kernel, reference], means[larger, kernel, reference])
            if ratio is not None:
                macros.append(Macro(f"{larger} over {smaller}", f"{kernel} {reference}", number(ratio, digits=2)))
    return macros


def _sensitivity(analysis: Analysis) -> list[Macro]:
    # A kernel outside its envelope ranks no arms, so it cannot reverse an order either.
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
