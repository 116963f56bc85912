"""What to do next, in commands that can be copied: said in the same words wherever one command hands on to another."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gapline.terminal import say

if TYPE_CHECKING:
    from gapline.model.contract import Contract


def running_commands(study: str) -> list[str]:
    """Return what follows on a new study."""
    return [f"gapline {words}" for words in (f"status {shlex.quote(study)} --plan", f"run {shlex.quote(study)}")]


def scoring_commands(study: str, contract: "Contract") -> list[str]:
    """Return what follows on a campaign whose runs are all there."""
    policy = " --policy analysis" if lacks_references(study, contract) else ""
    return [f"gapline {command} {shlex.quote(study)}{policy}" for command in ("score", "report")]


def lacks_references(study: str, contract: "Contract") -> bool:
    """Say whether a contract asks for references that are not in the study."""
    named = contract.reference.snapshot
    return contract.reference.policy != "analysis" and (named is None or not (Path(study) / named).is_file())


def print_next(commands: Sequence[str]) -> None:
    """Print commands below each other, behind one label."""
    for place, command in enumerate(commands):
        say(f"{'next: ' if not place else '      '}{command}")
