"""Whose verdicts count: those of the contract's checker, or of the one that is asked for; two are never mixed."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from gapline.errors import UsageError, listing
from gapline.journal.verdicts import read_verdicts
from gapline.model.text import meant

_PROGRAM = "command:"


class Judge(NamedTuple):
    """A checker version that judged runs; `given` is how it was asked for, as a contract names it."""

    name: str
    version: str
    given: str | None = None

    @property
    def label(self) -> str:
        """Name and version, as printed with every output."""
        return f"{self.name} {self.version}"

    def is_of(self, contract: str) -> bool:
        """Whether this is the checker that a contract names, in whichever version."""
        if self.given is not None:
            return self.given == contract
        # Verdicts from before it was recorded: what a program calls itself is not how it is started.
        return self.name == contract or (contract.startswith(_PROGRAM) and self.name.startswith(_PROGRAM))


def find_judges(cells: Iterable[Path]) -> list[Judge]:
    """Return who judged cells: first the one that judged most of them to the end, then most at all, then last.

    A checker that fails leaves candidates without a verdict: however often it was asked, it does not come first.
    """
    rank: dict[Judge, tuple[int, int, str]] = {}
    for cell in cells:
        # One vote per cell: a cell with many attempts must not decide for the others.
        votes: dict[Judge, tuple[bool, str]] = {}
        for attempt in sorted(cell.glob("attempt-*")):
            for verdicts in read_verdicts(attempt):
                head = verdicts.head
                judge = Judge(head.checker, head.version, head.given)
                whole, last = votes.get(judge, (False, ""))
                votes[judge] = (whole or not verdicts.unchecked, max(last, head.checked))
        for judge, (whole, last) in votes.items():
            wholes, count, latest = rank.get(judge, (0, 0, ""))
            rank[judge] = (wholes + whole, count + 1, max(latest, last))
    return sorted(rank, key=lambda judge: (rank[judge], judge.label, judge.given or ""), reverse=True)


def choose_judge(judges: Sequence[Judge], *, contract: str | None, wanted: str | None = None) -> Judge | None:
    """Return whose verdicts count, None where the contract's checker judged nothing.

    Parameters
    ----------
    judges
        Who judged, as `find_judges` orders them: it decides between versions of one checker.
    contract
        The checker that the contract names; without a contract everybody may be it.
    wanted
        The checker that was asked for instead: its name, its name with its version, or as a contract would name it.

    >>> judges = [Judge("mine", "2", "python:mine:check"), Judge("cvrp", "1", "cvrp")]
    >>> choose_judge(judges, contract="cvrp").label, choose_judge(judges, contract="cvrp", wanted="mine 2").label
    ('cvrp 1', 'mine 2')
    """
    if wanted is not None:
        found = [judge for judge in judges if wanted in (judge.label, judge.name, judge.given)]
        if not found:
            known = [judge.label for judge in judges]
            hint = meant(wanted, known, show=True) if known else "judge the runs with it: gapline check --checker"
            raise UsageError(f"--checker: expected a checker that judged these runs, got {wanted!r}", hint=hint)
        return found[0]
    return next((judge for judge in judges if contract is None or judge.is_of(contract)), None)


def judge_notes(judges: Sequence[Judge], chosen: Judge | None, *, contract: str | None) -> list[str]:
    """Say whose verdicts are left out, and why."""
    others = [judge.label for judge in judges if judge != chosen]
    if not others:
        return []
    if chosen is None:
        why = f"the contract's checker is {contract} (gapline check asks it, --checker counts another)"
        return [f"verdicts of {listing(others)} are left out: {why}"]
    return [f"verdicts of {chosen.label}; those of {listing(others)} are left out"]
