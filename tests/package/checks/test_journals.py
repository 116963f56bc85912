"""Journals that were edited are in `tests/package/test_verify.py`; here is what lies beside them."""

import json

from gapline.journal.line import seal, unseal
from gapline.package.checks.journals import check_journals
from gapline.package.checks.rows import CheckOutcome
from gapline.package.checks.subject import Subject
from package import forging
from package.checks.found import look_at


def look(folder):
    told = []
    subject = Subject(folder, "x", progress=lambda *facts: told.append(facts))
    return look_at(check_journals, subject), subject.index.campaign, told


def test_the_campaign_is_made_while_they_are_verified_and_each_is_read_once(copied):
    findings, campaign, told = look(copied)
    assert findings.differences == ()
    assert len(campaign) == 8
    assert told == [("journals", number, 8) for number in range(9)]


def test_an_order_that_says_something_else_than_its_journal_is_found(copied):
    path = forging.attempt_of(copied) / "run.json"
    body = json.loads(unseal(path.read_bytes().rstrip(b"\n"), 0)[0])
    path.write_bytes(seal(json.dumps(body | {"horizon": 61.0}).encode()[:-1], 0)[0])
    findings, *_ = look(copied)
    (one,) = findings.differences
    assert one.member == str(path.relative_to(copied))
    assert one.said == "expected horizon 60.0, as the journal begins with, got 61.0"
    path.unlink()
    assert look(copied)[0].differences[0].said == "expected the order of the attempt, got none"


def test_an_attempt_that_was_cut_short_is_no_difference_and_is_counted(copied):
    path = forging.attempt_of(copied) / "events.jsonl"
    path.write_bytes(path.read_bytes().rstrip(b"\n").rpartition(b"\n")[0] + b"\n")
    for verdicts in path.parent.glob("verdicts-*"):
        verdicts.unlink()
    findings, campaign, _ = look(copied)
    assert findings.differences == ()
    assert findings.rows[0].why == "1 attempt of them cut short"
    assert len(campaign) == 7


def test_verdicts_on_another_journal_or_on_no_event_are_found(copied):
    attempts = sorted(copied.glob("journal/*/attempt-001"))[:2]
    files = [next(attempt.glob("verdicts-*.jsonl")) for attempt in attempts]
    one, other = (file.read_bytes() for file in files)
    files[0].write_bytes(other)
    assert "expected verdicts on journal " in look(copied)[0].differences[0].said
    files[0].write_bytes(one)
    forging.reseal(files[0], lambda body: body.update(seq=99_999), which=lambda body: "seq" in body)
    assert look(copied)[0].differences[0].said.endswith("got one on event 99999")
    files[0].write_bytes(one)
    forging.reseal(files[0], lambda body: body.update(candidates=99), which=lambda body: "checker" in body)
    assert look(copied)[0].differences[0].said.endswith("got 99")


def test_verdicts_without_checksums_are_not_shown(copied):
    file = next(forging.attempt_of(copied).glob("verdicts-*.jsonl"))
    lines, checksum = [], 0
    for line in file.read_bytes().splitlines():
        body, checksum = unseal(line, checksum)
        lines.append(json.loads(body))
    old = {name: lines[0][name] for name in ("checker", "version", "checked", "candidates")}
    file.write_text("".join(json.dumps(line) + "\n" for line in [old, *lines[1:]]))
    rows = look(copied)[0].rows
    assert [(row.what, row.outcome) for row in rows[1:]] == [
        ("verdicts", CheckOutcome.SHOWN),
        ("verdicts", CheckOutcome.NOT_SHOWN),
    ]
