import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapline.logs.events import EventList
from gapline.logs.lines import (
    MOST_LINE,
    LineFilter,
    Lines,
    log_lines,
    parse_number,
    shown,
    torn_line,
    uncoloured,
)


@settings(deadline=None)
@given(st.lists(st.text(st.characters(blacklist_characters="\r\n", blacklist_categories=["Cs"]), max_size=20)))
def test_lines_come_back_whatever_the_ending(lines):
    for ending in ("\n", "\r\n"):
        data = "".join(line + ending for line in lines).encode()
        assert [text for _, text in log_lines(data)] == lines


def test_a_file_of_carriage_returns_has_lines():
    assert [text for _, text in log_lines(b"a\rb\rc")] == ["a", "b", "c"]


def test_a_long_line_is_cut_and_the_next_is_whole():
    lines = list(log_lines(b"x" * 1_000_000 + b"\nnext\n"))
    assert [len(text) for _, text in lines] == [MOST_LINE, 4]


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_what_float_says(value):
    assert parse_number(repr(value)) == value


@pytest.mark.parametrize(
    "text", ["", " ", "nan", "inf", "-inf", "1e400", "1_000", "1,5", "٣", "0x1p3", "1.2.3", "--1", "1e", "9" * 500]
)
def test_what_float_might_take_and_a_log_must_not(text):
    assert parse_number(text) is None


@settings(deadline=None)
@given(st.text())
def test_no_text_makes_it_fail(text):
    value = parse_number(text)
    assert value is None or math.isfinite(value)


def test_rejections_are_kept_counted_and_explained():
    problems = []
    events = EventList(problems)
    events.add("1.5", "10", where="a:1")
    events.add("2", "inf", where="a:2")
    events.add(None, 9.0, where="a:3")
    events.add(3.0, None, where="a:4", valid=False, reason="penalty above 0")
    events.add(-1, 4, where="a:5")
    events.add_bound(4.0, 8.0)
    columns = events.columns()
    assert columns["verdict"].tolist() == [1, 0, 0, 0, 0, 3]
    assert columns["reason"] == ["", "objective not finite", "time missing", "penalty above 0", "time negative", ""]
    assert columns["bound"][5] == 8.0
    assert problems == [
        "a:2: expected a finite objective, got 'inf' (objective not finite)",
        "a:3: expected a time of 0 or more, got nothing (time missing)",
        "a:5: expected a time of 0 or more, got -1 (time negative)",
    ]


def test_columns_without_bounds_or_reasons_leave_them_out():
    events = EventList([])
    events.add(1.0, 2.0, where="a:1")
    assert set(events.columns()) == {"time", "objective", "verdict"}


def test_hostile_text_is_shown_escaped_and_short():
    assert shown("\x1b[31m\u202e") == r"'\x1b[31m\u202e'"
    assert len(shown("x" * 10_000_000)) < 70


def test_torn_means_no_end_of_line():
    assert [torn_line(data) for data in (b"", b"a", b"a\n", b"a\r")] == [0, 1, 0, 0]


FILTER = LineFilter(mark=b"c", words=(b"time", b"after"))


def tells(text):
    return not text.startswith("c") or any(word in text.lower() for word in ("time", "after"))


@settings(deadline=None)
@given(st.data())
def test_no_line_that_tells_something_is_skipped_wherever_pieces_end(data):
    """Those that are given have their own number and text; the last line is torn as it was."""
    lines = data.draw(
        st.lists(
            st.sampled_from(["c talk", "c", "", "o 5", "c TIME 3", "c after", "s UNKNOWN", "\x1b[1m", "cc time time"])
        )
    )
    ending = data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    log = ending.join(lines).encode()
    cuts = sorted(data.draw(st.sets(st.integers(0, len(log)))) | {0, len(log)})
    pieces = [log[low:high] for low, high in pairwise(cuts)]
    every, some = Lines(pieces), Lines(pieces, FILTER)
    whole, given = dict(every), dict(some)
    assert given.items() <= whole.items()
    assert {number for number, text in whole.items() if text and tells(text)} <= given.keys()
    assert some.torn_at == every.torn_at


def test_talk_is_counted_and_not_given():
    log = b"c begin\n" + b"c talk\n" * 1000 + b"o 7\n" + b"c talk\n" * 10 + b"c Time 3\nc talk\n"
    assert list(Lines([log], FILTER)) == [(1, "c begin"), (1002, "o 7"), (1013, "c Time 3")]


PLAIN = b"Cbc0012I Integer solution of 4 found\n  1s | 20 |\n"
COLOURED = (
    b"\x1b]0;cbc\x07\x1b[1;32mCbc0012I\x1b[0m Integer solution of \x1b[38;5;9m4\x1b[m found\x1b[K\n\x1b(B  1s | 20 |\n"
)


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_colours_are_taken_out_wherever_the_pieces_end(size):
    pieces = [COLOURED[at : at + size] for at in range(0, len(COLOURED), size)]
    assert b"".join(uncoloured(pieces)) == PLAIN


def test_text_without_escapes_and_binary_data_are_left_as_they_are():
    text, binary = PLAIN * 1000, b"\0" + COLOURED
    assert next(uncoloured([text])) is text
    assert b"".join(uncoloured([text])) is text
    assert b"".join(uncoloured([binary])) == binary
    assert b"".join(uncoloured([b"a\x1b", b"\nb\x1b["])) == b"a\x1b\nb\x1b["


def test_many_escapes_without_an_end_are_no_work():
    """Each of them might be the beginning of a sequence."""
    noise = b"\x1b[" * 500_000
    assert b"".join(uncoloured([noise, noise])) == noise * 2
