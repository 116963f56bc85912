"""Files of a staged package are known by two hashes."""

import hashlib
import subprocess

from gapline.package.container import list_members, write_sums


def test_the_hash_is_that_of_git(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"x" * 3_000_000)
    assert write_sums(tmp_path)["a"] == hashlib.sha1(b"blob 3000000\0" + path.read_bytes()).digest()


def test_the_list_has_every_file_but_itself(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c").write_text("c")
    (tmp_path / "b.txt").write_text("b")
    (tmp_path / "sha256sums.txt").write_text("old")
    found = write_sums(tmp_path)
    assert sorted(found) == list_members(tmp_path) == ["b.txt", "b/c", "sha256sums.txt"]
    subprocess.run(["sha256sum", "-c", "sha256sums.txt"], cwd=tmp_path, capture_output=True, check=True)
    assert len((tmp_path / "sha256sums.txt").read_text().splitlines()) == 2
