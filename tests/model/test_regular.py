"""What stands in the place of a file is refused by name, and nothing is waited for."""

import os
import socket
from pathlib import Path

import pytest

from gapline.model.limits import read_regular
from gapline.model.regular import open_regular, reason_of


def test_a_file_and_a_link_to_one_are_read(tmp_path):
    (tmp_path / "f").write_bytes(b"abc")
    (tmp_path / "l").symlink_to("f")
    assert read_regular(tmp_path / "f") == read_regular(str(tmp_path / "l")) == b"abc"
    with open_regular(tmp_path / "f") as stream:
        assert os.get_blocking(stream.fileno()) in (True, False)
        assert stream.read(2) == b"ab"


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda path: path.unlink(missing_ok=True), "no such file"),
        (lambda path: path.mkdir(), "a directory"),
        (os.mkfifo, "a pipe"),
        (lambda path: path.symlink_to("/dev/zero"), "a character device"),
        (lambda path: path.symlink_to(path.name), "too many levels of symbolic links"),
    ],
    ids=["nothing", "directory", "pipe", "device", "loop"],
)
def test_anything_else_is_refused_at_once(tmp_path, make, told):
    before = len(list(Path("/proc/self/fd").iterdir()))
    make(tmp_path / "x")
    with pytest.raises(OSError, match="x") as caught:
        read_regular(tmp_path / "x")
    assert reason_of(caught.value) == told
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_socket_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        with pytest.raises(OSError, match="No such device"):
            read_regular("s")
