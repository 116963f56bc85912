"""Zips of others: their names lead nowhere, their size is bounded, and what cannot be trusted is refused whole."""

import io
import stat
import struct
import warnings
import zipfile
from pathlib import Path

import pytest

from gapline.errors import TraceError
from gapline.files import archives
from gapline.files.archives import is_zip, unpacked


def member(name: str, *, mode: int = stat.S_IFREG | 0o644, method: int = zipfile.ZIP_DEFLATED) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr, info.compress_type, info.create_system = mode << 16, method, 3
    return info


def packed(place: Path, *members: tuple[zipfile.ZipInfo | str, bytes]) -> Path:
    path = place / "given.zip"
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        # Of names that are there twice: that is what is tried.
        warnings.simplefilter("ignore")
        for info, content in members:
            archive.writestr(info, content)
    return path


def test_files_and_folders_are_unpacked_and_removed_at_the_end(tmp_path):
    path = packed(tmp_path, ("a.txt", b"one"), ("in/", b""), ("in/b.txt", b"two" * 1000))
    with unpacked(path) as folder:
        assert (folder / "a.txt").read_bytes() == b"one"
        assert (folder / "in/b.txt").read_bytes() == b"two" * 1000
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not folder.exists()


def test_only_what_is_wanted_is_unpacked_and_all_is_looked_at(tmp_path):
    path = packed(tmp_path, ("a.txt", b"one"), ("b.txt", b"two"))
    with unpacked(path, only=lambda name: name == "b.txt") as folder:
        assert [file.name for file in folder.iterdir()] == ["b.txt"]
    path = packed(tmp_path, ("../a.txt", b"one"), ("b.txt", b"two"))
    with pytest.raises(TraceError, match="outside"), unpacked(path, only=lambda name: name == "b.txt"):
        pass


HOSTILE = [
    ("../up.txt", "outside of the archive"),
    ("in/../../up.txt", "outside of the archive"),
    ("/etc/up.txt", "outside of the archive"),
    ("./a.txt", "outside of the archive"),
    ("in//a.txt", "outside of the archive"),
    ("C:up.txt", "outside of the archive"),
    ("in\\..\\up.txt", "no name of a file"),
    ("a\x1b[2J.txt", "no name of a file"),
    ("a\nb.txt", "no name of a file"),
]


@pytest.mark.parametrize(("name", "why"), HOSTILE)
def test_a_name_that_leads_elsewhere_is_refused_before_anything_is_written(tmp_path, name, why):
    path = packed(tmp_path, ("fine.txt", b"x"), (member(name), b"y"))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(TraceError) as error, unpacked(path):
        pass
    assert why in error.value.message
    assert error.value.message.startswith(f"{path}: ")
    assert error.value.message.isprintable()
    assert sorted(tmp_path.rglob("*")) == before


def test_a_name_with_a_zero_byte_is_refused(tmp_path):
    """`zipfile` cuts such a name: a.txt is what it would write, and what the list of members does not say."""
    path = packed(tmp_path, ("a.txtX.sh", b"x"))
    path.write_bytes(path.read_bytes().replace(b"a.txtX.sh", b"a.txt\0.sh"))
    with pytest.raises(TraceError, match=r"no name of a file|whole zip"), unpacked(path):
        pass


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ([("a", b"1"), ("a", b"2")], "'a' (there twice)"),
        ([("a", b"1"), ("A", b"2")], "'A' (there twice)"),
        ([("a", b"1"), ("a/b", b"2")], "'a' (a file and a folder)"),
        ([(member("a", mode=stat.S_IFLNK | 0o777), b"/etc/passwd")], "'a' (a link)"),
        ([(member("a", mode=stat.S_IFIFO | 0o644), b"")], "'a' (no plain file)"),
        ([(member("a", method=zipfile.ZIP_BZIP2), b"x")], "'a' (packed by method 12, not stored or deflated)"),
        ([(member("a", method=zipfile.ZIP_LZMA), b"x")], "'a' (packed by method 14, not stored or deflated)"),
        ([("a", b"1"), ("a", b"2"), ("../b", b"3")], "and 1 more"),
    ],
)
def test_links_and_names_that_are_there_twice_are_refused(tmp_path, members, why):
    with pytest.raises(TraceError) as error, unpacked(packed(tmp_path, *members)):
        pass
    assert why in error.value.message


def test_an_encrypted_member_is_refused(tmp_path):
    path = packed(tmp_path, ("a", b"x" * 100))
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(TraceError, match="encrypted"), unpacked(path):
        pass


