"""Under which choices a report is made: what the contract declares, what the caller says instead."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gapline.model.contract import CONTRACT_FILE, Contract, load_contract
from gapline.report.input import DEFAULT_KERNELS
from gapline.score.scores import DEFAULT_GOALS
from gapline.summary.bootstrap import DRAWS
from gapline.summary.contrasts import Pair


@dataclass(frozen=True, slots=True)
class ReportChoices:
    """The choices of one report; the first kernel and the first goal are the declared ones."""

    title: str = "gapline report"
    kernels: tuple[str, ...] = DEFAULT_KERNELS
    weight: str = "uniform"
    goals: tuple[float, ...] = DEFAULT_GOALS
    weighting: str = "panel"
    declared: tuple[Pair, ...] = ()
    level: float = 0.95
    draws: int = DRAWS
    seed: int = 1
    contract: str | None = None


def contract_of(sources: Sequence[str | Path]) -> tuple[Path, Contract] | None:
    """Return the study directory and its contract where the sources are one study."""
    if len(sources) != 1:
        return None
    folder = Path(sources[0])
    return (folder, load_contract(folder)) if (folder / CONTRACT_FILE).is_file() else None


def choices_of_contract(folder: Path, contract: Contract) -> ReportChoices:
    """Take the choices from a contract.

    Its kernels come first; the others follow, so that a reader can switch to them. The first positive goal leads: with
    a goal of 0 in front, the figures would show who found the reference itself.
    """
    declared = contract.score.kernels
    goals = contract.score.goals or list(DEFAULT_GOALS)
    lead = next((goal for goal in goals if goal > 0), goals[0])
    return ReportChoices(
        title=contract.study.title or contract.study.name,
        kernels=(*declared, *(kernel for kernel in DEFAULT_KERNELS if kernel not in declared)),
        weight=contract.score.weight,
        goals=(lead, *(goal for goal in goals if goal != lead)),
        weighting=contract.aggregate.weighting,
        declared=tuple((a, b) for a, b in contract.aggregate.contrasts),
        level=contract.aggregate.bootstrap.level,
        draws=contract.aggregate.bootstrap.draws,
        seed=contract.aggregate.bootstrap.seed,
        contract=(folder / CONTRACT_FILE).read_text(encoding="utf-8"),
    )
