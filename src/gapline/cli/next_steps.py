"""What to do next, in commands that can be copied: said in the same words wherever one command hands on to another."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from gapline.terminal import say


def running_commands(study: str) -> list[str]:
    """Return what follows on a new study."""
    return [f"gapline {words}" for words in (f"status {shlex.quote(study)} --plan", f"run {shlex.quote(study)}")]


def scoring_commands(study: str) -> tuple[list[str], str | None]:
    """Return what follows on a campaign whose runs are all there, and what it lacks for the scores it declares."""
    from gapline.model.contract import load_contract

    reference = load_contract(study).reference
    lacks = reference.snapshot is None or not (Path(study) / reference.snapshot).is_file()
    lacks = lacks and reference.policy != "analysis"
    policy = " --policy analysis" if lacks else ""
    commands = [f"gapline {command} {shlex.quote(study)}{policy}" for command in ("score", "report")]
    words = (
        f"the contract says {reference.policy}, and there are no references: the best of these runs takes their place"
    )
    return commands, words if lacks else None


def print_next(commands: Sequence[str]) -> None:
    """Print commands below each other, behind one label."""
    for place, command in enumerate(commands):
        say(f"{'next: ' if not place else '      '}{command}")
