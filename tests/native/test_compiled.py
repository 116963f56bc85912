"""Compiled code is kept where it can be; where it cannot, numbers come out all the same."""

import shutil
from pathlib import Path

import pytest

import gapline
from bound_by_permissions import gapline as run
from bound_by_permissions import set_writable
from gapline.native import compilation as compiling
from gapline.native.compilation import temporary_place


@pytest.fixture
def nowhere(tmp_path):
    """A package that cannot be written beside, and a home that is not there."""
    package = tmp_path / "src" / "gapline"
    shutil.copytree(Path(gapline.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "t.csv").write_text("arm,instance,seed,time,objective,valid,horizon\na,i,1,1,12,true,10\n")
    (tmp_path / "refs.csv").write_text("instance,value\ni,10\n")
    (tmp_path / "tmp").mkdir()
    set_writable(package, writable=False)
    home = tmp_path / "home"
    home.mkdir(mode=0o555)
    environment = {"PYTHONPATH": tmp_path / "src", "HOME": home, "XDG_CACHE_HOME": home, "NUMBA_CACHE_DIR": ""}
    # A campaign of one candidate would be scored without compiled code.
    yield environment | {"TMPDIR": tmp_path / "tmp", "PYTHONDONTWRITEBYTECODE": "1", "GAPLINE_COMPILE": "always"}
    set_writable(package, writable=True)


@pytest.mark.slow
def test_where_no_place_can_be_written_a_temporary_one_is_used_and_said(nowhere, tmp_path):
    """It was `internal error: RuntimeError: cannot cache function`."""
    kept = []
    for _ in range(2):
        done = run("score", "t.csv", "--references", "refs.csv", folder=tmp_path, **nowhere)
        assert done.returncode == 0, done.stderr
        assert "note: no usual place for compiled code can be written: it is kept in " in done.stderr
        (place,) = (tmp_path / "tmp").glob("gapline-compiled-*")
        kept.append({path: path.stat().st_mtime_ns for path in place.rglob("*.nbc")})
    # The second command found what the first one had compiled.
    assert kept[0]
    assert kept[0] == kept[1]


def test_where_there_is_no_temporary_place_either_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(compiling.tempfile, "tempdir", str(tmp_path / "missing"))
    monkeypatch.setattr(compiling, "notes", [])
    assert temporary_place() is None
    assert compiling._use_temporary() is False
    assert "it is kept nowhere: each command compiles anew" in compiling.notes[0]


def test_a_directory_that_others_can_write_to_is_never_used(tmp_path, monkeypatch):
    """What lies there would be run."""
    monkeypatch.setattr(compiling.tempfile, "tempdir", str(tmp_path))
    first = temporary_place()
    assert first == temporary_place()
    first.chmod(0o777)
    other = temporary_place()
    assert other != first
    assert other.stat().st_mode & 0o077 == 0


@pytest.mark.slow
def test_a_full_disk_keeps_nothing_and_costs_no_number(tmp_path):
    """A file system of no size takes no cache; a limit on the size of files is one that every user may set."""
    (tmp_path / "t.csv").write_text("arm,instance,seed,time,objective,valid,horizon\na,i,1,1,12,true,10\n")
    (tmp_path / "refs.csv").write_text("instance,value\ni,10\n")
    (tmp_path / "cache").mkdir()
    done = run(
        "score", "t.csv", "--references", "refs.csv", folder=tmp_path, largest=0, NUMBA_CACHE_DIR=tmp_path / "cache",
        GAPLINE_COMPILE="always",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert not [path for path in (tmp_path / "cache").rglob("*.nbc") if path.stat().st_size]
