import os
import subprocess
import sys
from pathlib import Path

import pytest

import gapline
from gapline.errors import TraceError, UsageError
from gapline.logs.formats import Detector, UnknownFormatError, all_readers, find_reader, format_names
from gapline.logs.reader import Found, LogFile, Reader

PLUGIN = """
from gapline.logs.reader import Found, FoundRun, Reader

def read(log):
    return Found(runs=[FoundRun(time=[1.0], objective=[2.0], arm="mine", instance="i", seed=1)])

READER = Reader("mine", "a format of mine", lambda path, head: head.startswith(b"MINE"), read)
"""


def always(name):
    return Reader(name, name, lambda _path, _head: True, lambda _log: Found())


def test_every_built_in_format_loads_under_its_own_name():
    readers, notes = all_readers()
    assert [reader.name for reader in readers] == list(format_names())
    assert not notes
    assert all(reader.describes for reader in readers)


def test_an_unknown_name_shows_the_nearest():
    with pytest.raises(UsageError, match="--format dimac: no such format\nHint: did you mean 'dimacs'"):
        find_reader("dimac")


def test_two_candidates_are_an_error_that_names_both():
    with pytest.raises(TraceError, match="expected one format, got 2 that fit: one and two"):
        Detector([always("one"), always("two")]).detect(LogFile("x.log", b"text"))


def test_no_candidate_shows_the_first_line():
    with pytest.raises(UnknownFormatError, match=r"x.log: expected a known format, got 'hello\\x07 world'"):
        Detector(all_readers()[0]).detect(LogFile("x.log", b"\n\nhello\x07 world\nmore"))
    with pytest.raises(UnknownFormatError, match="got an empty file"):
        Detector(all_readers()[0]).detect(LogFile("x.log", b""))


def test_siblings_are_not_asked_of_all_but_a_stranger_among_them_is():
    asked = []

    def looks_like(name, mark):
        def look(_path, head):
            asked.append(name)
            return mark in head

        return look

    one = Reader("one", "", looks_like("one", b"ONE"), lambda _log: Found())
    two = Reader("two", "", looks_like("two", b"TWO"), lambda _log: Found())
    detector = Detector([one, two])
    assert detector.detect(LogFile("a.log", b"word ONE")) is one
    assert detector.detect(LogFile("b.log", b"word ONE")) is one
    assert asked == ["one", "two", "one"]
    assert detector.detect(LogFile("c.log", b"word TWO")) is two


def run_with_plugin(folder: Path, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Install a plug-in as a package manager would: a module, and metadata with an entry point."""
    (folder / "mine.py").write_text(code)
    info = folder / "mine-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[gapline.formats]\nmine = mine:READER\n")
    source = str(Path(gapline.__file__).parent.parent)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), source])}
    command = [sys.executable, "-c", "from gapline.cli import main; main()", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, cwd=folder, check=False)


@pytest.mark.slow
def test_a_plug_in_is_found_by_name_and_by_content(tmp_path):
    (tmp_path / "a.log").write_text("MINE\n")
    done = run_with_plugin(tmp_path, PLUGIN, "import", "a.log", "-o", "campaign", "--json")
    assert done.returncode == 0, done.stderr
    assert '"source format": "mine"' in done.stdout
    assert "a format of mine" in run_with_plugin(tmp_path, PLUGIN, "import", "--list-formats").stdout


@pytest.mark.slow
def test_a_broken_plug_in_stands_in_nobodys_way_and_is_named(tmp_path):
    (tmp_path / "a.csv").write_text("arm,instance,seed,time,objective\na,i,1,1,2\n")
    done = run_with_plugin(tmp_path, "raise RuntimeError('boom')", "import", "a.csv", "-o", "campaign")
    assert done.returncode == 0, done.stderr
    assert "format mine: the plug-in mine:READER does not load: RuntimeError: boom" in done.stdout
    done = run_with_plugin(tmp_path, "READER = 3", "import", "a.csv", "--format", "mine", "-o", "other")
    assert done.returncode == 3
    assert "expected mine:READER to be a Reader, got int" in done.stderr
