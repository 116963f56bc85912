"""The texts of the page before any script runs: the declared choice in words and numbers."""

from importlib.metadata import version
from typing import Any

import polars as pl

from gapline.contract.instance_set import instance_groups
from gapline.contract.reading import vouched
from gapline.contract.version import VERSION
from gapline.errors import listing
from gapline.report.facts import Statements, study_notes
from gapline.report.numbers import DASH, count, goal_words, number, percent
from gapline.report.order import ArmOrder
from gapline.report.page import encode
from gapline.report.page.stored import DECIMALS
from gapline.report.statements.methods import methods_clauses
from gapline.report.tables.means import arm_frame
from gapline.scoring.endpoints import attainment_name
from gapline.statistics.cells import TIE
from gapline.study import Study
from gapline.text import counted, printable


def page_words(study: Study, said: Statements, head: dict[str, Any]) -> dict[str, Any]:
    """Return the variables of the template."""
    return {
        "title": printable(study.title),
        "version": VERSION,
        "facts": _facts(said),
        "kernels": [kernel["name"] for kernel in head["kernels"]],
        "snapshots": [{"name": printable(e.snapshot.name), "policy": e.policy} for e in study.references],
        "goals": [goal_words(goal) for goal in study.goals],
        "weighting": study.weighting,
        "headline": printable(said.headline.text),
        "subline": printable(said.headline.detail),
        "cards": _cards(study, said),
        "ranking": _ranking(study, said),
        "alarms": [printable(alarm) for alarm in study.alarms],
        "beaten": study.scores[0].beaten,
        "reading": _reading(study, head),
        "methods": [printable(clause.text) for clause in methods_clauses(said.facts)],
        "notes": [printable(note) for note in study_notes(study)],
        "contract": study.contract_text,
        "provenance": _provenance(study, head),
    }


def page_head(said: Statements) -> dict[str, Any]:
    """Return the facts for the script next to the data: descriptive arms, and the headline of the declared choice."""
    study = said.facts.study
    return {
        "tierTwo": list(said.order.descriptive),
        "instanceSet": _instance_set(study),
        "headline": [said.headline.text, said.headline.detail],
        "coverage": str(study.coverage),
        # No choice of the reader changes these: if one of them forbids an order, the headline is that of Python.
        "withheld": bool(study.coverage.short or study.alarms),
        "alarmed": {
            "arms": sorted(said.order.alarmed),
            "instances": sorted({alarm.instance for alarm in study.alarms}),
        },
    }


def _instance_set(study: Study) -> dict[str, Any]:
    """Return the facts for ranking with hidden arms: arms with the same group number ran the same instances."""
    found = study.instance_set
    group = instance_groups(study.envelopes.rows)
    units = study.envelopes.runs.group_by("arm").agg(number=pl.struct("panel", "instance").n_unique())
    sizes = {group[arm]: number for arm, number in units.iter_rows()}
    ladder = {arm: name for name, steps in study.ladders.items() for arm in steps}
    return {
        "rule": found.rule,
        "reason": found.reason,
        "words": str(found),
        "arms": list(found.arms),
        "group": list(group.values()),
        "instances": [sizes[number] for number in sorted(sizes)],
        "ladder": [ladder.get(arm) for arm in group],
    }


def _facts(said: Statements) -> str:
    facts = said.facts
    horizons = listing((f"{h:g}" for h in facts.horizons), most=4)
    return (
        f"{counted(facts.arms, 'arm')} · {counted(facts.instances, 'instance')} in {counted(facts.panels, 'panel')} · "
        f"{facts.study.coverage} · horizon {horizons} s · {vouched(facts.study.envelopes.validation, facts.checker)}"
        + (f" · time scaled: {scale}" if (scale := facts.study.reading.time_scale) is not None else "")
    )


def _cards(study: Study, said: Statements) -> list[dict[str, str]]:
    entry, order = study.references[0], said.order
    goal = study.goals[0]
    shares = dict(study.summary.frame.select("arm", attainment_name(goal)).iter_rows())
    # A single arm is shown, but not called the best.
    shown = order.compared or (order.others if len(order.others) == 1 else ())
    most = max((shares[arm] for arm in shown), default=None)
    # Ties included, as in every table.
    best = sorted(arm for arm in shown if most is not None and shares[arm] > most - TIE)
    alike = "all arms alike" if len(shown) > 1 else "one arm" if shown else "no arm is compared"
    beaten = int(study.scores[0].frame["beaten"].sum())
    return [
        {
            "title": f"Within {goal_words(goal)} of the reference",
            "value": percent(most, digits=1),
            "note": f"best: {', '.join(map(printable, best))}" if len(best) < len(shown) else alike,
        },
        failure_card(said),
        {
            "title": "Reference",
            "value": printable(entry.snapshot.name),
            "note": f"{entry.policy} · {entry.snapshot.digest[:19]}…",
        },
        {
            "title": "Below the reference",
            "value": f"{beaten:,} runs",
            "note": "improvement, stale value, other instance or defect" if beaten else "no run ends below it",
        },
    ]


def failure_card(said: Statements) -> dict[str, str]:
    """Return the card on failures, and on runs whose end was not recorded."""
    facts, coverage = said.facts, said.facts.study.coverage
    known = coverage.runs > coverage.unknown
    ended = [f"{coverage.failed:,} crashed"] if known else []
    ended += [f"{coverage.unknown:,} of unknown end"] if coverage.unknown else []
    meaning = " (crashed, killed, out of memory or lost)" if known else ""
    return {
        "title": "What failed",
        "value": " · ".join([f"{coverage.empty:,} empty", *ended]),
        "note": f"of {coverage.runs:,} runs{meaning}; {facts.rejected:,} candidates rejected, {facts.late:,} late",
    }


