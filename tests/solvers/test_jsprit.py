"""The jsprit adapter against a stand-in with the same classes, methods and callbacks, compiled here into a jar."""

import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from gapline.campaign.store import open_campaign
from gapline.checkers import load_checker
from gapline.cli.app import run as gapline
from gapline.contract.contract import Arm
from gapline.contract.tables import VerdictCode
from gapline.generate import write_instances
from gapline.solvers import check_setup, command_line
from gapline.solvers.jdk import find_java
from gapline.solvers.jsprit import LIBRARIES, PROGRAM
from gapline.testing import AdapterSuite

pytestmark = pytest.mark.slow

SOURCES = Path(__file__).parent / "stand_ins" / "jsprit"
STUDY = """
seeds = [1]
[study]
name = "s"
[objective]
checker = "cvrp"
[time]
horizon = 300.0
[[instances]]
path = "{instance}"
[[arms]]
name = "jsprit"
solver = "jsprit"
options = {{ jar = ["lib/jsprit-core-0.0-stand-in.jar"], iterations = 5 }}
"""


@pytest.fixture(scope="session")
def jar(tmp_path_factory):
    """Compile the stand-in, once."""
    if shutil.which("javac") is None:
        pytest.skip("no javac on the path: the stand-in for jsprit cannot be compiled")
    folder = tmp_path_factory.mktemp("jsprit")
    classes = folder / "classes"
    sources = sorted(map(str, SOURCES.rglob("*.java")))
    subprocess.run(["javac", "-nowarn", "-d", str(classes), *sources], check=True, capture_output=True)
    made = folder / "jsprit-core-0.0-stand-in.jar"
    with zipfile.ZipFile(made, "w") as opened:
        for one in sorted(classes.rglob("*.class")):
            opened.write(one, one.relative_to(classes).as_posix())
    return made


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    """Keep what is compiled out of the user's cache, and the same for all tests."""
    folder = tmp_path_factory.getbasetemp() / "jsprit-cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


class TestJsprit(AdapterSuite):
    """CVRP: candidates are valid, at the objective claimed."""

    arm = Arm(name="jsprit", solver="jsprit", options={"iterations": 60})
    checker = "cvrp"
    problem = "cvrp"

    @pytest.fixture(autouse=True)
    def _with_jar(self, jar, monkeypatch):
        arm = self.arm.model_copy(update={"options": {**self.arm.options, "jar": [str(jar)]}})
        monkeypatch.setattr(type(self), "arm", arm)

    @pytest.fixture
    def instance(self, tmp_path):
        return write_instances(self.problem, tmp_path, name="adapter", customers=8)[0]

    def test_the_lines_are_jsprits(self, lines):
        model = {} if self.problem == "cvrp" else {"model": "largest travel times"}
        assert lines[0] == {"solver": "jsprit", "version": "0.0-stand-in"} | model
        objectives = [line["objective"] for line in lines[1:]]
        assert len(objectives) > 1
        assert objectives == sorted(set(objectives), reverse=True)


class TestJspritSlice(TestJsprit):
    """Tier 2: with travel times that are never too short, all windows hold; the claim is of the slice."""

    arm = Arm(name="jsprit-max", solver="jsprit", options={"slice": "max", "iterations": 60}, tier=2)
    checker = "tdvrptw"
    problem = "tdvrptw"
    exact = False

    def test_claims_are_never_below_the_checkers_objective(self, instance, lines):
        for line in lines[1:]:
            verdict = load_checker("tdvrptw").check(instance, line["solution"])
            assert verdict.valid, verdict.reason
            assert verdict.objective <= line["objective"] * (1 + 1e-9)


def test_claims_on_windows_are_the_checkers(jar, tmp_path):
    """VRPTW: worked out by hand, as all three customers fit into one tour of four roads of length 10."""
    path = tmp_path / "square.txt"
    path.write_text(
        "square\n\nVEHICLE\nNUMBER     CAPACITY\n  1          30\n\nCUSTOMER\n"
        "CUST NO.  XCOORD.  YCOORD.  DEMAND  READY TIME  DUE DATE  SERVICE TIME\n\n"
        "0 0 0 0 0 200 0\n1 0 10 10 0 100 5\n2 10 10 10 40 100 5\n3 10 0 10 0 100 5\n"
    )
    lines = run(Arm(name="j", solver="jsprit", options={"jar": [str(jar)], "iterations": 30}), path)
    assert lines[-1]["objective"] == 40.0
    verdict = load_checker("vrptw").check(path, lines[-1]["solution"])
    assert (verdict.valid, verdict.objective) == (True, 40.0)


def test_the_clock_ends_the_search_and_its_last_find_is_printed(jar, tmp_path):
    """With no time left jsprit's one iteration is cut short: what it started from is printed, and it ends by itself."""
    (path,) = write_instances("cvrp", tmp_path, name="adapter", customers=5)
    arm = Arm(name="j", solver="jsprit", options={"jar": [str(jar)]})
    assert check_setup(arm) is None
    lines = run(arm, path, horizon=0.001)
    assert 2 <= len(lines) <= 3


def test_the_program_is_compiled_once_and_runs_without_that_too(jar, tmp_path, monkeypatch):
    (path,) = write_instances("cvrp", tmp_path, name="adapter", customers=5)
    arm = Arm(name="j", solver="jsprit", options={"jar": [str(jar)], "iterations": 3})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    from_source = run(arm, path)
    assert not (tmp_path / "cache").exists()
    assert check_setup(arm) is None
    (folder,) = (tmp_path / "cache" / "gapline").iterdir()
    made = (folder / "GaplineJsprit.class").stat().st_mtime_ns
    assert check_setup(arm) is None
    assert (folder / "GaplineJsprit.class").stat().st_mtime_ns == made
    from_cache = run(arm, path)
    for line in from_source + from_cache:
        line.pop("time", None)
    assert from_source == from_cache


