"""A study's journals, damaged: a run is whole and the very same, or no run at all, and its file is named.

Cuts leave the valid prefix, which is no run; other damage quarantines the journal. Runs beside it stay as they are.
`tests/journal/test_read.py` tries every byte of one journal; here whole studies are read.
"""

import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec

from gapline.campaign.campaign import Campaign
from gapline.contract.plan import slug
from gapline.contract.tables import RunKey
from gapline.journal.campaign import read_study
from gapline.journal.line import EVENTS_FILE, ORDER_FILE, JournalWriter
from gapline.journal.read import read_journal
from gapline.journal.records import Ending, Order, order_text
from gapline.journal.verdicts import Judge, StoredVerdict, write_verdicts
from torture.flips import flip, operate

ARMS = ("a", "b", "c")


def build(study: Path) -> Path:
    """Write the journals and verdicts of a study: an arm each, one of them with candidates that the checker rejects."""
    for place, arm in enumerate(ARMS):
        key = RunKey(arm, "i", 1)
        attempt = study / "journal" / slug(key) / "attempt-001"
        attempt.mkdir(parents=True)
        order = Order(
            arm=arm, instance="i", seed=1, panel="p", horizon=9.0, attempt=1, argv=["x"],
            carried={"validation": "checker", "tier": 1},
        )  # fmt: skip
        (attempt / ORDER_FILE).write_bytes(order_text(order))
        writer = JournalWriter(attempt / EVENTS_FILE)
        said = [b'"t":%d.5,"say":{"objective":%d,"solution":[%d]}' % (k, 40 - 3 * k - place, k) for k in range(6)]
        end = Ending(cause="exit", started="2026-08-01T12:00:00+00:00", elapsed=8.0, exit_code=0, events=6)
        writer.append([b'"start":' + msgspec.json.encode(order), *said, b'"end":' + msgspec.json.encode(end)])
        writer.close()
        verdicts = [
            StoredVerdict(k + 1, valid=k != place + 2, objective=40.25 - 3 * k - place, reason="odd" if k > 4 else None)
            for k in range(6)
        ]
        write_verdicts(read_journal(attempt), Judge("c", "1"), checked="2026-08-02", candidates=6, verdicts=verdicts)
    return study


def runs_of(campaign: Campaign) -> dict[str, object]:
    """Return what stands of each arm: its verdicts and objectives."""
    found: dict[str, object] = {}
    for arm, first, count in campaign.runs.select("arm", "first", "count").iter_rows():
        part = slice(first, first + count)
        found[arm] = list(
            zip(campaign.time[part].tolist(), campaign.verdict[part].tolist(), campaign.objective[part].tolist(),
                strict=True)
        )  # fmt: skip
    return found


def damage(path: Path, draw: random.Random, foreign: list[bytes]) -> str:
    """Cut, flip or rearrange a file of lines; return what was done."""
    data = path.read_bytes()
    what = draw.choice(["cut", "flip", "flip", "flips", "append", "lines", "lines", "all of another"])
    if what == "cut":
        data = data[: draw.randrange(len(data))]
    elif what == "flip":
        data = flip(data, draw)
    elif what == "flips":
        data = flip(data, draw, times=draw.randint(2, 9))
    elif what == "append":
        data += draw.choice([b"x", b"\n", b"{}\n", draw.choice(foreign) + b"\n", bytes(9)])
    elif what == "lines":
        what, lines = operate(data.splitlines(), draw, foreign)
        data = b"\n".join(lines) + b"\n"
    else:
        data = b"\n".join(foreign) + b"\n"
    path.write_bytes(data)
    return what


def trial(count: int, seed: int, scratch: Path) -> dict[str, int]:
    """Damage a journal `count` times and read the study; a wrong outcome is an `AssertionError` with seed and case."""
    return repeat(count, seed, scratch, _outcome)


def repeat(
    count: int, seed: int, scratch: Path, outcome: Callable[[Path, dict[str, object], random.Random, str], str]
) -> dict[str, int]:
    """Try a study `count` times, each time as it was written, and count what came of it."""
    whole, study = build(scratch / "whole"), scratch / "study"
    expected = runs_of(read_study(whole))
    found: Counter[str] = Counter()
    for number in range(count):
        shutil.copytree(whole, study)
        found[outcome(study, expected, random.Random(f"{seed} {number}"), f"seed {seed}, case {number}")] += 1
        shutil.rmtree(study)
    return dict(found)


def _outcome(study: Path, expected: dict[str, object], draw: random.Random, case: str) -> str:
    hit, other = draw.sample(ARMS, 2)
    folder, strange = (study / "journal" / slug(RunKey(arm, "i", 1)) / "attempt-001" for arm in (hit, other))
    before = (folder / EVENTS_FILE).read_bytes()
    case += f" ({damage(folder / EVENTS_FILE, draw, (strange / EVENTS_FILE).read_bytes().splitlines())})"
    if draw.random() < 0.3:
        case += f", {ORDER_FILE} flipped"
        (folder / ORDER_FILE).write_bytes(flip((folder / ORDER_FILE).read_bytes(), draw, times=draw.choice([1, 5])))
    campaign = read_study(study)
    found = runs_of(campaign)
    assert {arm: found.get(arm) for arm in ARMS if arm != hit} == {a: expected[a] for a in ARMS if a != hit}, case
    if hit in found:
        assert found[hit] == expected[hit], f"{case}: another run"
        assert (folder / EVENTS_FILE).read_bytes() == before, f"{case}: a changed journal counts"
        return "the same run"
    assert [key.arm for key in campaign.interrupted] in ([hit], []), f"{case}: {campaign.interrupted}"
    told = (*campaign.diagnostics.problems, *campaign.diagnostics.notes)
    named = any(f"journal/{folder.parent.name}" in one for one in told)
    if campaign.interrupted:
        changed = any("changed after being written" in one for one in told)
        assert named or not changed, f"{case}: quarantined, and not named"
        return "quarantined and named" if changed else "cut short, interrupted"
    assert named, f"{case}: no run, and not named"
    return "no run, named"