def _ranking(study: Study, said: Statements) -> dict[str, Any]:
    kernel, goal, order = study.kernels[0], study.goals[0], said.order
    rows = [
        [
            order.rank(row["arm"]),
            printable(order.label(row["arm"])) + _mark(row["arm"], order),
            number(row[kernel]),
            f"{number(row['low'])} to {number(row['high'])}" if row.get("low") is not None else DASH,
            percent(row["final_gap"]),
            percent(row[attainment_name(goal)], digits=1),
            *([str(row["tier"])] if order.descriptive else []),
            *(count(row[name]) for name in ("runs", "empty", "rejected", "late")),
        ]
        for row in arm_frame(study.summary, order, study.intervals).iter_rows(named=True)
    ]
    header = [
        "rank", "arm", f"mean {kernel}", f"{100 * study.level:g} % interval", "final gap", f"≤ {goal_words(goal)}",
        *(["tier"] if order.descriptive else []), "runs", "empty", "rejected", "late",
    ]  # fmt: skip
    return {"header": header, "rows": rows, "caption": printable(study.summary.caption())}


def _mark(arm: str, order: ArmOrder) -> str:
    """Return a mark after an arm's name that explains why it has no rank."""
    if arm in order.descriptive:
        return " (descriptive)"
    return " (other instances)" if arm in order.others and order.compared else ""


def _reading(study: Study, head: dict[str, Any]) -> list[str]:
    """Return sentences on how to read the numbers of the page, and on what the reader's choices change."""
    declared = f"{'bands and ' if any(head['bands'].values()) else ''}the classical comparisons"
    transform = f"Objectives are shown under the transform {study.envelopes.scale}."
    if head["clock"] is None:
        computed = (
            "Kernel, reference, goal, weighting and arms can be changed above: all of their means, counts and "
            f"differences were computed by Python and are in this page, curves at {head['stored']['moments']:,} "
            f"moments, rounded to {DECIMALS} decimals. Intervals and tests of another choice are computed here where "
            f"the page has all instances; {declared} are shown for the declared choice alone."
        )
    else:
        computed = (
            "Kernel, reference, horizon, goal, weighting and arms can be changed above; means, counts, ranks and "
            "curves are recomputed from the steps in this page, and intervals and tests by the rules and draws of "
            f"Python. {declared.capitalize()} were computed by Python for the declared choice, and are shown for it "
            "alone."
        )
        transform = f"{_rounding(head)} {transform}"
    return [
        "A score is the mean gap over the horizon: 0 at the reference, negative below it, smaller is better. "
        "A run without a valid candidate scores the worst value of its kernel and stays in every mean.",
        computed,
        transform,
        f"Time weight {study.weight}. A score is conditional on the horizon that the solver was told.",
    ]


def _rounding(head: dict[str, Any]) -> str:
    clock, units = head["clock"], head["units"]
    times = f"{'exact, as' if clock['exact'] else 'rounded to'} multiples of {10.0 ** -clock['decimals']:g} s"
    values = "exact"
    if rounded := units["exact"].count(False):
        rows = zip(units["decimals"], head["snapshots"][0]["references"], units["exact"], strict=True)
        finest = max(10.0**-decimals / (abs(value) or 1.0) for decimals, value, exact in rows if not exact)
        values = (
            f"rounded on {rounded:,} of {len(units['exact']):,} instances, to at most {finest:.1g} of the reference; "
            "a difference below that counts as equal"
        )
    return f"Stamps in this page are {times}; objectives are {values}."


# The commands for what a page of summaries does not contain.
ELSEWHERE = (
    ("every run, as in tables/runs.csv beside this page", "gapline score SOURCE --per-run --json"),
    ("scores at a shorter horizon", "gapline score SOURCE --horizon H"),
    ("exact curves", "gapline curve SOURCE -o curves.csv"),
    ("a page with the runs of some instances", "gapline report SOURCE --instance NAME -o DIR"),
)


def left_out_words(head: dict[str, Any], steps: int) -> list[str]:
    """Return sentences on what a page of summaries does not contain, and where to find it."""
    stored, units, panels = head["stored"], len(head["units"]["name"]), len(head["panels"])
    words = [
        f"This page carries summaries: the {steps:,} steps of {stored['runs']:,} runs would make it larger than "
        f"{encode.MOST_BYTES // 1_000_000} MB. Every mean, count and difference in it is that of the command line.",
        "Left out: the steps and candidates of single runs, and with them the list of the runs of an instance, the "
        "view of one run, and scores at a shorter horizon.",
    ]
    if units < stored["instances"]:
        words.append(
            f"Of {stored['instances']:,} instances this page has the {units:,} on which the compared arms differ most "
            "under the declared choice; tables/instances.csv has all."
        )
    if stored["panelsShown"] < panels:
        words.append(
            f"Of {panels:,} panels this page has the {stored['panelsShown']:,} with the most instances; "
            "tables/panels.csv has all."
        )
    if stored["pairsShown"] < stored["pairs"]:
        words.append(
            f"Of {stored['pairs']:,} pairs of arms this page has {stored['pairsShown']:,}; tables/contrasts.csv has "
            "all that were tested."
        )
    return words


def _provenance(study: Study, head: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        ("gapline", VERSION),
        ("Vega, from vl-convert", version("vl-convert-python")),
        ("campaign", str(head["campaign"])),
        *((f"package {printable(package.name)}", package.sha256) for package in study.packages),
        *((f"what is in {printable(package.name)}", package.swhid) for package in study.packages),
        *((f"{printable(e.snapshot.name)} ({e.policy})", e.snapshot.digest) for e in study.references),
        *((f"code {printable(name)}", digest) for name, digest in study.reading.code),
    ]
