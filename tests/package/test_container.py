"""A package is one file: a zip or a tar.zst, whose bytes follow from its members."""

import subprocess
import sys
import tarfile
import zipfile

import pytest

from gapline.errors import EnvironmentLacksError, UsageError
from gapline.package.container import check_target, write_container


@pytest.fixture
def files(tmp_path):
    names = ("a.txt", "in/é.txt", "in/" + "long" * 40 + ".txt", "run")
    for name in names:
        path = tmp_path / "f" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name * 1000)
    return {name: tmp_path / "f" / name for name in reversed(names)}


def write(target, files, **more):
    write_container(target, files, executable={"run"}, tell=lambda *_: None, **more)
    return target


@pytest.mark.parametrize("name", ["a.zip", "a.tar.zst"])
def test_the_same_members_give_the_same_bytes(files, tmp_path, name):
    first = write(tmp_path / name, files).read_bytes()
    for path in files.values():
        path.chmod(0o600)
    assert write(tmp_path / f"again-{name}", dict(sorted(files.items()))).read_bytes() == first


def test_a_tar_has_the_members_of_the_zip(files, tmp_path):
    write(tmp_path / "a.tar.zst", files)
    unpacked = subprocess.run(["zstd", "-dc", tmp_path / "a.tar.zst"], capture_output=True, check=True).stdout
    (tmp_path / "a.tar").write_bytes(unpacked)
    with tarfile.open(tmp_path / "a.tar") as archive, zipfile.ZipFile(write(tmp_path / "a.zip", files)) as other:
        members = archive.getmembers()
        assert [member.name for member in members] == other.namelist() == sorted(files)
        assert all(archive.extractfile(member).read() == other.read(member.name) for member in members)
        assert {(member.uid, member.gid, member.uname, member.mtime) for member in members} == {(0, 0, "", 315532800)}
        assert {member.name: member.mode for member in members if member.mode != 0o644} == {"run": 0o755}
        assert {one.filename for one in other.infolist() if one.external_attr >> 16 == 0o100755} == {"run"}


def test_stored_members_are_not_packed(files, tmp_path):
    with zipfile.ZipFile(write(tmp_path / "a.zip", files, stored=True)) as archive:
        assert {member.compress_type for member in archive.infolist()} == {zipfile.ZIP_STORED}
        assert archive.testzip() is None
    with pytest.raises(UsageError, match=r"expected a .zip for --stored"):
        check_target(tmp_path / "a.tar.zst", stored=True)


@pytest.mark.parametrize("name", ["a.tar.gz", "a", ".zip", "a.ZIP.x"])
def test_another_name_is_refused(tmp_path, name):
    with pytest.raises(UsageError, match=r"expected a name that ends in .zip or .tar.zst"):
        check_target(tmp_path / name)


def test_without_zstandard_one_error_says_what_brings_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(EnvironmentLacksError, match="zstandard is not installed") as refused:
        check_target(tmp_path / "a.tar.zst")
    assert "pip install 'gapline[zst]'" in refused.value.hint
    check_target(tmp_path / "a.zip")


def test_progress_ends_at_the_end(files, tmp_path):
    for name in ("a.zip", "a.tar.zst"):
        told = []
        write_container(tmp_path / name, files, executable=(), tell=lambda *facts, told=told: told.append(facts))
        assert told == [(done, 4) for done in range(5)]
