"""The fixture `gapline_gate` in real runs of pytest, each in a process of its own, and what loading it costs."""

import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from xml.etree import ElementTree

import pytest

import gapline as gl
from cli.two_arms import write_traces
from gapline.cli.app import run

TESTS = """
import pytest


def test_passes(gapline_gate):
    judged = gapline_gate(new="traces/*.csv", baseline="baseline.zip", fail_if_worse=0.5)
    assert judged.comparison.verdict == "worse"
    assert judged.gate.limit == 0.5


def test_fails(gapline_gate):
    gapline_gate(new="traces/*.csv", baseline="baseline.zip", fail_if_worse=0.002)


def test_takes_the_choices(gapline_gate):
    judged = gapline_gate(
        new="traces/*.csv:mine", baseline="both.csv:theirs", snapshot="known.json", kernel="maxform", horizon=10,
        fail_unless_non_inferior=0.9, gate_error=0.1, interval="t", level=0.9, panel="small",
    )
    reading = judged.comparison.reading
    assert (reading.kernels, reading.horizons, judged.gate.error) == (("maxform",), (10.0,), 0.1)
    assert (judged.comparison.method, judged.comparison.level) == ("t", 0.9)
    assert judged.comparison.frame["panel"].to_list() == ["small"]


def test_lacks_its_baseline(gapline_gate):
    gapline_gate(new="traces/*.csv", baseline="gone.zip", fail_if_worse=0.5)


def test_matches_nothing(gapline_gate):
    gapline_gate(new="traces/*.jsonl", baseline="baseline.zip", fail_if_worse=0.5)


def test_has_a_wrong_option(gapline_gate):
    gapline_gate(new="traces/*.csv", baseline="baseline.zip", fail_if_worse=0.5, horizn=10)


def test_asks_nothing(gapline_gate):
    gapline_gate(new="traces/*.csv", baseline="baseline.zip")


def test_asks_twice(gapline_gate):
    gapline_gate(new="traces/*.csv", baseline="baseline.zip", fail_if_worse=0, fail_unless_superior=0)


def test_lacks_runs(gapline_gate):
    gapline_gate(new="part.csv", baseline="baseline.zip", fail_if_worse=0.5)


def test_may_lack_runs(gapline_gate):
    gapline_gate(new="part.csv", baseline="baseline.zip", fail_if_worse=0.5, allow_missing=True)


def test_rings(gapline_gate):
    gapline_gate(new="traces/*.csv", baseline="baseline.zip", snapshot="beaten.json", fail_if_worse=0.5)


def test_escapes(gapline_gate):
    gapline_gate(new="odd.csv", baseline="odd.csv", fail_if_worse=0.5)


def test_escapes_that_pass(gapline_gate):
    gapline_gate(new="odd.csv:\\x1b[2Jb", baseline="odd.csv:\\x1b[2Ja", references="refs.csv", fail_if_worse=0.5)


@pytest.fixture
def early(gapline_gate):
    gapline_gate(new="traces/*.csv", baseline="baseline.zip", fail_if_worse=0.002)


def test_of_a_fixture(early):
    pass


def test_without_a_gate():
    pass
"""
FAIL = {
    "test_fails", "test_lacks_its_baseline", "test_matches_nothing", "test_has_a_wrong_option", "test_asks_nothing",
    "test_asks_twice", "test_lacks_runs", "test_rings", "test_escapes",
}  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A project: traces, a baseline, references, a configuration at its root and tests in a folder."""
    root = tmp_path_factory.mktemp("project")
    write_traces(root / "both.csv")
    write_traces(root / "old.csv", arms=("mine",))
    (root / "traces").mkdir()
    write_traces(root / "traces" / "new.csv", slower=1.5, arms=("mine",))
    rows = (root / "traces" / "new.csv").read_text().splitlines()
    (root / "part.csv").write_text("\n".join(row for row in rows if ",small-0,1," not in row) + "\n")
    write_traces(root / "odd.csv", arms=("\x1b[2Ja", "\x1b[2Jb"))
    names = gl.read(root / "old.csv").runs["instance"].unique().to_list()
    gl.Snapshot.from_values(dict.fromkeys(names, 100.0), name="known").save(root / "known.json")
    (root / "refs.csv").write_text("instance,value\n" + "".join(f"{name},100\n" for name in names))
    beaten = gl.Snapshot.from_values(dict.fromkeys(names, 130.0), name="beaten", certified=names)
    beaten.save(root / "beaten.json")
    made = ["export", str(root / "old.csv"), "--snapshot", str(root / "known.json"), "-o", str(root / "baseline.zip")]
    assert run(made) == 0
    (root / "tests").mkdir()
    (root / "tests" / "test_gates.py").write_text(TESTS)
    (root / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\nfilterwarnings = error\n")
    return root


def pytest_in(folder: Path, *arguments: str, plugins: tuple[str, ...] = ("gapline",)) -> subprocess.CompletedProcess:
    """Run pytest with these plug-ins of others and no more: what they load is not ours."""
    chosen = [part for name in plugins for part in ("-p", name)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "PY_COLORS"))}
    return subprocess.run(
        [sys.executable, "-m", "pytest", *chosen, *arguments],
        cwd=folder,
        env=environment | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def done(place):
    """One run from inside the folder of the tests: relative paths start at the rootdir all the same."""
    return pytest_in(place / "tests", "--junitxml", "../tests.xml")


def failure(done, test):
    """Return what pytest shows of one failure."""
    parts = re.split(
        r"^_+ (?:ERROR at setup of )?(\w+) _+$", done.stdout.partition("= short test summary")[0], flags=re.M
    )
    return parts[parts.index(test) + 1]


def test_the_package_names_its_plug_in():
    """Where this fails, gapline was installed before it had one: install it anew."""
    (found,) = [point for point in entry_points(group="pytest11") if point.name == "gapline"]
    assert found.value == "gapline.pytest_plugin"


@pytest.mark.slow
def test_gates_pass_and_fail(done, place):
    assert done.returncode == 1, done.stdout
    outcomes = {
        case.get("name"): next((child.tag for child in case if child.tag in ("failure", "error")), "passed")
        for case in ElementTree.parse(place / "tests.xml").iter("testcase")
    }
    assert {name for name, outcome in outcomes.items() if outcome == "failure"} == FAIL
    assert {name for name, outcome in outcomes.items() if outcome == "error"} == {"test_of_a_fixture"}


@pytest.mark.slow
def test_a_failure_has_the_sentences_of_compare_and_its_table(done, place, monkeypatch, capsys):
    monkeypatch.chdir(place)
    assert run(["compare", "baseline.zip", "traces/*.csv", "--fail-if-worse", "0.002"]) == 1
    printed = [line.strip() for line in capsys.readouterr().out.splitlines() if line.strip()]
    shown = [line.strip() for line in failure(done, "test_fails").splitlines() if line.strip()]
    assert sorted(shown) == sorted(printed)
    assert shown[0] == "failed: worse by more than 0.002"
    assert "FAILED test_gates.py::test_fails - Failed: failed: worse by more than" in done.stdout
    assert "Traceback" not in done.stdout
    assert "During handling" not in done.stdout


@pytest.mark.parametrize(
    ("test", "words"),
    [
        ("test_lacks_its_baseline", "gone.zip: expected a trace file, campaign or study directory, got no such file"),
        ("test_matches_nothing", "traces/*.jsonl: expected files that match, got none"),
        ("test_has_a_wrong_option", "got 'horizn'\nHint: did you mean 'horizon'?"),
        ("test_asks_nothing", "expected one gate, got none or several\nHint: give one of fail_if_worse, "),
        ("test_asks_twice", "expected one gate, got none or several"),
        ("test_lacks_runs", "failed: 1 runs are missing: part.csv:mine small-0/1 (not there)"),
        ("test_rings", "ALARM "),
        ("test_of_a_fixture", "failed: worse by more than 0.002"),
    ],
)
def test_a_failure_says_why(done, test, words):
    assert words in failure(done, test)


def test_where_paths_start_is_said(done, place):
    assert f"(relative paths start at pytest's rootdir, {place})" in failure(done, "test_lacks_its_baseline")


def test_the_summary_tells_passed_gates_too(done):
    section = done.stdout.partition("- gapline gates -")[2].partition("= short test summary")[0]
    assert re.search(r"^passed tests/test_gates.py::test_passes\n  traces/\*\.csv:mine: worse: \+0\.", section, re.M)
    assert "passed tests/test_gates.py::test_may_lack_runs" in section
    assert "failed tests/test_gates.py::test_of_a_fixture\n" in section
    assert "  not judged: gone.zip: expected a trace file" in section
    assert "test_without_a_gate" not in section
    assert len(re.findall(r"^(?:passed|failed) ", section, re.M)) == len(FAIL) + 5


def test_names_are_shown_and_never_obeyed(done):
    assert [line for line in done.stdout.split("\n") if not line.isprintable()] == []
    assert "passed tests/test_gates.py::test_escapes_that_pass\n  odd.csv:\\u001b[2Jb: worse: " in done.stdout


@pytest.mark.slow
def test_the_summary_comes_from_other_processes_too(place):
    """With pytest-xdist the gate is judged in one process and told in another."""
    done = pytest_in(place, "-n", "1", "-k", "test_passes", plugins=("gapline", "xdist"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed tests/test_gates.py::test_passes\n  traces/*.csv:mine: worse: +0." in done.stdout


@pytest.mark.slow
def test_who_does_not_use_it_does_not_notice_it(tmp_path):
    """Nothing heavy is imported, nothing is printed, and the run is as without it."""
    (tmp_path / "test_own.py").write_text("def test_own():\n    pass\n")
    (tmp_path / "conftest.py").write_text(
        "import sys\n\n\ndef pytest_sessionfinish():\n"
        "    heavy = ('numpy', 'polars', 'numba', 'pydantic', 'msgspec', 'rich', 'gapline.study', 'gapline.report')\n"
        "    with open('heavy.txt', 'w') as out:\n"
        "        found = [name for name in heavy if name in sys.modules]\n"
        "        print(found, 'gapline.pytest_plugin' in sys.modules, file=out)\n"
    )
    said = []
    for plugins in ((), ("gapline",)):
        done = pytest_in(tmp_path, "-q", "-p", "no:cacheprovider", "-W", "error", plugins=plugins)
        assert done.returncode == 0, done.stdout + done.stderr
        said.append(re.sub(r"in [\d.]+s", "", done.stdout))
        assert (tmp_path / "heavy.txt").read_text() == f"[] {bool(plugins)}\n"
    assert said[0] == said[1]