HOSTILE = """
import java.nio.file.*;
import java.util.*;
import javax.annotation.processing.*;
import javax.lang.model.element.TypeElement;
import com.sun.source.util.*;

@SupportedAnnotationTypes("*")
public class Hostile extends AbstractProcessor implements Plugin {
    public Hostile() throws Exception { Files.writeString(Path.of(System.getenv("MARKER")), "it ran"); }
    public boolean process(Set<? extends TypeElement> found, RoundEnvironment round) { return false; }
    public String getName() { return "hostile"; }
    public boolean autoStart() { return true; }
    public void init(JavacTask task, String... arguments) { }
}
"""


def test_no_code_of_the_jars_runs_when_they_are_looked_at(jar, tmp_path, monkeypatch):
    """A compiler starts the processors and plugins that it finds on its class path, unless it is told not to."""
    (tmp_path / "Hostile.java").write_text(HOSTILE)
    monkeypatch.setenv("MARKER", str(tmp_path / "marker"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    javac = ["javac", "-nowarn", "-proc:none", "-d", str(tmp_path), str(tmp_path / "Hostile.java")]
    subprocess.run(javac, check=True, capture_output=True)
    hostile = tmp_path / "hostile.jar"
    shutil.copy(jar, hostile)
    with zipfile.ZipFile(hostile, "a") as opened:
        opened.write(tmp_path / "Hostile.class", "Hostile.class")
        for service in ("javax.annotation.processing.Processor", "com.sun.source.util.Plugin"):
            opened.writestr(f"META-INF/services/{service}", "Hostile\n")
    arm = Arm(name="j", solver="jsprit", options={"jar": [str(hostile)]})
    assert check_setup(arm) is None
    assert list(tmp_path.glob("cache/gapline/*/GaplineJsprit.class"))
    assert not (tmp_path / "marker").exists()


def run(arm, path, *, horizon=300.0):
    command = command_line(arm, path, seed=1, horizon=horizon, threads=1)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_jars_are_found_in_the_study_directory(jar, tmp_path, capsys):
    """The doctor looks where the runs start, not where it is called."""
    (path,) = write_instances("cvrp", tmp_path / "study", name="adapter", customers=5)
    (tmp_path / "study" / "study.toml").write_text(STUDY.format(instance=path.name))
    (tmp_path / "study" / "lib").mkdir()
    assert gapline(["doctor", str(tmp_path / "study")]) == 3
    assert "arm jsprit: options.jar: expected jars" in capsys.readouterr().out
    shutil.copy(jar, tmp_path / "study" / "lib")
    assert gapline(["doctor", str(tmp_path / "study")]) == 0
    assert gapline(["run", str(tmp_path / "study")]) == 0
    campaign = open_campaign(tmp_path / "study" / "campaign")
    assert campaign.candidates >= 1
    assert (campaign.verdict == VerdictCode.VALID).all()


def make_jar(folder, name, *libraries):
    with zipfile.ZipFile(folder / name, "w") as opened:
        for library in libraries:
            opened.writestr(LIBRARIES[library], b"")
    return name


def test_what_is_missing_is_one_line_each(tmp_path, monkeypatch):
    def said(**options):
        found = check_setup(Arm(name="j", solver="jsprit", options=options), tmp_path)
        assert found is None or "\n" not in found
        return found

    assert said() == "arm j: options.jar: expected the jars of jsprit-core and of what it needs, got none"
    assert said(jar="one.jar") == "arm j: options.jar: expected list, got 'one.jar'"
    assert said(jar=["no.jar"]).endswith("relative to the study directory, got 'no.jar': No such file or directory")
    assert "expected the options jar, problem, slice, iterations, got 'jars'; did you mean 'jar'?" in said(jars=["a"])
    (tmp_path / "text.jar").write_text("text")
    assert said(jar=["text.jar"]).endswith("got 'text.jar': not a jar")
    core = make_jar(tmp_path, "core.jar", "jsprit-core")
    assert said(jar=[core]).endswith("expected a jar of slf4j-api among them, got 'core.jar'")
    rest = make_jar(tmp_path, "rest.jar", "slf4j-api", "commons-math3")
    if find_java() is not None:
        # Classes of the right names without what they should hold, as in a jsprit of another age.
        assert "options.jar: expected a jsprit that fits GaplineJsprit.java, got " in said(jar=[core, rest])
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert said(jar=[core, rest]) == f"arm j: expected a JDK 17 or later, got no java in JAVA_HOME {str(tmp_path)!r}"
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"17.0.2\"' >&2\n")
    java.chmod(0o755)
    assert said(jar=[core, rest]) == f"arm j: expected a JDK 17 or later, got {java} without a compiler"


def test_a_missing_jar_is_one_line_in_the_run_too(tmp_path):
    (path,) = write_instances("cvrp", tmp_path, name="adapter", customers=3)
    command = command_line(Arm(name="j", solver="jsprit"), path, seed=1, horizon=1.0, threads=1)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = "options.jar: expected the jars of jsprit-core and of what it needs, got none\n"
    assert (done.returncode, done.stdout, done.stderr) == (3, "", said)


def test_the_program_is_shipped_beside_the_adapter():
    assert PROGRAM.is_file()
