"""What a report says of a study beside its numbers, made once: order, facts, headline."""

from dataclasses import dataclass

from gapline.report.facts import StudyFacts, study_facts
from gapline.report.headline import Headline, write_headline
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
    means = dict(study.summary.frame.select("arm", kernel).iter_rows())
    beaten = int(study.scores[0].frame["beaten"].sum())
    order = order_arms(study.summary, tier_two=study.tier_two, beaten=beaten)
    headline = write_headline(
        order,
        means,
        None if study.contrasts is None else study.contrasts.frame,
        kernel=kernel,
        level=study.level,
        coverage=study.coverage,
        no_intervals=study.no_intervals,
    )
    return Statements(order, study_facts(study), headline)
