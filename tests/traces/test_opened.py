"""Packages in the place of study directories: the same answers, nothing executed, nothing left behind."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import gapline as gl
from cli.two_arms import write_study, write_traces
from gapline.campaign import remote
from gapline.cli.app import run
from gapline.errors import IntegrityError, TraceError, UsageError
from gapline.files.archives import folder_files, write_zip
from gapline.traces import package_source
from gapline.traces.package_source import forget_packages, opened_package, source_folder, study_folder
from packages import make_package, package_files, sums_of, write_package

KINDS = ("p.zip", "p.tar.zst")
pytestmark = pytest.mark.usefixtures("scratch")


@pytest.fixture
def study(tmp_path):
    write_study(tmp_path / "study")
    for kind in KINDS:
        make_package(tmp_path / "study", tmp_path / kind)
    return tmp_path / "study"


def answer(capsys, *command):
    assert run([*command, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def without_packages(value):
    """An answer without what names the packages, which is all that may differ."""
    if isinstance(value, dict):
        return {name: without_packages(one) for name, one in value.items() if name != "packages"}
    return [without_packages(one) for one in value] if isinstance(value, list) else value


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "command", [["score", "--per-run"], ["curve"], ["analyse", "--draws", "20"], ["plan"]], ids=lambda words: words[0]
)
def test_the_numbers_are_those_of_the_directory_to_the_last_bit(study, kind, command, capsys):
    name, *rest = command
    packed, plain = answer(capsys, name, kind, *rest), answer(capsys, name, str(study), *rest)
    assert without_packages(packed) == plain
    assert packed != plain


@pytest.mark.parametrize("kind", KINDS)
def test_the_study_of_a_package_says_which_it_is(study, kind):
    packed, plain = gl.open_study(kind), gl.open_study(study)
    assert plain.package is None
    assert plain.packages == ()
    assert packed.package == opened_package(kind).identity
    assert packed.sources == (kind,)
    assert f"; from the package {kind} (sha256:" in packed.reading.line()
    assert packed.reading.document()["packages"] == [packed.package.document()]
    assert "packages" not in plain.reading.document()
    assert packed.scores[0].frame.equals(plain.scores[0].frame)
    assert packed.contract == plain.contract
    assert packed.contract_text == plain.contract_text
    assert packed.notes() == plain.notes()
    assert [one.digest for one in packed.stored] == [one.digest for one in plain.stored]
    assert gl.read(kind).digest() == gl.read(study).digest() == packed.campaign_digest


@pytest.mark.slow
def test_two_packages_are_compared_and_both_are_named(study, capsys, tmp_path):
    """`old.zip:arm new.zip:arm`, as two studies are, and in the fixture of pytest."""
    shutil.copytree(study, "later")
    make_package(Path("later"), tmp_path / "new.zip")
    chosen = ["--policy", "frozen"]
    plain = answer(capsys, "compare", "study:mine", "later:theirs", *chosen)
    packed = answer(capsys, "compare", "p.zip:mine", "new.zip:theirs", *chosen)
    assert [one["name"] for one in packed["packages"]] == ["p.zip", "new.zip"]
    assert packed["instance_set"].pop("arms") == ["p.zip:mine", "new.zip:theirs"]
    assert plain["instance_set"].pop("arms") == ["study:mine", "later:theirs"]
    names = ("first", "second", "packages")
    assert {k: v for k, v in packed.items() if k not in names} == {k: v for k, v in plain.items() if k not in names}
    Path("test_gate.py").write_text(
        "def test_gate(gapline_gate):\n"
        "    gapline_gate(new='p.zip:mine', baseline='new.zip:theirs', policy='frozen', fail_if_worse=0.5)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--rootdir", ".", "-q", "-p", "no:cacheprovider"], check=False
    )
    assert done.returncode == 0


def test_several_packages_are_one_source_as_several_studies_are(tmp_path, capsys):
    write_study(Path("for-its-contract"))
    contract = Path("for-its-contract/study.toml")
    for name, arms in (("one", ("mine",)), ("two", ("theirs",))):
        Path(name).mkdir()
        write_traces(Path(name) / "traces.csv", arms=arms)
        gl.read(f"{name}/traces.csv").save(Path(name) / "campaign")
        shutil.copy(contract, Path(name) / "study.toml")
        make_package(Path(name), tmp_path / f"{name}.zip")
    Path("refs.csv").write_text(
        "instance,value\n" + "".join(f"{'small' if i < 4 else 'large'}-{i},100\n" for i in range(8))
    )
    chosen = ["--references", "refs.csv"]
    packed = answer(capsys, "score", "one.zip", "two.zip", *chosen)
    assert without_packages(packed) == answer(capsys, "score", "one", "two", *chosen)
    assert without_packages(answer(capsys, "score", "[ot]*[eo].zip", *chosen)) == without_packages(packed)
    package_source = gl.open_study("one.zip", "two", references="refs.csv")
    assert package_source.package is None
    assert [one.name for one in package_source.packages] == ["one.zip"]


@pytest.mark.slow
def test_every_other_command_that_reads_runs_reads_a_package(study, capsys):
    assert run(["export", "p.zip", "-o", "a.csv"]) == 0
    said = capsys.readouterr().out
    assert "its references (2026) stay in p.zip" in said
    assert "scratch" not in said
    assert run(["export", str(study), "-o", "b.csv"]) == 0
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
    assert run(["export", "p.tar.zst", "-o", "a.zip"]) == 0
    assert run(["export", str(study), "-o", "b.zip"]) == 0
    assert Path("a.zip").read_bytes() == Path("b.zip").read_bytes()
    for source, name in (("campaign:p.zip", "a"), (f"campaign:{study}", "b")):
        assert run(["snapshot", "freeze", source, "--name", "n", "-o", f"{name}.json"]) == 0
        fold = ["snapshot", "fold", "study/references.json", source, "--name", "m", "-o", f"{name}-2.json"]
        assert run([*fold, "--validation", "solver"]) == 0
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()
    assert Path("a-2.json").read_bytes() == Path("b-2.json").read_bytes()
    assert run(["merge", "p.zip", "-o", "merged"]) == 0
    assert gl.open("merged").digest() == gl.read(study).digest()
    assert run(["paper", "p.zip", "-o", "paper", "--format", "svg"]) == 0


@pytest.mark.slow
def test_workers_here_see_what_is_unpacked(study, capsys):
    assert without_packages(answer(capsys, "score", "p.zip", "--on", "local:2")) == answer(capsys, "score", str(study))


@pytest.mark.parametrize(
    ("command", "does"),
    [
        (["run"], "gapline replicate p.zip -o DIR"),
        (["check"], "gapline verify --recheck p.zip"),
        (["status"], "gapline verify p.zip"),
        (["watch", "--once"], "gapline report p.zip"),
        (["serve", "--no-open"], "gapline report p.zip"),
        (["import", "--dry-run"], "gapline score p.zip"),
    ],
    ids=lambda words: words[0] if isinstance(words, list) else "",
)
@pytest.mark.usefixtures("study")
def test_a_command_that_needs_a_directory_says_which_one_takes_a_package(command, does, capsys):
    assert run([command[0], "p.zip", *command[1:]]) == 2
    said = capsys.readouterr().err
    assert f"p.zip: {command[0]} works on " in said
    assert ", and this is a replication package" in said
    assert does in said


def test_another_zip_of_a_study_is_refused_with_the_command_that_packs(study):
    write_zip(Path("plain.zip"), folder_files(study))
    with pytest.raises(TraceError, match=r"got a study \(study.toml\)\nHint: `gapline pack STUDY -o NAME.zip`"):
        gl.open_study("plain.zip")
    write_package(Path("logs.tar.zst"), {"log.txt": b"x"})
    with pytest.raises(TraceError, match=r"replication package with package.json, .*\n.*`gapline import`"):
        gl.open_study("logs.tar.zst")
    with pytest.raises(UsageError, match=r"expected a table, got p\.zip"):
        gl.read("p.zip", columns="arm=solver")


@pytest.mark.parametrize("kind", KINDS)
def test_sums_are_verified_whenever_a_package_is_opened(study, kind):
    files = package_files(study)
    columns = bytearray(files["campaign/objective.npy"])
    columns[-1] ^= 1
    write_package(Path(kind), files | {"campaign/objective.npy": bytes(columns)})
    for opens in (gl.open_study, gl.read):
        with pytest.raises(IntegrityError, match=f"^{kind}: 'campaign/objective.npy': expected sha256:"):
            opens(kind)
    assert package_source._opened == {}
    # Sums that were made again do not help: the campaign has digests of its own.
    changed = {name: data for name, data in files.items() if name != "sha256sums.txt"}
    changed |= {"campaign/objective.npy": bytes(columns)}
    write_package(Path(kind), changed | {"sha256sums.txt": sums_of(changed)})
    with pytest.raises(IntegrityError, match=f"^{kind}/campaign: objective.npy: expected sha256:") as error:
        gl.open_study(kind)
    assert "scratch" not in str(error.value)


def test_a_package_is_unpacked_once_and_anew_when_it_is_another_one(study, scratch):
    first = opened_package("p.zip")
    assert opened_package(Path("p.zip").absolute()).folder == first.folder
    gl.open_study("p.zip")
    assert len(list(scratch.iterdir())) == 1
    Path("more.txt").write_text("x")
    (study / "study.toml").write_text((study / "study.toml").read_text() + "\n# later\n")
    make_package(study, Path("p.zip"))
    second = opened_package("p.zip")
    assert second.identity != first.identity
    assert list(scratch.iterdir()) == [second.folder]


def test_only_what_is_read_is_unpacked(study):
    for name in ("results/report.html", "instances/i.vrp", "journal/a/attempt-001/events.jsonl"):
        (study / name).parent.mkdir(parents=True, exist_ok=True)
        (study / name).write_text("x")
    (study / "own.py").write_text("")
    (study / "journal" / "register.jsonl").write_text("")
    make_package(study, Path("p.zip"))
    folder = study_folder("p.zip")
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {"study.toml", "references.json", "own.py", "journal/register.jsonl", "campaign/time.npy"} <= there
    assert "instances/i.vrp" in there
    assert not {name for name in there if name.startswith(("results/", "journal/a"))}
    assert (opened_package("p.zip", journals=True).folder / "journal/a/attempt-001/events.jsonl").is_file()
    assert not (folder / "results/report.html").exists()
    assert source_folder("study") == Path("study")
    assert study_folder("study/traces.csv") is None


PLANTED = "import pathlib\npathlib.Path({place!r}).write_text('it ran')\n"
CONTRACT = """seeds = [0, 1]
[study]
name = "theirs"
[objective]
checker = "{checker}"
[time]
horizon = 20
[reference]
snapshot = "references.json"
policy = "analysis"
[score]
kernel = ["{kernel}"]
statistics = ["python:own:kernel"]
[[instances]]
path = "instances/small-0.vrp.json"
[[arms]]
name = "mine"
solver = "command"
command = ["./solver.py"]
[[arms]]
name = "theirs"
solver = "command"
command = ["./solver.py"]
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "checker"), [("p.zip", "python:own:check"), ("p.tar.zst", "command:./checker.py")], ids=KINDS
)
def test_nothing_of_a_package_runs_because_it_is_opened(study, kind, checker, tmp_path, capsys):
    mark = tmp_path / "ran"
    planted = PLANTED.format(place=str(mark))
    kernel = "\n\ndef kernel(z, reference):\n    return z - reference\n\n\nkernel.before = 1.0\n"
    for name in ("own", "solver", "checker", "numpy", "polars", "sitecustomize", "random"):
        (study / f"{name}.py").write_text(f"#!{sys.executable}\n{planted}{kernel}")
        (study / f"{name}.py").chmod(0o755)
    (study / "study.toml").write_text(CONTRACT.format(checker=checker, kernel="squeezed"))
    make_package(study, Path(kind))
    code = "import sys, json; from gapline.cli.app import run; print([run(one) for one in json.loads(sys.argv[1])])"
    calls = [
        ["score", kind],
        ["curve", kind],
        ["analyse", kind, "--draws", "20"],
        ["report", kind, "-o", "report", "--format", "svg"],
        ["compare", f"{kind}:mine", f"{kind}:theirs"],
        ["export", kind, "-o", "x.csv"],
        ["run", kind],
        ["check", kind],
    ]
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, json.dumps(calls)], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout.splitlines()[-1]) == [0, 0, 0, 0, 0, 0, 2, 2], done.stderr
    assert not mark.exists()
    # A kernel that is code is refused, and the error says where it stands.
    (study / "study.toml").write_text(CONTRACT.format(checker=checker, kernel="python:own:kernel"))
    make_package(study, Path(kind))
    assert run(["score", kind]) == 2
    said = capsys.readouterr().err
    assert f"{kind}/study.toml: score.kernel: expected leave to run the code" in said
    assert f"({kind}/own.py)" in said
    assert not mark.exists()
    # The mark would be seen.
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, json.dumps([["score", kind, "--allow-code"]])],
        capture_output=True,
        check=True,
    )
    assert mark.exists()


