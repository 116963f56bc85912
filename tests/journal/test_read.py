"""A journal that was cut, changed or shuffled: the valid prefix counts, the rest is reported and never scored."""

import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gapline.contract.tables import Reason, RunStatus
from gapline.journal.line import EVENTS_FILE, JournalWriter, seal
from gapline.journal.read import JournalState, read_journal
from journal.sample_journal import END, OBJECTIVES, ORDER, bodies
from profiles import examples


def rewrite(attempt: Path, data: bytes) -> None:
    (attempt / EVENTS_FILE).write_bytes(data)


def test_a_whole_journal_gives_back_what_was_written(attempt):
    journal = read_journal(attempt)
    assert journal.state is JournalState.WHOLE
    assert journal.status is RunStatus.FINISHED
    assert journal.order == ORDER
    assert journal.ending == END
    assert [event.objective for event in journal.events] == OBJECTIVES
    assert [event.time for event in journal.events] == pytest.approx([0.1, 0.2, 0.3])
    assert [event.solution for event in journal.events] == [b'["\\n",1]', b'["\\n",2]', b'["\\n",3]']
    assert journal.problems() == []


@pytest.mark.parametrize(
    ("said", "claim", "resolutions"),
    [
        ([], None, {}),
        ([b'{"claim":"optimal"}'], "optimal", {}),
        ([b'{"claim":"optimal"}', b'{"claim":"infeasible"}'], "infeasible", {}),
        ([b'{"claim":"perhaps"}'], None, {}),
        ([b'{"claim":["optimal"]}'], None, {}),
        ([b'{"claim":null,"value_resolution":0.5,"bound_resolution":1e-3}'], None,
         {"value_resolution": 0.5, "bound_resolution": 1e-3}),
        ([b'{"claim":"optimal","value_resolution":-1,"bound_resolution":"x"}'], "optimal", {}),
    ],
)  # fmt: skip
def test_the_last_claim_counts_and_is_no_candidate(attempt, said, claim, resolutions):
    *parts, end = bodies()
    rewrite(attempt, sealed(*enumerate([*parts, *(b'"t":0.4,"say":' + line for line in said), end])))
    journal = read_journal(attempt)
    assert (journal.state, journal.claim, journal.resolutions) == (JournalState.WHOLE, claim, resolutions)
    assert [event.objective for event in journal.events] == OBJECTIVES


def test_cut_at_every_byte_the_valid_prefix_counts_and_the_tail_is_reported(attempt):
    whole = (attempt / EVENTS_FILE).read_bytes()
    for cut in range(len(whole)):
        rewrite(attempt, whole[:cut])
        journal = read_journal(attempt)
        lines = whole[:cut].count(b"\n")
        assert journal.state is JournalState.BROKEN
        assert journal.status is RunStatus.LOST
        assert [event.objective for event in journal.events] == OBJECTIVES[: max(0, lines - 1)]
        assert journal.torn == cut - (whole[:cut].rfind(b"\n") + 1)
        assert len(journal.problems()) == 1
        assert journal.order == ORDER


@pytest.mark.slow
def test_a_flipped_bit_anywhere_is_found_and_named(attempt):
    whole = (attempt / EVENTS_FILE).read_bytes()
    for place in range(len(whole)):
        for bit in (0, 3, 6):
            changed = bytearray(whole)
            changed[place] ^= 1 << bit
            rewrite(attempt, bytes(changed))
            journal = read_journal(attempt)
            if place == len(whole) - 1:
                # Without its newline the last line looks like one that was never finished.
                assert journal.torn
                assert journal.state is JournalState.BROKEN
            else:
                line = whole[:place].count(b"\n") + 1
                assert journal.state is JournalState.QUARANTINED
                assert f"{EVENTS_FILE}:{line}:" in journal.problems()[0]
            assert journal.status is RunStatus.LOST


@pytest.mark.parametrize(
    "shuffle",
    [
        lambda lines: [lines[0], lines[2], lines[1], *lines[3:]],
        lambda lines: [*lines[:2], lines[1], *lines[2:]],
        lambda lines: [lines[0], *lines[2:]],
        lambda lines: lines[1:],
        lambda lines: [*lines, lines[-1]],
        lambda lines: [*lines[:2], b"", *lines[2:]],
    ],
    ids=["swapped", "doubled", "missing", "beheaded", "two ends", "empty line"],
)
def test_shuffled_lines_are_quarantined(attempt, shuffle):
    lines = (attempt / EVENTS_FILE).read_bytes().splitlines()
    rewrite(attempt, b"\n".join(shuffle(lines)) + b"\n")
    assert read_journal(attempt).state is JournalState.QUARANTINED


