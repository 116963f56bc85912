"""Verdict files: one per checker version, sealed."""

import os

import pytest

from gapline.journal.read import read_journal
from gapline.journal.verdicts import (
    Judge,
    StoredVerdict,
    read_verdicts,
    scan_verdicts,
    verdicts_of,
    write_verdicts,
)
from journal.sample_journal import bodies

GIVEN = [StoredVerdict(1, True, 29.5), StoredVerdict(2, False, reason="odd"), StoredVerdict(3)]


def write_old(attempt, checker, version, checked, *lines, candidates=2):
    """Write a file as it was before there were checksums."""
    attempt.mkdir(parents=True, exist_ok=True)
    head = f'{{"checker":"{checker}","version":"{version}","checked":"{checked}","candidates":{candidates}}}'
    path = attempt / f"verdicts-{checker}-{version}.jsonl"
    path.write_text("\n".join([head, *lines]) + "\n")
    return path


def write(attempt, version="1"):
    return write_verdicts(
        read_journal(attempt), Judge("mine", version), checked="2026-08-01", candidates=5, verdicts=GIVEN
    ).path


def test_what_was_written_is_read_and_what_is_missing_is_unchecked(attempt):
    path = write(attempt)
    assert path.name == "verdicts-mine-1.jsonl"
    (found,) = read_verdicts(read_journal(attempt))
    assert (found.label, found.sealed, found.usable, found.problems()) == ("mine 1", True, True, [])
    assert list(found.by_sequence.values()) == GIVEN
    # Of five candidates two have a verdict: on one the checker failed, and two were never asked about.
    assert found.unchecked == 3
    assert verdicts_of([found], lambda head: head.version == "1") is found
    assert verdicts_of([found], lambda head: head.version == "2") is None


def test_files_of_before_there_were_checksums_are_read_and_marked(attempt):
    lines = ['{"seq":1,"valid":true,"objective":9.5}', '{"seq":3,"valid":false,"reason":"odd"}', '{"seq":4}']
    write_old(attempt, "mine", "1", "2026-08-01", *lines, candidates=5)
    (found,) = read_verdicts(read_journal(attempt))
    assert (found.label, found.sealed, found.usable) == ("mine 1", False, True)
    assert found.by_sequence[1].objective == 9.5
    assert (found.by_sequence[3].valid, found.by_sequence[3].reason) == (False, "odd")
    assert found.unchecked == 3


def test_a_flipped_bit_anywhere_quarantines_and_is_named_with_its_line(attempt):
    path = write(attempt)
    whole = path.read_bytes()
    journal = read_journal(attempt)
    for place in range(len(whole) - 1):
        for bit in (0, 3, 5, 6):
            changed = bytearray(whole)
            changed[place] ^= 1 << bit
            path.write_bytes(bytes(changed))
            (found,) = read_verdicts(journal)
            assert (found.usable, found.by_sequence) == (False, {}), (place, bit)
            assert f"verdicts-mine-1.jsonl:{whole[:place].count(10) + 1}: " in found.problems()[0]


def test_cut_at_every_byte_the_verdicts_before_count(attempt):
    path = write(attempt)
    whole = path.read_bytes()
    journal = read_journal(attempt)
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        (found,) = read_verdicts(journal)
        lines = whole[:cut].count(b"\n")
        assert found.usable == (lines > 0)
        assert list(found.by_sequence.values()) == GIVEN[: max(0, lines - 1)]
        assert found.torn == cut - (whole[:cut].rfind(b"\n") + 1)
        assert bool(found.problems()) == (found.torn > 0 or lines == 0)


def test_verdicts_on_another_journal_do_not_count(attempt):
    path = write(attempt)
    events = attempt / "events.jsonl"
    kept = path.read_bytes()
    other = bodies()
    other[1] = other[1].replace(b"30.0", b"31.0")
    from gapline.journal.line import JournalWriter

    events.unlink()
    writer = JournalWriter(events)
    writer.append(other)
    writer.close()
    path.write_bytes(kept)
    (found,) = read_verdicts(read_journal(attempt))
    assert "expected verdicts on journal" in found.damage


def test_a_copy_under_another_name_does_not_count(attempt):
    path = write(attempt)
    path.with_name("verdicts-mine-1.bak.jsonl").write_bytes(path.read_bytes())
    found = read_verdicts(read_journal(attempt))
    assert [one.usable for one in found] == [False, True]
    assert "expected the verdicts of mine 1 in verdicts-mine-1.jsonl alone" in found[0].damage


def test_a_pipe_in_the_place_of_a_file_is_named_and_not_waited_for(attempt):
    path = write(attempt)
    path.unlink()
    os.mkfifo(path)
    (found,) = read_verdicts(read_journal(attempt))
    assert found.damage.endswith("verdicts-mine-1.jsonl: expected a file, got a pipe")
    assert [one.usable for one in scan_verdicts(attempt)] == [False]


@pytest.mark.parametrize(("line", "number"), [("{", 1), ("", 1), ('{"seq":"x"}', 2), ('{"seq":1}\n{"seq":1}', 3)])
def test_an_old_file_that_was_damaged_is_named_with_its_line(attempt, line, number):
    path = write_old(attempt, "mine", "1", "2026-08-01", line)
    if number == 1:
        path.write_text(line + "\n")
    (found,) = read_verdicts(read_journal(attempt))
    assert f"verdicts-mine-1.jsonl:{number}: " in found.damage
    assert found.by_sequence == {}
