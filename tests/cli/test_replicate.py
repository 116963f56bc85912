"""`gapline replicate` from the command line, on real solvers: the comparison, a planted change, wrong use."""

import json

import pytest

from gapline.cli.app import run
from gapline.generate.study import Panel, write_study
from packages import make_package

pytest.importorskip("pyvrp")
pytest.importorskip("ortools")


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """Two solvers on eight instances, stopped by steps: what they find is always the same.

    The horizon is so long that how fast a loaded machine starts them is nothing in a score.
    """
    folder = tmp_path_factory.mktemp("real")
    study = folder / "study"
    panels = [Panel(40, 4), Panel(60, 4)]
    write_study(study, "cvrp", name="real", horizon=20_000.0, seeds=[1], iterations=30, panels=panels)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GAPLINE_LEASES", str(tmp_path_factory.getbasetemp() / "leases"))
        assert run(["run", str(study), "--no-pin"]) == 0
    return make_package(study, folder / "real.zip")


@pytest.fixture(scope="module")
def replicated(package, tmp_path_factory):
    """The package run again, and what was printed."""
    import contextlib
    import io

    folder = tmp_path_factory.mktemp("again")
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out):
        patch.setenv("GAPLINE_LEASES", str(tmp_path_factory.getbasetemp() / "leases"))
        patch.setenv("COLUMNS", "1000")
        code = run(["replicate", str(package), "-o", str(folder / "study"), "--markdown", str(folder / "found.md")])
    return folder, code, out.getvalue()


@pytest.mark.slow
def test_what_will_run_is_said_first_and_the_verdict_comes_before_the_tables(replicated):
    folder, code, out = replicated
    assert code == 0
    places = [
        out.index(text)
        for text in (
            "it will run here:", "arm pyvrp: pyvrp ", "checker cvrp: cvrp ", "16 runs, ", "Order of 2 arms",
            "pyvrp − ortools", "Mean scores, there and here", "Under what it was measured", "real.zip (sha256:",
        )
    ]  # fmt: skip
    assert places == sorted(places)
    assert f"report: {folder}/study/results/report.html" in out
    text = (folder / "found.md").read_text()
    assert text.startswith("### Replication\n\n**")
    assert "| solver of pyvrp | pyvrp" in text
    page = (folder / "study" / "results" / "report.html").read_text()
    assert '<section id="replication"' in page


@pytest.mark.slow
def test_it_goes_on_and_answers_in_json(replicated, package, capsys):
    folder, code, _ = replicated
    assert run(["replicate", str(package), "-o", str(folder / "study"), "--json"]) == code
    found = json.loads(capsys.readouterr().out)
    assert (found["done"], found["left"], found["resume"]) == (16, 0, None)
    assert found["plan"]["package"]["name"] == "real.zip"
    replication = found["replication"]
    assert replication["verdict"].endswith(".")
    assert [(one["a"], one["b"]) for one in replication["conclusions"]] == [("pyvrp", "ortools")]
    assert {one["arm"] for one in replication["shifts"]} == {"pyvrp", "ortools"}


@pytest.mark.slow
def test_a_solver_that_does_less_is_found(package, tmp_path, capsys):
    """One arm is stopped after its first step instead of its thirtieth; the other one is left as it was."""
    place = tmp_path / "less"
    part = ["-o", str(place), "--plan"]
    assert run(["replicate", str(package), *part]) == 0
    assert not place.exists()
    from gapline.contract.study_file import load_contract
    from gapline.package.replication_plan import choose_part, opened_package, origin_of, prepare

    with opened_package(package) as opened:
        prepare(opened, place, origin_of(opened, choose_part(load_contract(opened.folder))))
    text = (place / "study.toml").read_text()
    first, mark, rest = text.partition('name = "pyvrp"')
    (place / "study.toml").write_text(first + mark + rest.replace("iterations = 30", "iterations = 1", 1))
    capsys.readouterr()
    run(["replicate", str(package), "-o", str(place), "--json"])
    found = json.loads(capsys.readouterr().out)["replication"]
    shown = {one["arm"]: one["verdict"] for one in found["shifts"] if one["panel"] is None}
    assert shown["pyvrp"] == "worse"
    # The other one may have been a little faster or slower: what it found is the same, and the clock is real.
    moved = {one["arm"]: abs(one["shift"]) for one in found["shifts"] if one["panel"] is None}
    assert 10 * moved["ortools"] < moved["pyvrp"]
    assert "pyvrp (worse by " in found["verdict"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--arms", "pyvpr"], "--arms: expected names of the package, got 'pyvpr'\nHint: did you mean 'pyvrp'?"),
        (["--panels", "x*"], "--panels: expected names of the package, got 'x*'"),
        (["--seeds", "7"], "--seeds: expected seeds of the package (1), got '7'"),
        (["--json", "--markdown", "-"], "replicate: expected --json or --markdown -"),
    ],
)
def test_wrong_use_is_told_before_anything_is_written(package, tmp_path, capsys, options, said):
    assert run(["replicate", str(package), "-o", str(tmp_path / "none"), *options]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_another_study_is_left_alone(package, tmp_path, capsys):
    write_study(tmp_path, "cvrp", panels=[Panel(5, 1)])
    before = (tmp_path / "study.toml").read_bytes()
    assert run(["replicate", str(package), "-o", str(tmp_path)]) == 2
    assert "expected a new directory or a replication begun there, got another study" in capsys.readouterr().err
    assert (tmp_path / "study.toml").read_bytes() == before


def test_a_zip_that_is_no_package_is_refused(tmp_path, capsys):
    import zipfile

    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("study.toml", "")
    assert run(["replicate", str(tmp_path / "other.zip"), "-o", str(tmp_path / "none")]) != 0
    assert "expected a replication package with package.json" in capsys.readouterr().err
