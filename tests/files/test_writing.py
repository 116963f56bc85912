"""A file is written as a whole or not at all, and its errors name it."""

import fcntl
import os
import time

import polars as pl
import pytest

from gapline.files.atomic_write import SUFFIX, write_atomically


def hidden(folder):
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


def test_a_writer_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "t.csv"
    write_atomically(path, lambda stream: stream.write(b"old"))

    def fail(stream):
        stream.write(b"half")
        raise ValueError("x")

    with pytest.raises(ValueError, match="x"):
        write_atomically(path, fail)
    assert path.read_bytes() == b"old"
    assert hidden(tmp_path) == []


@pytest.mark.parametrize("form", ["parquet", "ipc", "csv", "ndjson"])
def test_a_full_disk_is_told_with_the_file_and_the_bytes_whoever_writes(form, tmp_path, monkeypatch):
    """Polars says it in words of its own, and forgets which error it was."""
    frame = pl.DataFrame({"a": range(1000)})

    path = tmp_path / f"t.{form}"

    def write(stream):
        monkeypatch.setattr(stream, "stream", Full())

        getattr(frame, f"write_{form}")(stream)

    with pytest.raises(OSError, match=r"No space left on device, [0-9,]+ bytes or more were to be written") as caught:
        write_atomically(path, write)
    assert caught.value.filename == str(path)
    assert caught.value.errno == 28
    assert list(tmp_path.iterdir()) == []


class Full:
    def write(self, _data):
        raise OSError(28, "No space left on device")

    def flush(self):
        pass


def test_what_a_killed_writer_left_is_cleared_and_what_a_living_one_writes_is_not(tmp_path):
    path = tmp_path / "t.csv"
    stale, living, fresh = (tmp_path / f".t.csv.{letter * 8}{SUFFIX}" for letter in "abc")
    other = tmp_path / ".t.csv.backup"
    for one in (stale, living, other):
        one.write_bytes(b"half")
    fresh.touch()
    with living.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        write_atomically(path, lambda stream: stream.write(b"new"))
    assert hidden(tmp_path) == sorted([living.name, fresh.name, other.name])
    long_ago = time.time() - 3600
    os.utime(fresh, (long_ago, long_ago))
    write_atomically(path, lambda stream: stream.write(b"new"))
    assert hidden(tmp_path) == [other.name]


def test_a_name_as_long_as_names_can_be_is_written(tmp_path):
    path = tmp_path / ("x" * 251 + ".csv")
    write_atomically(path, lambda stream: stream.write(b"new"))
    assert path.read_bytes() == b"new"
