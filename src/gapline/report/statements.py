"""What a report says of a study beside its numbers, made once: order, facts, headline."""

from collections.abc import Sequence
from dataclasses import dataclass

from gapline.analysis.readings import tier_one_arms
from gapline.model.reading import Coverage
from gapline.report.facts import StudyFacts, study_facts
from gapline.report.headline import Headline, write_headline
from gapline.report.input import ReportInput
from gapline.report.order import ArmOrder, order_arms


@dataclass(frozen=True, slots=True)
class Statements:
    """Who is compared and how they rank, what is known, and the one sentence above everything."""

    order: ArmOrder
    facts: StudyFacts
    headline: Headline


def make_statements(
    study: ReportInput,
    /,
    *,
    tier_two: Sequence[str] = (),
    coverage: Coverage | None = None,
    registered: bool | None = None,
) -> Statements:
    """Make the statements of a study; `tier_two` adds to the arms that the runs themselves mark as tier 2."""
    tier_one = tier_one_arms(study.envelopes.runs, tier_two=tier_two)
    kernel = study.kernels[0]
    means = dict(study.summary.frame.select("arm", kernel).iter_rows())
    order = order_arms(
        study.summary,
        tier_two=[arm for arm in means if arm not in tier_one],
        beaten=int(study.scores[0].frame["beaten"].sum()),
    )
    facts = study_facts(study, tier_one=tier_one, coverage=coverage, registered=registered)
    headline = write_headline(
        order,
        means,
        None if study.contrasts is None else study.contrasts.frame,
        kernel=kernel,
        level=study.level,
        coverage=facts.coverage,
        no_intervals=study.no_intervals,
    )
    return Statements(order, facts, headline)
