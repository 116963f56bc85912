"""A package is really run again: the same, a part of it, slowed down, interrupted, with instances to be put there."""

import json
import tomllib

import pytest

import gapline as gl
from gapline.contract.study_file import load_contract
from gapline.errors import EnvironmentLacksError, IntegrityError, TraceError, UsageError
from gapline.package.replicate import plan_replication
from gapline.study.replication import Agreement, Replicated
from package.toy_package import HORIZON, write_toy
from packages import make_package


@pytest.fixture(scope="module")
def again(toy_package, tmp_path_factory):
    """The same package run again, once."""
    from package.toy_package import install

    folder = tmp_path_factory.mktemp("again")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GAPLINE_LEASES", str(tmp_path_factory.getbasetemp() / "leases"))
        patch.setenv("PATH", install(folder / "bin"))
        said = []
        done = gl.replicate(toy_package, folder / "study", say=said.append)
    assert len(said) == 1
    return done


@pytest.mark.slow
def test_what_ran_alike_agrees(again):
    found = again.found
    (one,) = found.conclusions
    assert (one.a, one.b, one.declared) == ("quick", "steady", True)
    assert one.agreement is Agreement.AGREES
    assert (found.runs, found.planned, found.lacking_old, found.lacking_new) == (36, 36, 0, 0)
    assert not again.failed
    assert found.ranks.tau == 1.0
    assert not any("edited" in note for note in found.notes)
    assert "a score is conditional" not in found.horizons


@pytest.mark.slow
def test_nothing_of_the_results_is_unpacked_and_the_contract_stays_as_it_was(again, toy_package):
    study = again.directory
    text = (study / "study.toml").read_text()
    assert "# A study of a toy." in text
    origin = tomllib.loads(text)["replicates"]
    assert origin["name"] == "toy.zip"
    assert origin["sha256"] == found_digest(toy_package)
    assert sorted(entry.name for entry in study.iterdir()) == [
        "campaign", "instances", "journal", "references", "replication.json", "results", "study.toml",
    ]  # fmt: skip
    # Its own plan, registered before its own first run.
    assert (study / "journal" / "register.jsonl").read_text().count("\n") == 1


def found_digest(file):
    from gapline.campaign.store import file_digest

    return file_digest(file)


@pytest.mark.slow
def test_what_was_found_is_kept_and_every_report_shows_it(again, tmp_path):
    study = gl.open_study(str(again.directory))
    assert study.replication == again.found == Replicated.load(again.directory / "replication.json")
    gl.write_report(study, tmp_path / "results", formats=("svg",))
    page = (tmp_path / "results" / "report.html").read_text()
    assert '<section id="replication"' in page
    for name in ("tables/replication-conclusions.csv", "tables/replication-shifts.md", "figures/replication.svg"):
        assert (tmp_path / "results" / name).is_file(), name
    # Of other runs than those that were compared nothing is shown.
    gl.write_report(gl.open_study(str(again.directory), instance="p*"), tmp_path / "fewer", formats=("svg",))
    assert '<section id="replication"' not in (tmp_path / "fewer" / "report.html").read_text()


def test_an_arm_that_was_slowed_down_is_found(toy_package, toy_path, tmp_path):
    """A program of the same name stands first on the PATH, which does half of the steps in one arm."""
    toy_path(slower=2, version="1.1")
    done = gl.replicate(toy_package, tmp_path / "slow", arms=["quick", "steady"], seeds=["1"], report=False)
    quick, *others = sorted(done.found.moved, key=lambda one: one.arm)
    assert (quick.arm, quick.verdict) == ("quick", "worse")
    # How fast a program starts moves every run of an arm alike, by next to nothing of the horizon.
    assert all(abs(one.shift) < quick.shift / 5 for one in others)
    assert [one.agreement for one in done.found.conclusions] == [Agreement.AGREES]
    differing = {one.what: (one.old, one.new) for one in done.found.conditions if one.differs}
    assert differing["solver of quick"] == ("command 1.0", "command 1.1")
    assert differing["files of quick"][0].startswith("sha256:")


def test_one_arm_slowed_by_an_option_turns_the_order_round(toy_package, toy_path, tmp_path):
    """The contract of the replication is edited before it runs: what was ahead falls behind, and that is exit 1."""
    toy_path()
    place = tmp_path / "edited"
    with pytest.raises(KeyboardInterrupt):
        gl.replicate(toy_package, place, seeds=["1"], progress=_Stop())
    text = (place / "study.toml").read_text()
    (place / "study.toml").write_text(text.replace('"quick", "16"', '"quick", "2"'))
    done = gl.replicate(toy_package, place, report=False)
    assert [one.agreement for one in done.found.conclusions] == [Agreement.CONTRADICTS]
    assert done.failed
    assert done.found.notes[0].startswith("the contract here was edited after it was unpacked")
    assert {one.arm: one.verdict for one in done.found.moved}["quick"] == "worse"


class _Stop:
    """Progress of somebody who stops before the first run."""

    def start(self, *_, **__):
        raise KeyboardInterrupt

    def say(self, _message):
        pass

    def stop(self):
        pass


