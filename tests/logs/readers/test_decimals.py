import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapline.logs.readers.dimacs import parse_decimal_rows

DECIMAL = st.from_regex(r"[0-9]{1,9}(\.[0-9]{0,6})?", fullmatch=True) | st.from_regex(r"\.[0-9]{1,9}", fullmatch=True)


@settings(deadline=None)
@given(st.lists(st.tuples(DECIMAL, DECIMAL, DECIMAL), min_size=1), st.sampled_from([" ", "\t"]), st.booleans())
def test_rows_are_what_float_says_to_the_last_bit(rows, blank, windows):
    ending = "\r\n" if windows else "\n"
    block = "".join(blank.join(row) + ending for row in rows).encode()
    columns = parse_decimal_rows(block, columns=3, wanted=[0, 1, 2])
    assert [column.tolist() for column in columns] == [[float(row[k]) for row in rows] for k in range(3)]


@settings(deadline=None)
@given(st.text("0123456789. \n\t-e,x", max_size=60))
def test_a_block_is_read_whole_and_right_or_not_at_all(text):
    got = parse_decimal_rows(text.encode(), columns=2, wanted=[0, 1])
    if got is not None:
        lines = text.split("\n")[:-1]
        assert [list(row) for row in zip(*got, strict=True)] == [
            [float(cell) for cell in line.split()] for line in lines
        ]


@pytest.mark.parametrize(
    "block",
    [b"", b"\n", b"1 2", b"1 2 3\n", b"1\n2 3 4\n", b"1.2.3 4\n", b". 1\n", b"1,5 2\n", b"-1 2\n", b"1 2\n\n3 4\n",
     b"1  2\n", b" 1 2\n", b"1 2 3\n1\n", b"1\t2\n3 4\n", b"1e3 2\n", b"nan 1\n", b"1_0 2\n", b"1 2\n3 4"],
)  # fmt: skip
def test_anything_odd_is_left_to_the_careful_reader(block):
    assert parse_decimal_rows(block, columns=2, wanted=[0, 1]) is None
