"""Files of a staged package are known by two hashes, read once."""

import hashlib
import subprocess

from gapline.campaign.store import file_digest
from gapline.package.container import fingerprint, staged_files, swhid_of, write_sums


def test_both_hashes_are_those_of_others(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"x" * 3_000_000)
    found = fingerprint(path)
    assert found.sha256 == file_digest(path)
    assert found.blob == hashlib.sha1(b"blob 3000000\0" + path.read_bytes()).digest()


def test_the_list_has_every_file_but_itself(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c").write_text("c")
    (tmp_path / "b.txt").write_text("b")
    (tmp_path / "sha256sums.txt").write_text("old")
    found = write_sums(tmp_path, staged_files(tmp_path))
    assert sorted(found) == staged_files(tmp_path) == ["b.txt", "b/c", "sha256sums.txt"]
    subprocess.run(["sha256sum", "-c", "sha256sums.txt"], cwd=tmp_path, capture_output=True, check=True)
    assert len((tmp_path / "sha256sums.txt").read_text().splitlines()) == 2


def test_who_can_be_executed_is_part_of_the_identifier(tmp_path):
    (tmp_path / "a").write_text("a")
    files = {"a": fingerprint(tmp_path / "a")}
    assert swhid_of(files, ()) != swhid_of(files, {"a"})