@pytest.mark.slow
def test_verdicts_of_another_checker_are_read_from_the_journals_of_a_package(make_study, capsys):
    from gapline.run.campaign import run_study
    from gapline.run.check_run import check_study

    study = make_study({"steady": ["scripted", "{seed}", "4", "0"]}, seeds=(1,), checker="python:judge:check").path
    judge = "__version__ = '{version}'\ndef check(instance, solution):\n    return {value}\n"
    (study / "judge.py").write_text(judge.format(version="1", value="50.0"))
    (study / "other.py").write_text(judge.format(version="1", value="40.0"))
    assert run_study(study).left == 0
    check_study(study, checker="python:other:check")
    gl.Snapshot.from_values({"one": 10.0, "two": 10.0}, name="known").save(study / "known.json")
    chosen = ["--snapshot", str(study / "known.json"), "--policy", "analysis"]
    for kind in KINDS:
        make_package(study, Path(kind))
        plain = gl.read(study, checker="python:other:check")
        packed = gl.read(kind, checker="python:other:check")
        assert packed.objective.tolist() == plain.objective.tolist() == [40.0] * 8
        assert packed.diagnostics.sources == (kind,)
        # Planned cells and the register are there too.
        one, two = answer(capsys, "score", kind, *chosen), answer(capsys, "score", str(study), *chosen)
        assert without_packages(one) == two
        assert one["coverage"]["planned"] == 2
    with pytest.raises(UsageError, match="expected a study directory with journals"):
        gl.read(write_package(Path("q.zip"), _without_journals(study)), checker="cvrp")


