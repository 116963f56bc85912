"""From a command line to what a report is made from: shared by `report`, `paper` and `demo`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gapline.report.input import ReportInput

FILTERS = ("arm", "panel", "instance")
ACCEPTANCE = ("horizon", "transform", "validation", "allow_unchecked")
REFERENCES = ("references", "snapshots", "policy")
# The shared options as they are when none is given.
NO_OPTIONS: dict[str, Any] = {
    **dict.fromkeys(FILTERS, ()),
    **dict.fromkeys(ACCEPTANCE),
    **dict.fromkeys(REFERENCES),
    "allow_unchecked": False,
    "snapshots": (),
}


def read_report_input(sources: Sequence[str], given: dict[str, Any], choices: dict[str, Any]) -> "ReportInput":
    """Read the runs and the references, and score them.

    `choices` has the values of the shared options, `given` the choices that stand in for those of the contract (None:
    not given). Where a prior snapshot is read, the analysis reading is added, so that both policies can be seen.
    """
    from gapline.cli import sources as reading
    from gapline.cli.study_defaults import study_defaults
    from gapline.reference.policy import Policy, analysis_snapshot, refuse_unfrozen
    from gapline.report.input import DEFAULT_KERNELS, prepare_report
    from gapline.scoring.scores import DEFAULT_GOALS

    study = study_defaults(sources)
    campaign = reading.read_sources(sources, **{name: choices[name] for name in FILTERS})
    envelopes = reading.accept(campaign, study, **{name: choices[name] for name in ACCEPTANCE})
    # The first reading is the prior snapshot's; only a contract that asks for the analysis reading alone gets it alone.
    prior = study if study.policy == Policy.ANALYSIS else replace(study, policy=None)
    picked = reading.choose_references(envelopes, sources, prior, **{name: choices[name] for name in REFERENCES})
    snapshots = [(choice.snapshot, choice.policy) for choice in picked]
    if choices["policy"] is None and study.policy == Policy.FROZEN:
        # A contract that says frozen and is not gets refused.
        for snapshot, _ in snapshots:
            refuse_unfrozen(snapshot, envelopes.runs)
    if choices["policy"] is None and all(policy != Policy.ANALYSIS for _, policy in snapshots):
        snapshots.append((analysis_snapshot(snapshots[0][0], envelopes), Policy.ANALYSIS.value))
    goals = study.goals or DEFAULT_GOALS
    # With a goal of 0 in front, the figures would show who found the reference itself.
    lead = next((goal for goal in goals if goal > 0), goals[0])
    declared: dict[str, Any] = {
        "title": study.title or "gapline report",
        # The others follow, so that a reader can switch to them.
        "kernels": (*study.kernels, *(kernel for kernel in DEFAULT_KERNELS if kernel not in study.kernels)),
        "weight": study.weight,
        "goals": (lead, *(goal for goal in goals if goal != lead)),
        "weighting": study.weighting,
        "declared": study.contrasts,
        "level": study.level,
        "draws": study.draws,
        "seed": study.seed,
    }
    chosen = declared | {name: value for name, value in given.items() if value is not None}
    if not given.get("declared"):
        # A contrast of the contract may name an arm that --arm left out.
        present = set(campaign.runs["arm"].to_list())
        chosen["declared"] = [pair for pair in study.contrasts if present.issuperset(pair)]
    return prepare_report(campaign, envelopes, snapshots, contract=study.text, **chosen)
