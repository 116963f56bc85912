"""Blocks end where a row ends, whatever stands between quotes."""

import csv
import io
import mmap
import random
import tempfile

import pytest

from gapline.errors import TraceError
from gapline.traces import blocks
from gapline.traces.blocks import line_blocks, row_blocks, text_blocks


@pytest.fixture
def small(monkeypatch):
    def choose(size, most=1 << 20):
        monkeypatch.setattr(blocks, "BLOCK", size)
        monkeypatch.setattr(blocks, "MOST_ROW", most)

    return choose


@pytest.mark.parametrize("size", [1, 2, 3, 7, 20, 64, 300])
def test_blocks_of_a_quoted_file_are_whole_rows_and_make_up_the_file(size, small):
    """The rows of the blocks, read by the csv module block by block, are those of the file."""
    small(size)
    draw = random.Random(size)
    cells = ["a", "1.5", "", 'a"b', "x,y", "two\nlines", '"', '""', "\n", 'end"\n"']
    for _ in range(60):
        rows = [[draw.choice(cells) for _ in range(3)] for _ in range(draw.randint(1, 12))]
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        data = text.getvalue().encode()
        data = data if draw.random() < 0.7 else data[:-1]
        found = list(row_blocks(data, ",", source="t"))
        assert b"".join(found) == data
        read = [row for block in found for row in csv.reader(io.StringIO(block.decode(), newline=""))]
        assert read == rows


def test_a_quote_inside_a_name_ends_the_cutting_and_not_the_rows(small):
    small(8)
    data = b'aa,1\nbb,2\n5" disk,3\n"x\ny",4\ncc,5\n'
    found = list(row_blocks(data, ",", source="t"))
    assert b"".join(found) == data
    assert found[-1] == b'5" disk,3\n"x\ny",4\ncc,5\n'


def test_a_row_without_end_is_refused_before_it_fills_the_memory(small):
    small(8, most=64)
    with pytest.raises(TraceError, match=r"t: expected a line within 64 bytes, got none after byte 4"):
        list(line_blocks(b"aaa\n" + b"x" * 200 + b"\n", source="t"))
    with pytest.raises(TraceError, match="t: expected a row, and quotes around whole fields, within 64 bytes"):
        list(row_blocks(b'a"' + b"x\n" * 200, ",", source="t"))


def test_mapped_files_and_bytes_give_the_same_blocks(small):
    small(10)
    data = b"".join(b"%d,%d\n" % (n, n * n) for n in range(200))
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        mapped = mmap.mmap(file.fileno(), len(data), access=mmap.ACCESS_READ)
    assert list(line_blocks(mapped, start=4, source="t")) == list(line_blocks(data, start=4, source="t"))
    assert max(map(len, line_blocks(mapped, source="t"))) <= 20


@pytest.mark.parametrize("size", [1, 3, 8, 1000])
@pytest.mark.parametrize("step", [1, 2, 5, 1000])
def test_a_text_in_pieces_is_cut_at_line_ends_and_has_line_feeds_alone(size, step, small):
    small(size)
    text = b"one\r\ntwo\rthree\n\r\n\rfour and more\r\n\n\r"
    pieces = [text[at : at + step] for at in range(0, len(text), step)]
    found = list(text_blocks([b"", *pieces, b""], source="t"))
    assert b"".join(found) == b"one\ntwo\nthree\n\n\nfour and more\n\n\n"
    assert all(block.endswith(b"\n") for block in found)
    assert b"".join(text_blocks([*pieces, b"torn"], source="t")).endswith(b"\n\n\ntorn")


def test_a_line_without_end_is_refused_in_pieces_too(small):
    small(10, most=100)
    with pytest.raises(TraceError, match="t: expected a line within 100 bytes, got none"):
        list(text_blocks((b"x" * 9 for _ in range(100)), source="t"))
