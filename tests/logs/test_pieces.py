"""A chunk comes back from its file as it was, whatever is in it, and a file that is none is refused."""

import os
from dataclasses import replace

import numpy as np
import pytest

from gapline.errors import TraceError, UsageError
from gapline.logs.chunk import Job, read_chunk
from gapline.logs.formats import UnknownFormatError
from gapline.logs.log_files import Source, look_at
from gapline.logs.naming import LogIdentity
from gapline.logs.survey_table import FileLines
from gapline.logs.unfinished_import import load_piece, save_piece
from traces.small_logs import OLINES, dimacs

ODD = "c wall time: 1.0\no x\nc wall time: 2.0\no 9\n"


def same(one, other):
    assert list(one.runs) == list(other.runs)
    assert one.naming.matched == other.naming.matched
    for name in ("references", "notes", "companions", "empty", "beside"):
        assert getattr(one, name) == getattr(other, name), name
    for name in ("reasons", "diagnostics", "not_positive", "size"):
        assert getattr(one.spool, name) == getattr(other.spool, name), name
    assert [replace(file, error=None) for file in one.files] == [replace(file, error=None) for file in other.files]
    assert [(type(f.error), str(f.error)) for f in one.files] == [(type(f.error), str(f.error)) for f in other.files]
    for mine, others in zip(one.spool.batches, other.spool.batches, strict=True):
        assert mine.columns.keys() == others.columns.keys()
        for name, column in mine.columns.items():
            np.testing.assert_array_equal(column, others.columns[name].mapped())
    for mine, others in zip(one.spool.tables, other.spool.tables, strict=True):
        assert mine.equals(others)


def test_what_was_found_comes_back(folder, tmp_path):
    logs = folder(a_dot_out=dimacs(), b_dot_log=ODD, c_dot_log=OLINES, d_dot_log="", e_dot_md="# notes\n")
    chunk = read_chunk(Job(given=LogIdentity("x")), [look_at(path) for path in sorted(logs.iterdir())])
    save_piece(chunk, tmp_path / "p")
    loaded = load_piece(tmp_path / "p")
    same(chunk, loaded)
    assert loaded.files[-1].unknown
    assert isinstance(loaded.files[-1].error, UnknownFormatError)


def test_a_path_that_is_no_text_and_an_error_of_ours_come_back(tmp_path):
    name = os.fsdecode(b"caf\xe9.log")
    chunk = read_chunk(Job(), [Source(name)])
    chunk.files = FileLines([replace(chunk.files[0], error=UsageError("wrong", hint="do so"))])
    save_piece(chunk, tmp_path / "p")
    loaded = load_piece(tmp_path / "p")
    assert loaded.files[0].path == name
    assert isinstance(loaded.files[0].error, UsageError)
    assert loaded.files[0].error.hint == "do so"


@pytest.mark.parametrize("data", [b"", b"hello", b"gapline piece 2\n" + bytes(8), b"gapline piece 2\n" + b"\xff" * 30])
def test_what_is_no_piece_is_refused(tmp_path, data):
    (tmp_path / "p").write_bytes(data)
    with pytest.raises(TraceError, match="expected a part of an unfinished import"):
        load_piece(tmp_path / "p")


def test_a_name_in_a_file_calls_no_class_but_our_errors(tmp_path):
    chunk = read_chunk(Job(), [Source("none.log")])
    chunk.files = FileLines([replace(chunk.files[0], error=type("Path", (TraceError,), {})("x"))])
    save_piece(chunk, tmp_path / "p")
    assert type(load_piece(tmp_path / "p").files[0].error) is TraceError
