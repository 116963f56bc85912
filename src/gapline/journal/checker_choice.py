"""Choose the checker whose verdicts count: the contract's or the one the user names; two are never mixed."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from gapline.errors import UsageError, listing
from gapline.journal.attempts import attempts_of, cells_of
from gapline.journal.index import Index
from gapline.journal.verdicts import Judge, VerdictFacts, scan_verdicts
from gapline.text import meant

Look = Callable[[Path], Sequence[VerdictFacts]]


def find_judges(cells: Iterable[Path], *, look: Look = scan_verdicts) -> list[Judge]:
    """Return the checkers of some cells: those that finished most cells first, then by cells judged, then latest.

    `look` returns the verdict files of an attempt. A checker that fails leaves candidates without a verdict, so running
    it often does not move it to the front.
    """
    votes: list[dict[Judge, tuple[bool, str]]] = []
    damaged: list[tuple[dict[Judge, tuple[bool, str]], str]] = []
    wrote: dict[str, Judge] = {}
    for cell in cells:
        # One vote per cell: a cell with many attempts must not outweigh the others.
        mine: dict[Judge, tuple[bool, str]] = {}
        votes.append(mine)
        for verdicts in (one for attempt in attempts_of(cell) for one in look(attempt)):
            if not verdicts.usable or verdicts.head is None:
                damaged.append((mine, verdicts.path.name))
                continue
            judge = verdicts.head.judge
            wrote[verdicts.path.name] = judge
            whole, last = mine.get(judge, (False, ""))
            mine[judge] = (whole or not verdicts.unchecked, max(last, verdicts.head.checked))
    for mine, name in damaged:
        # A damaged file still has its name, so that damage in one run does not change the choice for the others.
        if name in wrote:
            mine.setdefault(wrote[name], (True, ""))
    rank: dict[Judge, tuple[int, int, str]] = {}
    for mine in votes:
        for judge, (whole, last) in mine.items():
            wholes, count, latest = rank.get(judge, (0, 0, ""))
            rank[judge] = (wholes + whole, count + 1, max(latest, last))
    return sorted(rank, key=lambda judge: (rank[judge], judge.label, judge.given or ""), reverse=True)


def choose_judge(judges: Sequence[Judge], *, contract: str | None, wanted: str | None = None) -> Judge | None:
    """Return the checker whose verdicts count; None if the contract's checker judged nothing.

    Parameters
    ----------
    judges
        The checkers in the order of `find_judges`, which decides between versions of one checker.
    contract
        The checker that the contract names; None accepts any.
    wanted
        The checker that the user names instead: its name, its name with version, or as in a contract.

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


def study_judge(study: Path, contract: str | None, index: Index) -> Judge | None:
    """Return the checker whose verdicts count in a study, given the one that its contract names."""
    return choose_judge(
        find_judges(cells_of(study), look=lambda attempt: index.verdicts(attempt)[0]), contract=contract
    )


def judge_notes(judges: Sequence[Judge], chosen: Judge | None, *, contract: str | None) -> list[str]:
    """Report which checkers' verdicts are left out, and why."""
    others = [judge.label for judge in judges if judge != chosen]
    if not others:
        return []
    if chosen is None:
        why = f"the contract's checker is {contract} (gapline check asks it, --checker counts another)"
        return [f"verdicts of {listing(others)} are left out: {why}"]
    return [f"verdicts of {chosen.label}; those of {listing(others)} are left out"]
