"""How tables fit: the laws of `terminal_laws` over generated tables, and what is said of what was left out."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowded_traces import crowd_names
from gapline.report.table import Column, Table, one_part, part
from gapline.report.writers.terminal import fitted_lines
from terminal_laws import beyond, ragged, split_words

HOW = "--all-columns shows them"
WIDE = 100_000


def plain(lines):
    return "\n".join("".join(span.text for span in line).rstrip() for line in lines)


def shown(table, room, **choices):
    return plain(fitted_lines(table, room, how=HOW, **choices))


def table_of(names, numbers=12, *, prose="", notes=()):
    columns = [Column("rank", spare=2), Column("arm", text=True)]
    columns += [Column(f"measure {k}", spare=0 if k == 0 else k) for k in range(numbers)]
    columns += [Column("verdict", text=True)] if prose else []
    rows = [
        [str(place), name, *(f"{k + place / 7:.5f}" for k in range(numbers)), *([prose] if prose else [])]
        for place, name in enumerate(names, 1)
    ]
    return Table("t", "Scores of many, smaller is better", tuple(columns), one_part(rows), pl.DataFrame(), tuple(notes))


def test_the_laws_find_what_they_look_for():
    assert split_words("kayros-a\nco 0.051\n92", "kayros-aco 0.05192") == {"kayros-a", "co", "0.051"}
    assert beyond("a" * 61 + "\n" + "a " * 31, 60) == ["a " * 31]
    columns = (Column("arm", text=True), Column("score"))
    uneven = Table("t", "T", columns, one_part([["a", "0.10"], ["b", "0.255"], ["c", "–"]]), pl.DataFrame())
    assert ragged(uneven) == ["t: score: ['0.10', '0.255']"]


@pytest.mark.parametrize("room", [60, 61, 80, 100, 120])
@pytest.mark.parametrize("arms", [4, 9, 20])
@pytest.mark.parametrize("all_columns", [False, True])
def test_no_word_is_split_and_no_line_too_wide(room, arms, all_columns):
    table = table_of(
        crowd_names(arms), prose="better; robust under 38 of 41; flips at horizon < 1.5 s", notes=["a " * 90]
    )
    text = shown(table, room, all_columns=all_columns)
    assert beyond(text, room) == []
    assert split_words(text, shown(table, WIDE), known=f"({HOW})".split()) == set()


@given(
    st.lists(st.text(alphabet="abc-…中", min_size=1, max_size=60), unique=True, min_size=1, max_size=20),
    st.integers(0, 20),
    st.integers(60, 130),
    st.booleans(),
)
def test_the_laws_hold_whatever_the_names(names, numbers, room, all_columns):
    table = table_of(names, numbers)
    text = shown(table, room, all_columns=all_columns)
    assert beyond(text, room) == []
    assert split_words(text, shown(table, WIDE), known=f"({HOW})".split()) == set()


def test_the_caption_says_what_was_left_out_and_how_to_see_it():
    text = shown(table_of(["one", "two"]), 60)
    head = " ".join(text.split("rank")[0].split())
    assert head.startswith("Scores of many, smaller is better left out at 60 columns: ")
    assert f"measure 10, measure 11 ({HOW})" in head
    assert "measure 0" not in head
    assert "left out" not in shown(table_of(["one"]), WIDE)


def test_all_columns_are_stacked_below_each_other_with_whose_row_it_is():
    table = table_of(crowd_names(4))
    text = shown(table, 60, all_columns=True)
    assert "left out" not in text
    assert all(cell.text in text for row in table.rows for cell in row[2:])
    blocks = text.split("names in full:")[0].split("\n\n")
    assert len(blocks) > 2
    # A name reads alike in every block.
    lines = [[line.split() for line in block.splitlines()] for block in blocks if block]
    names = [{words[1] for words in block if words[0].isdigit()} for block in lines]
    assert all(len(found) == 4 and found == names[0] for found in names)


def test_a_column_without_a_word_goes_before_others():
    columns = (Column("arm", text=True), Column("empty", spare=1), Column("full", spare=5))
    table = Table("t", "T", columns, one_part([["x" * 20, "–" + " " * 0, "1.00"]]), pl.DataFrame())
    assert "left out at 30 columns: empty" in shown(table, 30)


def test_important_columns_stay_while_names_can_be_shortened():
    columns = (Column("a", text=True), Column("b", text=True), *(Column(f"n{k}") for k in range(3)))
    table = Table("t", "T", columns, one_part([["x" * 40, "y" * 40, *["0.12345"] * 3]]), pl.DataFrame())
    assert "left out" not in shown(table, 60)
    assert "x…x" in shown(table, 60)


def test_a_table_that_fits_nowhere_is_told_row_by_row():
    columns = tuple(Column(f"interval {k}", spare=0) for k in range(3))
    rows = [["[0.123456789, 0.234567891]"] * 3] * 2
    text = shown(Table("t", "T", columns, (part("declared", rows),), pl.DataFrame()), 20)
    assert text.count("interval 0:") == 2
    assert "declared" in text


def test_digests_are_short_on_a_terminal_and_whole_in_a_file():
    digest = "sha256:" + "0123456789abcdef" * 4
    table = table_of(["a"], 1, notes=[f"References frozen: {digest}."])
    assert "sha256:0123456789ab…." in shown(table, 80)
    assert digest in shown(table, WIDE, digests=True)


def test_a_table_without_rows_says_so():
    assert shown(table_of([], 2), 80).splitlines()[-1] == "none"


def test_prose_is_broken_at_its_spaces_beside_the_other_cells():
    table = table_of(["x"], 1, prose="one two three four five six seven eight nine ten eleven twelve")
    lines = shown(table, 60).splitlines()
    assert lines[1].split() == ["rank", "arm", "measure", "0", "verdict"]
    assert " ".join(" ".join(line.split()) for line in lines[3:]) == (
        "1 x 0.14286 one two three four five six seven eight nine ten eleven twelve"
    )
