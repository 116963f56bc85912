"""What a study's contract declares, as defaults for the options of a command line; an option given rules over it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

STUDY = "study.toml"


@dataclass(frozen=True, slots=True)
class StudyDefaults:
    """The declared choices of one study; what is neutral where there is none."""

    kernels: tuple[str, ...] = ()
    weight: str = "uniform"
    goals: tuple[float, ...] = ()
    weighting: str = "panel"
    transform: str | None = None
    validation: str | None = None
    snapshot: Path | None = None
    policy: str | None = None
    contrasts: tuple[tuple[str, str], ...] = ()
    tier_two: tuple[str, ...] = ()
    draws: int = 10_000
    seed: int = 1
    level: float = 0.95
    title: str | None = None
    text: str | None = None


NO_STUDY = StudyDefaults()


def study_defaults(sources: Sequence[str]) -> StudyDefaults:
    """Read the contract of the study that is scored; several sources have no contract in common."""
    if len(sources) != 1 or not (Path(sources[0]) / STUDY).is_file():
        return NO_STUDY
    from gapline.model.contract import load_contract

    folder = Path(sources[0])
    contract = load_contract(folder / STUDY)
    kernel, reference = contract.score.kernel, contract.reference
    return StudyDefaults(
        kernels=(kernel,) if isinstance(kernel, str) else tuple(kernel),
        weight=contract.score.weight,
        goals=tuple(contract.score.goals),
        weighting=contract.aggregate.weighting,
        transform=None if contract.objective.transform == "none" else contract.objective.transform,
        validation=contract.objective.validation if contract.objective.validation == "solver" else None,
        snapshot=None if reference.snapshot is None else folder / reference.snapshot,
        policy=None if reference.policy == "retrospective" else reference.policy,
        contrasts=tuple((a, b) for a, b in contract.aggregate.contrasts),
        tier_two=tuple(arm.name for arm in contract.arms if arm.tier == 2),
        draws=contract.aggregate.bootstrap.draws,
        seed=contract.aggregate.bootstrap.seed,
        level=contract.aggregate.bootstrap.level,
        title=contract.study.title or contract.study.name,
        text=(folder / STUDY).read_text(encoding="utf-8"),
    )
