import os
import zipfile

import pytest

from gapline.files.archives import folder_files, unpacked, write_zip


def test_the_bytes_follow_from_the_content_alone(tmp_path):
    """Another order, date, mode and umask of the files: the same zip."""
    for name, stamp in (("one", 1_000_000_000), ("two", 1_700_000_000)):
        (tmp_path / name / "in").mkdir(parents=True)
        for file, text in (("b.txt", "second"), ("in/a.txt", "first" * 500)):
            path = tmp_path / name / file
            path.write_text(text)
            path.chmod(0o600 if name == "one" else 0o755)
            os.utime(path, (stamp, stamp))
    write_zip(tmp_path / "one.zip", folder_files(tmp_path / "one"))
    turned = dict(reversed(folder_files(tmp_path / "two").items()))
    write_zip(tmp_path / "two.zip", turned)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_members_are_sorted_dated_once_and_whole(tmp_path):
    (tmp_path / "b").write_bytes(b"x" * 3_000_000)
    write_zip(tmp_path / "z.zip", {"c/b": tmp_path / "b", "a": b"short"})
    with zipfile.ZipFile(tmp_path / "z.zip") as archive:
        members = archive.infolist()
        assert archive.testzip() is None
    assert [member.filename for member in members] == ["a", "c/b"]
    assert {member.date_time for member in members} == {(1980, 1, 1, 0, 0, 0)}
    assert {member.external_attr >> 16 for member in members} == {0o100644}
    with unpacked(tmp_path / "z.zip") as folder:
        assert (folder / "c/b").read_bytes() == b"x" * 3_000_000
        assert (folder / "a").read_bytes() == b"short"


def test_files_of_a_folder_go_under_a_name(tmp_path):
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "x").write_text("1")
    assert list(folder_files(tmp_path / "f", "campaign/")) == ["campaign/x"]


def test_a_zip_that_cannot_be_written_leaves_the_old_one(tmp_path):
    write_zip(tmp_path / "z.zip", {"a": b"old"})
    before = (tmp_path / "z.zip").read_bytes()
    with pytest.raises(FileNotFoundError):
        write_zip(tmp_path / "z.zip", {"a": b"new", "b": tmp_path / "gone"})
    assert (tmp_path / "z.zip").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["z.zip"]
