"""Verdict files, damaged: every candidate has the verdict that it was given, or waits for one; none gets another.

A torn tail leaves the verdicts before it; any other damage quarantines the file, by name.
"""

import random
from pathlib import Path
from typing import Any

from gapline.contract.plan import slug
from gapline.contract.tables import RunKey, VerdictCode
from gapline.journal.campaign import read_study
from torture.journals import ARMS, damage, repeat, runs_of

FILE = "verdicts-c-1.jsonl"


def trial(count: int, seed: int, scratch: Path) -> dict[str, int]:
    """Damage verdict files `count` times and read the study; a wrong outcome is an `AssertionError` with its seed."""
    return repeat(count, seed, scratch, _outcome)


def _outcome(study: Path, expected: dict[str, Any], draw: random.Random, case: str) -> str:
    # Where all heads are lost nobody knows any more who judged: then everything waits.
    hit = draw.sample(ARMS, draw.choice([1, 1, 1, 2, 3]))
    files = {arm: study / "journal" / slug(RunKey(arm, "i", 1)) / "attempt-001" / FILE for arm in ARMS}
    lines = {arm: file.read_bytes().splitlines() for arm, file in files.items()}
    for arm in hit:
        other = draw.choice([one for one in ARMS if one != arm])
        case += f" ({arm}: {damage(files[arm], draw, lines[other])})"
    campaign = read_study(study)
    found: dict[str, Any] = runs_of(campaign)
    waiting = 0
    for arm in ARMS:
        assert [time for time, _, _ in found[arm]] == [time for time, _, _ in expected[arm]], f"{case}: {arm}"
        for got, was in zip(found[arm], expected[arm], strict=True):
            if got[1] == VerdictCode.UNCHECKED:
                assert arm in hit, f"{case}: {arm} was not touched"
                waiting += 1
            else:
                assert got == was, f"{case}: {arm} got {got}, was {was}"
    assert campaign.diagnostics.unchecked == waiting, case
    assert not campaign.diagnostics.problem_count or waiting or "append" in case, case
    if not waiting:
        return "the same verdicts"
    return "quarantined and named" if any(FILE in one for one in campaign.diagnostics.problems) else "cut at a line"
