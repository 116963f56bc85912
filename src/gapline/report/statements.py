"""What a report says of a study beside its numbers, made once: order, facts, headline."""

from dataclasses import dataclass

from gapline.report.facts import StudyFacts, study_facts
from gapline.report.headline import Evidence, Headline, write_headline
from gapline.report.order import ArmOrder, order_arms
from gapline.study import Study


@dataclass(frozen=True, slots=True)
class Statements:
    """Who is compared and how they rank, what is known, and the one sentence above everything."""

    order: ArmOrder
    facts: StudyFacts
    headline: Headline


def make_statements(study: Study, /) -> Statements:
    """Make the statements of a study."""
    kernel = study.kernels[0]
    order = order_arms(study.summary, alarms=study.alarms)
    ranking, pairs = study.ranking, study.contrasts
    evidence = Evidence(
        kernel=kernel,
        level=study.level,
        means=dict(study.summary.frame.select("arm", kernel).iter_rows()),
        instances=study.instance_set.instances,
        ranking={} if ranking is None else {row["arm"]: row for row in ranking.frame.iter_rows(named=True)},
        contrasts=[]
        if pairs is None
        else pairs.frame.sort("declared", descending=True, maintain_order=True).to_dicts(),
        coverage=study.coverage,
        no_intervals=study.no_intervals,
        alarms=[alarm.instance for alarm in study.alarms],
        empty=study.coverage.empty == study.coverage.runs,
    )
    return Statements(order, study_facts(study), write_headline(order, evidence))