def test_a_line_of_another_journal_does_not_fit_in(attempt, tmp_path):
    other = JournalWriter(tmp_path / "other.jsonl")
    changed = bodies()
    changed[1] = changed[1].replace(b"30.0", b"15.0")
    other.append(changed)
    other.close()
    mine = (attempt / EVENTS_FILE).read_bytes().splitlines()
    theirs = (tmp_path / "other.jsonl").read_bytes().splitlines()
    rewrite(attempt, b"\n".join([mine[0], mine[1], theirs[2], *mine[3:]]) + b"\n")
    assert read_journal(attempt).state is JournalState.QUARANTINED


def test_an_attempt_without_a_journal_still_names_its_run(attempt):
    (attempt / EVENTS_FILE).unlink()
    journal = read_journal(attempt)
    assert journal.state is JournalState.BROKEN
    assert journal.order == ORDER


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(200), deadline=None)
@given(data=st.binary(max_size=400))
def test_any_bytes_at_all_can_be_read(tmp_path, data):
    (tmp_path / EVENTS_FILE).write_bytes(data)
    journal = read_journal(tmp_path)
    assert journal.state is not JournalState.WHOLE
    assert journal.events == []


def sealed(*parts: tuple[int, bytes]) -> bytes:
    """Return lines under the numbers given, with checksums that fit."""
    lines, checksum = [], 0
    for number, body in parts:
        line, checksum = seal(b'{"seq":%d,%b' % (number, body), checksum)
        lines.append(line)
    return b"".join(lines)


def test_bytes_after_the_end_leave_the_attempt_broken(attempt):
    """Whoever wrote them had not finished: the end that stands before them is not the end."""
    rewrite(attempt, (attempt / EVENTS_FILE).read_bytes() + b'{"seq":5')
    journal = read_journal(attempt)
    assert (journal.ending, journal.torn) == (END, 8)
    assert journal.state is JournalState.BROKEN


@pytest.mark.parametrize(
    ("numbers", "order", "told"),
    [
        ([0, 1, 3, 4, 5], [0, 1, 2, 3, 4], "expected line number 2, got 3"),
        ([0, 1, 2, 3, 4, 5], [0, 1, 0, 2, 3, 4], "expected the start on the first line and nowhere else"),
        ([0, 1, 2, 3], [1, 2, 3, 4], "expected the start on the first line and nowhere else"),
        ([0, 1, 2, 3, 4], [0, 1, 2, 4, 3], "expected nothing after the end"),
    ],
    ids=["a number is missing", "two starts", "no start", "a candidate after the end"],
)
def test_checksums_that_fit_do_not_excuse_the_wrong_lines(attempt, numbers, order, told):
    parts = bodies()
    rewrite(attempt, sealed(*zip(numbers, (parts[k] for k in order), strict=True)))
    journal = read_journal(attempt)
    assert journal.state is JournalState.QUARANTINED
    assert told in journal.problems()[0]


def test_an_objective_beyond_the_range_of_doubles_is_rejected_as_not_finite(attempt):
    parts = bodies()
    for k, text in ((1, b"1e999"), (2, b"-1e999")):
        parts[k] = parts[k].replace(b"%.1f" % OBJECTIVES[k - 1], text)
    rewrite(attempt, sealed(*enumerate(parts)))
    events = read_journal(attempt).events
    assert [event.reason for event in events] == [Reason.OBJECTIVE_NOT_FINITE, Reason.OBJECTIVE_NOT_FINITE, ""]
    assert all(math.isnan(event.objective) for event in events[:2])


@pytest.mark.parametrize("content", [b"\xff", b"[]", b'{"arm": 3}', b"", b"{" * 5000])
def test_an_order_that_cannot_be_read_is_named_and_the_journal_says_what_it_is_of(attempt, content):
    (attempt / "run.json").write_bytes(content)
    journal = read_journal(attempt)
    assert (journal.state, journal.order) == (JournalState.WHOLE, ORDER)
    (problem,) = journal.problems()
    assert "run.json: expected an order, got" in problem
    (attempt / EVENTS_FILE).unlink()
    journal = read_journal(attempt)
    assert (journal.state, journal.order) == (JournalState.BROKEN, None)
    assert "nothing says what the attempt is of" in journal.problems()[0]


def test_a_directory_in_the_place_of_the_events_quarantines_that_journal_alone(attempt):
    (attempt / EVENTS_FILE).unlink()
    (attempt / EVENTS_FILE).mkdir()
    journal = read_journal(attempt)
    assert (journal.state, journal.order) == (JournalState.QUARANTINED, ORDER)
    assert "events.jsonl: expected a file, got a directory" in journal.problems()[0]