def test_the_size_that_is_claimed_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setenv("GAPLINE_MOST_BYTES", "1000")
    path = packed(tmp_path, ("a", b"\0" * 600), ("b", b"\0" * 600))
    with pytest.raises(TraceError, match="expected at most 1,000 bytes once unpacked, got 1,200") as error:
        unpacked(path).__enter__()
    assert "GAPLINE_MOST_BYTES" in error.value.hint
    monkeypatch.setenv("GAPLINE_MOST_BYTES", "1200")
    with unpacked(path) as folder:
        assert len(list(folder.iterdir())) == 2


def test_a_claim_that_is_not_true_is_refused(tmp_path, monkeypatch):
    """The list of members says 10 bytes, and a megabyte of zeros is behind it."""
    path = packed(tmp_path, ("a", b"\0" * (1 << 20)))
    data = bytearray(path.read_bytes())
    place = data.index(b"PK\x01\x02") + 24
    data[place : place + 4] = struct.pack("<I", 10)
    path.write_bytes(data)
    monkeypatch.setenv("GAPLINE_MOST_BYTES", "100000")
    with pytest.raises(TraceError, match="whole zip file"), unpacked(path):
        pass


def test_the_number_of_members_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MOST_MEMBERS", 3)
    path = packed(tmp_path, *((f"f{i}", b"") for i in range(4)))
    with pytest.raises(TraceError, match="expected at most 3 members, got 4"), unpacked(path):
        pass


def test_the_list_of_members_is_bounded_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "_MOST_LIST", 1000)
    path = packed(tmp_path, *((f"{'f' * 50}{i}", b"") for i in range(40)))
    with pytest.raises(TraceError, match="list of members of at most 1,000 bytes"), unpacked(path):
        pass


@pytest.mark.parametrize("cut", [10, 60, 100])
def test_a_zip_that_was_cut_is_one_error(tmp_path, cut):
    path = packed(tmp_path, ("a", b"x" * 1000), ("b", b"y" * 1000))
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(TraceError, match="expected a whole zip file"), unpacked(path):
        pass


def test_a_changed_byte_is_one_error_and_nothing_is_left(tmp_path):
    """At every place of the file: refused, or what comes out is what was put in."""
    content = {"a": b"x" * 300, "b": bytes(range(256))}
    whole = packed(tmp_path, *content.items()).read_bytes()
    path = tmp_path / "changed.zip"
    refused = 0
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :])
        try:
            with unpacked(path) as folder:
                found = {file.name: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
        except TraceError:
            refused += 1
            continue
        assert all(data == b"x" * 300 or data == bytes(range(256)) for data in found.values())
    assert refused > len(whole) // 2


def test_errors_name_the_zip_instead_of_the_folder(tmp_path):
    path = packed(tmp_path, ("a", b"x"))
    with pytest.raises(TraceError) as error, unpacked(path) as folder:
        raise TraceError(f"{folder}/a: expected more", hint=f"look into {folder}")
    assert str(error.value) == f"{path}/a: expected more\nHint: look into {path}"


def test_a_zip_is_known_by_its_first_bytes_or_its_name(tmp_path):
    packed(tmp_path, ("a", b"x")).rename(tmp_path / "renamed.dat")
    (tmp_path / "t.csv").write_text("arm,instance\n")
    (tmp_path / "wrong.zip").write_text("no zip")
    zipfile.ZipFile(tmp_path / "empty", "w").close()
    (tmp_path / "folder.zip").mkdir()
    found = {path.name for path in tmp_path.iterdir() if is_zip(path)}
    assert found == {"renamed.dat", "wrong.zip", "empty"}
    assert not is_zip(tmp_path / "nothing.zip")
    with pytest.raises(TraceError, match="expected a whole zip file"), unpacked(tmp_path / "wrong.zip"):
        pass
    with pytest.raises(TraceError, match="no such file"), unpacked(tmp_path / "nothing.zip"):
        pass


def test_a_zip_inside_a_pipe_is_not_waited_for(tmp_path):
    import os

    os.mkfifo(tmp_path / "pipe.zip")
    assert not is_zip(tmp_path / "pipe.zip")


def test_what_others_write_is_read(tmp_path):
    """A zip that was streamed, with sizes behind the members, and one without any Unix mode."""

    class Stream(io.BytesIO):
        def seekable(self):
            return False

        def seek(self, *_):
            raise OSError("no way back")

        tell = None

    stream = Stream()
    del Stream.tell
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a", b"streamed")
    (tmp_path / "s.zip").write_bytes(stream.getvalue())
    with unpacked(tmp_path / "s.zip") as folder:
        assert (folder / "a").read_bytes() == b"streamed"
    bare = zipfile.ZipInfo("a")
    bare.external_attr, bare.create_system = 0, 0
    with unpacked(packed(tmp_path, (bare, b"dos"))) as folder:
        assert (folder / "a").read_bytes() == b"dos"
