import gzip
import os
from pathlib import Path

import pytest
import zstandard

from gapline.errors import UsageError
from gapline.files.compression import path_without_packing
from gapline.logs.log_files import find_files, load_file

TEXT = b"o 1\n" * 5000


def test_folders_are_walked_in_order_without_hidden_files(tmp_path):
    for name in ("b/2.log", "b/1.log", "a.log", ".hidden", ".git/x.log"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    names = [Path(path).relative_to(tmp_path).as_posix() for path in find_files([tmp_path])]
    assert names == ["a.log", "b/1.log", "b/2.log"]


def test_a_file_named_twice_is_read_once(tmp_path):
    (tmp_path / "a.log").write_text("x")
    assert find_files([tmp_path / "a.log", tmp_path]) == [str(tmp_path / "a.log")]


def test_missing_and_empty_sources_are_named(tmp_path):
    with pytest.raises(UsageError, match=r"got no such file: nowhere, nothing"):
        find_files(["nowhere", "nothing"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="got an empty one"):
        find_files([tmp_path / "empty"])


@pytest.mark.parametrize(
    "pack",
    [
        gzip.compress,
        lambda data: gzip.compress(data[:99]) + gzip.compress(data[99:]),
        zstandard.compress,
        lambda data: zstandard.compress(data[:99]) + zstandard.compress(data[99:]),
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: gzip.compress(b"\xef\xbb\xbf" + data),
        lambda data: data.decode().encode("utf-16"),
        lambda data: b"\xfe\xff" + data.decode().encode("utf-16-be"),
    ],
)
def test_packing_and_marks_are_removed_by_content_not_by_name(tmp_path, pack):
    (tmp_path / "log").write_bytes(pack(TEXT))
    log = load_file(tmp_path / "log")
    assert log.data == TEXT
    assert not log.cut


def test_files_beside_are_read_and_noted_and_nothing_outside_the_folder(tmp_path):
    (tmp_path / "secret").write_text("no")
    inside = tmp_path / "runs"
    (inside / "data").mkdir(parents=True)
    (inside / "index.json").write_text("{}")
    (inside / "data" / "f1.dat").write_bytes(b"1 2\n")
    (inside / "data" / "f2.dat.gz").write_bytes(gzip.compress(b"3 4\n"))
    seen = set()
    beside = load_file(inside / "index.json", seen).beside
    assert beside("data/f1.dat") == b"1 2\n"
    assert beside("data\\f1.dat") == b"1 2\n"
    assert beside("data/f2.dat") == b"3 4\n"
    assert [beside(name) for name in ("../secret", str(tmp_path / "secret"), "none", "", "a\0b")] == [None] * 5
    assert {path.name for path in seen} == {"f1.dat", "f2.dat.gz"}


def test_suffixes_of_packing_are_not_part_of_a_name():
    assert path_without_packing("a/b.log.GZ") == "a/b.log"
    assert path_without_packing("a/b.zst") == "a/b"


def test_a_pipe_in_a_folder_is_not_waited_for(tmp_path):
    (tmp_path / "a.log").write_text("x")
    os.mkfifo(tmp_path / "pipe")
    assert find_files([tmp_path]) == [str(tmp_path / "a.log")]