def _without_journals(study):
    files = {name: data for name, data in package_files(study).items() if not name.startswith("journal/")}
    del files["sha256sums.txt"]
    return files | {"sha256sums.txt": sums_of(files)}


@pytest.mark.slow
def test_a_package_on_a_store_is_fetched_and_read(study, bucket, capsys, monkeypatch, tmp_path_factory):
    monkeypatch.setattr(remote, "scratch_place", lambda: tmp_path_factory.mktemp("copies"))
    url = bucket.put("packages/p.zip", Path("p.zip").read_bytes())
    fetched = answer(capsys, "score", url)
    assert without_packages(fetched) == answer(capsys, "score", str(study))
    assert fetched["packages"] == [opened_package("p.zip").identity.document()]


def started(*arguments):
    code = "from gapline.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


SLOW = """
import sys, time
from gapline.study import opening
real = opening.build_envelopes
def wait(*a, **k):
    print("opened", flush=True)
    time.sleep(600)
opening.build_envelopes = wait
sys.argv = ["gapline", "score", "p.zip"]
from gapline.cli import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.usefixtures("study")
def test_nothing_is_left_after_ctrl_c_and_the_next_command_clears_after_a_kill(how, scratch):
    process = subprocess.Popen([sys.executable, "-c", SLOW], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "opened\n"
    assert len(list(scratch.iterdir())) == 1
    # What another one holds while it lives is not touched.
    other = started("score", "p.tar.zst")
    other.communicate()
    assert len(list(scratch.iterdir())) == 1
    process.send_signal(how)
    process.communicate()
    assert process.returncode in (130, -signal.SIGKILL)
    assert len(list(scratch.iterdir())) == (1 if how == signal.SIGKILL else 0)
    write_traces(Path("t.csv"))
    _, said = started("score", "t.csv", "--policy", "analysis").communicate()
    assert said == ""
    assert list(scratch.iterdir()) == []


def test_a_fork_reads_what_its_parent_unpacked_and_leaves_it(study, scratch):
    folder = opened_package("p.zip").folder
    pid = os.fork()
    if pid == 0:
        os._exit(0 if opened_package("p.zip").folder == folder else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert list(scratch.iterdir()) == [folder]
    assert gl.open_study("p.zip").campaign_digest == gl.open_study(study).campaign_digest


def test_runs_of_a_package_are_there_after_it_is_forgotten(study):
    """Columns stay mapped: the system keeps a file as long as somebody reads it."""
    packed = gl.open_study("p.zip")
    forget_packages()
    assert isinstance(packed.scores[0].frame, pl.DataFrame)
    assert packed.scores[0].frame.equals(gl.open_study(study).scores[0].frame)


@pytest.mark.slow
def test_a_report_from_a_package_names_it_everywhere_and_one_from_the_directory_nowhere(study):
    for source, target in (("p.zip", "packed"), (str(study), "plain")):
        assert run(["report", source, "-o", target, "--format", "svg"]) == 0
    known = opened_package("p.zip").identity
    packed, plain = Path("packed"), Path("plain")
    for name in ("methods.md", "methods.tex", "report.html", "results.json", "macros.tex", "tables/scores.md"):
        text = (packed / name).read_text().replace("\\allowbreak{}", "")
        assert known.sha256 in text, name
        assert known.swhid in text, name
        assert "scratch" not in text
    macros = (packed / "macros.tex").read_text().replace("\\allowbreak{}", "")
    assert "\\newcommand{\\StudyPackage}{p.zip}" in macros
    assert f"\\newcommand{{\\StudyPackageDigest}}{{{known.sha256}}}" in macros
    assert f"\\newcommand{{\\StudyPackageSwhid}}{{{known.swhid}}}" in macros
    for file in (file for file in plain.rglob("*") if file.is_file()):
        assert b"swh:1:" not in file.read_bytes(), file
    for file in sorted(plain.glob("tables/*.csv")):
        assert (packed / "tables" / file.name).read_bytes() == file.read_bytes(), file.name
    results = [json.loads((place / "results.json").read_text()) for place in (packed, plain)]
    for document in results:
        # Digests of files with captions, and the paragraph: compared above.
        del document["files"], document["methods"]
    assert without_packages(results[0]) == results[1]


PATTERNS = """seeds = [0, 1]
[study]
name = "patterns"
[objective]
checker = "tdvrptw"
[time]
horizon = 20
[reference]
snapshot = "references.json"
policy = "analysis"
[[instances]]
path = "instances/*.vrp.json"
panel = "{{1}}"
[[instances]]
csv = "others.csv"
[[arms]]
name = "mine"
solver = "kayros"
[[arms]]
name = "theirs"
solver = "kayros"
"""


def test_instances_that_a_contract_names_by_patterns_and_lists_are_those_of_the_directory(study, capsys):
    """Also of a package that leaves them out, where their names alone are known."""
    from gapline.contract.study_file import load_contract
    from gapline.journal.register import declare, register_plan

    (study / "study.toml").write_text(PATTERNS.replace("{{1}}", "{1}"))
    names = [f"{'small' if i < 4 else 'large'}-{i}" for i in range(8)]
    (study / "instances").mkdir()
    for name in names[:6]:
        (study / "instances" / f"{name}.vrp.json").write_text(name)
    (study / "others").mkdir()
    (study / "others.csv").write_text("path\n" + "".join(f"others/{name}.vrp.json\n" for name in names[6:]))
    for name in names[6:]:
        (study / "others" / f"{name}.vrp.json").write_text(name)
    register_plan(study, declare(study, load_contract(study)))
    plain = answer(capsys, "score", str(study), "--per-run")
    make_package(study, Path("p.zip"))
    assert without_packages(answer(capsys, "score", "p.zip", "--per-run")) == plain
    files = package_files(study)
    left = {name: data for name, data in files.items() if not name.endswith(".vrp.json") and name != "sha256sums.txt"}
    assert len(left) == len(files) - 9
    entries = {name: {"path": name, "included": False} for name in files if name.endswith(".vrp.json")}
    # Paths that lead elsewhere, or through a file, are nobody's instances.
    entries |= {name: {"path": name, "included": False} for name in ("../out", "study.toml/x", "/tmp/out", "a\x1b")}
    left["package.json"] = json.dumps({"schema": "gapline.package/1", "instances": entries}).encode()
    write_package(Path("p.zip"), left | {"sha256sums.txt": sums_of(left)})
    before = sorted(Path().glob("*"))
    assert without_packages(answer(capsys, "score", "p.zip", "--per-run")) == plain
    assert sorted(Path().glob("*")) == before
