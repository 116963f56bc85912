"""Files that a study is laid out from."""

import pytest

from gapline.errors import UsageError
from gapline.generate.instance_files import FolderFiles, lacking
from generate.file_trees import Tree

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"ab" * 32 + b"\nsize 9\n"


def test_a_folder_is_read_with_those_below_and_without_what_is_hidden(tmp_path):
    for name in ("a.vrp", "n=5/b.vrp", ".git/c.vrp", "n=5/.d.vrp"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    files = FolderFiles(tmp_path)
    assert sorted(files.paths) == ["a.vrp", "n=5/b.vrp"]
    assert list(files.read(["n=5/b.vrp", "a.vrp"])) == [b"n=5/b.vrp", b"a.vrp"]
    (tmp_path / "a.vrp").unlink()
    assert list(files.read(["a.vrp"])) == [None]
    assert list(files.sizes(["a.vrp", "n=5/b.vrp"])) == [None, 9]


def test_a_folder_that_is_none_is_refused(tmp_path):
    with pytest.raises(UsageError, match="expected a folder of instances, got no such file"):
        FolderFiles(tmp_path / "nothing")
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="got a file"):
        FolderFiles(tmp_path / "file")


def test_content_lacks_where_a_file_is_absent_was_not_fetched_or_points_elsewhere():
    tree = Tree({"whole": b"x", "large": b"x" * 5000, "unfetched": None, "pointer": POINTER})
    assert lacking(tree, ["whole", "large", "unfetched", "pointer", "absent"]) == {"unfetched", "pointer", "absent"}