def test_a_part_at_another_horizon_is_read_at_the_shorter_one(toy_package, toy_path, tmp_path):
    toy_path()
    place = tmp_path / "part"
    done = gl.replicate(toy_package, place, panels=["q"], seeds=["2"], horizon_scale=0.5, report=False)
    assert done.run.planned == 3 * 3
    found = done.found
    assert (found.runs, found.planned) == (9, 9)
    assert found.horizons == (
        f"scored at {HORIZON / 2:g} s; announced to the solvers: {HORIZON:g} s there, {HORIZON / 2:g} s here: "
        "a score is conditional on the announced horizon"
    )
    assert {one.panel for one in found.shifts} == {None, "q"}
    contract = load_contract(place)
    assert contract.time.horizon == HORIZON / 2
    assert {one.panel for one in contract.instances} == {"q"}
    # Called again without the options it goes on with the same part, and has nothing left to run.
    again = gl.replicate(toy_package, place, report=False)
    assert (again.run.planned, again.run.before) == (9, 9)
    assert again.found == found


def test_a_plan_starts_and_writes_nothing(toy_package, tmp_path):
    """The program is not even on the PATH."""
    intended = plan_replication(toy_package, tmp_path / "none", arms=["quick"], seeds=["1"])
    assert (intended.runs, intended.seconds) == (6, 6 * HORIZON)
    assert intended.lacks == ["arm quick: expected a program, got 'toy', which is not there or not executable"]
    assert not (tmp_path / "none").exists()


def test_a_missing_program_is_named_before_anything_is_written(toy_package, tmp_path):
    with pytest.raises(EnvironmentLacksError, match="arm quick: expected a program, got 'toy'"):
        gl.replicate(toy_package, tmp_path / "none")
    assert not (tmp_path / "none").exists()


@pytest.mark.slow
def test_instances_that_are_not_included_are_asked_for_and_verified(toy_path, tmp_path):
    toy_path()
    study = write_toy(tmp_path / "study")
    text = (study / "study.toml").read_text()
    # A pattern, so that the contract cannot even be read before the files are there.
    first = text.index("[[instances]]")
    blocks = '[[instances]]\npath = "instances/*.txt"\npanel = "all"\n\n'
    (study / "study.toml").write_text(text[:first] + blocks + text[text.index("[[arms]]") :])
    gl.run_study(study, pin=False)
    package = make_package(study, tmp_path / "bare.zip", without_instances=True, where="https://example.org/set")
    place = tmp_path / "again"
    with pytest.raises(EnvironmentLacksError) as found:
        gl.replicate(package, place, arms=["quick"], seeds=["1"])
    assert "comes without 6 files of its instances" in found.value.message
    assert "instances/p0.txt (sha256:" in found.value.message
    assert "https://example.org/set" in found.value.message
    (place / "instances").mkdir(exist_ok=True)
    for file in (study / "instances").iterdir():
        (place / "instances" / file.name).write_bytes(file.read_bytes())
    (place / "instances" / "q1.txt").write_text("7\n")
    with pytest.raises(IntegrityError, match=r"q1\.txt: expected the instance of the package"):
        gl.replicate(package, place)
    (place / "instances" / "q1.txt").write_bytes((study / "instances" / "q1.txt").read_bytes())
    assert gl.replicate(package, place, report=False).found.runs == 6


def test_runs_that_cannot_be_read_are_refused_before_anything_runs(toy_path, tmp_path):
    """Without its snapshot nothing could be compared."""
    toy_path()
    study = write_toy(tmp_path / "study")
    gl.run_study(study, pin=False)
    (study / "references" / "known.json").unlink()
    package = make_package(study, tmp_path / "bare.zip")
    with pytest.raises(UsageError, match=r"references/known\.json, which the contract names, is not there"):
        gl.replicate(package, tmp_path / "again")
    assert not (tmp_path / "again").exists()


@pytest.mark.slow
def test_a_kernel_of_the_packages_own_is_run_for_both(toy_path, tmp_path):
    toy_path()
    study = write_toy(tmp_path / "study")
    code = "def twice(z, reference):\n    return 2 * (z - reference) / (z + reference)\n\n\ntwice.before = 2.0\n"
    (study / "toy_kernels.py").write_text(code)
    text = (study / "study.toml").read_text()
    (study / "study.toml").write_text(text + '\n[score]\nkernel = "python:toy_kernels:twice"\n')
    gl.run_study(study, pin=False)
    package = make_package(study, tmp_path / "own.zip")
    found = gl.replicate(package, tmp_path / "again", arms=["quick", "steady"], seeds=[1], report=False).found
    assert found.kernel == "python:toy_kernels:twice"
    assert [one.agreement for one in found.conclusions] == [Agreement.AGREES]


def test_imported_runs_name_nothing_to_run(tmp_path):
    study = write_toy(tmp_path / "study")
    package = make_package(study, tmp_path / "imported.zip")
    with pytest.raises(TraceError, match="expected runs that gapline made, got imported ones"):
        gl.replicate(package, tmp_path / "again")


def test_the_document_is_json_and_reads_back(again):
    document = json.loads((again.directory / "replication.json").read_text())
    assert document["schema"] == "gapline.replication/1"
    assert document["origin"]["part"] == {"arms": [], "panels": [], "seeds": [], "horizon_scale": 1.0}
