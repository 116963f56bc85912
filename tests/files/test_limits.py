"""No file is read without a limit, and what never ends is no file."""

import os
import threading

import pytest

from gapline.errors import UsageError
from gapline.files import open_file
from gapline.files.compression import read_bytes
from gapline.files.open_file import most_bytes, most_document, open_input, read_document, read_regular


def test_the_limit_is_four_gibibytes_unless_the_environment_says_another(monkeypatch):
    monkeypatch.delenv("GAPLINE_MOST_BYTES", raising=False)
    assert most_bytes() == 4 << 30
    assert most_document() == 256 << 20
    monkeypatch.setenv("GAPLINE_MOST_BYTES", "1600")
    assert (most_bytes(), most_document()) == (1600, 100)


@pytest.mark.parametrize("text", ["4G", "-1", "0", "1e9", "٣"])
def test_a_limit_that_is_no_number_is_refused(text, monkeypatch):
    monkeypatch.setenv("GAPLINE_MOST_BYTES", text)
    with pytest.raises(UsageError, match="GAPLINE_MOST_BYTES: expected a number of bytes, got"):
        most_bytes()


def test_a_file_is_read_up_to_the_limit_and_refused_beyond(tmp_path, monkeypatch):
    monkeypatch.setenv("GAPLINE_MOST_BYTES", "1600")
    path = tmp_path / "t"
    path.write_bytes(b"x" * 1600)
    assert read_bytes(path) == read_regular(path, most=most_bytes()) == b"x" * 1600
    path.write_bytes(b"x" * 1601)
    for read in (read_bytes, lambda path: read_regular(path, most=most_bytes())):
        with pytest.raises(OSError, match="more than 1,600 bytes, the limit that GAPLINE_MOST_BYTES raises"):
            read(path)
    path.write_bytes(b"x" * 101)
    with pytest.raises(
        OSError, match=r"more than 100 bytes, the limit that GAPLINE_MOST_BYTES \(a 16th of it\) raises"
    ):
        read_document(path)


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null"])
def test_a_device_is_no_file(path):
    with pytest.raises(OSError, match="expected a file, got a character device"):
        open_input(path)


def test_a_pipe_is_read_up_to_the_limit_and_one_that_nobody_writes_to_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("GAPLINE_MOST_BYTES", "200000")
    monkeypatch.setattr(open_file, "_PATIENCE", 0.1)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="a pipe that nobody writes to"):
        read_bytes(pipe)
    monkeypatch.setattr(open_file, "_PATIENCE", 60)
    for size in (5, 200_000, 200_001):
        data = os.urandom(size)
        writer = threading.Thread(target=_write, args=(pipe, data))
        writer.start()
        if size > most_bytes():
            with pytest.raises(OSError, match="more than 200,000 bytes"):
                read_bytes(pipe)
        else:
            assert read_bytes(pipe) == data
        writer.join()


def _write(pipe, data):
    try:
        with pipe.open("wb") as stream:
            stream.write(data)
    except BrokenPipeError:
        pass


def test_packages_have_limits_of_their_own(monkeypatch):
    assert (open_file.most_package_bytes(), open_file.most_package_members()) == (8 << 30, 200_000)
    monkeypatch.setenv("GAPLINE_MOST_PACKAGE_BYTES", "12")
    monkeypatch.setenv("GAPLINE_MOST_PACKAGE_MEMBERS", "7")
    assert (open_file.most_package_bytes(), open_file.most_package_members()) == (12, 7)
    monkeypatch.setenv("GAPLINE_MOST_PACKAGE_MEMBERS", "-1")
    with pytest.raises(UsageError, match="GAPLINE_MOST_PACKAGE_MEMBERS: expected a number of members, got '-1'"):
        open_file.most_package_members()
