"""Modules of a study that its files import are found by reading them."""

from gapline.package.contents import imported_files


def names(folder, *files):
    return sorted(path.relative_to(folder).as_posix() for path in imported_files([folder / f for f in files], folder))


def test_modules_beside_a_file_and_in_the_folder_are_found(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.py").write_text("import json, b\nfrom c import d\nraise SystemExit\n")
    (tmp_path / "sub" / "b.py").write_text("def f():\n    import e\n")
    for name in ("c.py", "e.py", "unused.py"):
        (tmp_path / name).write_text("")
    assert names(tmp_path, "sub/a.py") == ["c.py", "e.py", "sub/a.py", "sub/b.py"]


def test_of_a_package_all_modules_are_taken(tmp_path):
    (tmp_path / "pack" / "deep").mkdir(parents=True)
    for name in ("__init__.py", "one.py", "deep/two.py"):
        (tmp_path / "pack" / name).write_text("")
    (tmp_path / "a.py").write_text("from pack.one import x\n")
    assert names(tmp_path, "a.py") == ["a.py", "pack/__init__.py", "pack/deep/two.py", "pack/one.py"]


def test_relative_imports_and_circles_end(tmp_path):
    (tmp_path / "a.py").write_text("from . import b\n")
    (tmp_path / "b.py").write_text("from .a import x\n")
    assert names(tmp_path, "a.py") == ["a.py", "b.py"]


def test_what_is_no_python_is_taken_as_it_is(tmp_path):
    (tmp_path / "a.py").write_text("this is no python\n")
    (tmp_path / "b.sh").write_text("import c\n")
    (tmp_path / "c.py").write_text("")
    assert names(tmp_path, "a.py", "b.sh") == ["a.py", "b.sh"]
