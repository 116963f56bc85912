"""How a study describes itself where its contract leaves words out, the same in every format of metadata."""

from gapline.model.contract import Contract
from gapline.model.text import counted


def title_of(contract: Contract) -> str:
    """Return the title of a study; its name where it has none."""
    return contract.study.title or contract.study.name


def description_of(contract: Contract) -> str:
    """Return what a study says of itself; without a word of its authors, what its contract compares."""
    if contract.study.description:
        return contract.study.description
    arms, instances = counted(len(contract.arms), "arm"), counted(len(contract.instances), "instance")
    return (
        f"Replication package of the study {contract.study.name}: {arms} on {instances}, judged by the gap over time "
        f"({contract.objective.name}) with gapline."
    )


def missing_metadata(contract: Contract) -> list[str]:
    """Say what the formats of a package would need and the contract does not state, a line for each."""
    study = contract.study
    hints = {
        "authors": "who made the study: CITATION.cff says 'not stated', and Zenodo asks for it",
        "licence": "what others may do with it: without one nothing is allowed, and the crate says 'not stated'",
        "description": "what the study asks: its arms and instances are counted instead",
        "date": "the day of publication: the end of the last run stands in for it",
    }
    return [f"study.{field} is not stated: {why}" for field, why in hints.items() if not getattr(study, field)]
