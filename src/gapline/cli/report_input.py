"""From a command line to what a report is made from: shared by `report` and `paper`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gapline.report.input import ReportInput

FILTERS = ("arm", "panel", "instance")
ACCEPTANCE = ("horizon", "transform", "validation", "allow_unchecked")
REFERENCES = ("references", "snapshots", "policy")


def read_report_input(sources: Sequence[str], given: dict[str, Any], choices: dict[str, Any]) -> "ReportInput":
    """Read the runs and the references, and score them.

    `choices` has the values of the shared options, `given` the choices that stand in for those of the contract (None:
    not given). Where a prior snapshot is read, the analysis reading is added, so that both policies can be seen.
    """
    from gapline.cli import sources as reading
    from gapline.reference.policy import Policy, analysis_snapshot, refuse_unfrozen
    from gapline.report.choices import ReportChoices, choices_of_contract, contract_of
    from gapline.report.input import prepare_report

    study = contract_of(sources)
    defaults = ReportChoices()
    if study is not None:
        folder, contract = study
        defaults = choices_of_contract(folder, contract)
        choices = choices | _contract_options(folder, contract, choices)
    chosen = replace(defaults, **{name: value for name, value in given.items() if value is not None})
    campaign = reading.read_sources(sources, **{name: choices[name] for name in FILTERS})
    envelopes = reading.accept(campaign, **{name: choices[name] for name in ACCEPTANCE})
    picked = reading.choose_references(envelopes, sources, **{name: choices[name] for name in REFERENCES})
    snapshots = [(choice.snapshot, choice.policy) for choice in picked]
    if study is not None and choices["policy"] is None and study[1].reference.policy == "frozen":
        # A contract that says frozen and is not gets refused.
        for snapshot, _ in snapshots:
            refuse_unfrozen(snapshot, envelopes.runs)
    if choices["policy"] is None and all(policy != Policy.ANALYSIS for _, policy in snapshots):
        snapshots.append((analysis_snapshot(snapshots[0][0], envelopes), Policy.ANALYSIS.value))
    present = set(campaign.runs["arm"].to_list())
    return prepare_report(
        campaign,
        envelopes,
        snapshots,
        title=chosen.title,
        kernels=chosen.kernels,
        weight=chosen.weight,
        goals=chosen.goals,
        weighting=chosen.weighting,
        # A contrast of the contract may name an arm that --arm left out.
        declared=[pair for pair in chosen.declared if present.issuperset(pair) or given.get("declared")],
        level=chosen.level,
        draws=chosen.draws,
        seed=chosen.seed,
        contract=chosen.contract,
    )


def read_study_input(folder: Path) -> "ReportInput":
    """Read a study under its contract, with no option given."""
    nothing: dict[str, Any] = dict.fromkeys((*ACCEPTANCE, *REFERENCES)) | dict.fromkeys((*FILTERS, "snapshots"), ())
    return read_report_input([str(folder)], {}, nothing | {"allow_unchecked": False})


def _contract_options(folder: Path, contract: Any, choices: dict[str, Any]) -> dict[str, Any]:
    """Return the options that the contract answers and the command line does not."""
    found: dict[str, Any] = {}
    if choices["transform"] is None and contract.objective.transform != "none":
        found["transform"] = contract.objective.transform
    if choices["validation"] is None and not choices["allow_unchecked"] and contract.objective.validation == "solver":
        found["validation"] = "solver"
    if choices["references"] is None and not choices["snapshots"]:
        if contract.reference.snapshot is not None:
            found["snapshots"] = (str(folder / contract.reference.snapshot),)
        if choices["policy"] is None and contract.reference.policy == "analysis":
            found["policy"] = "analysis"
    return found
