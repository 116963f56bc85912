"""From a store of 180 instances to a report in five commands, and nothing else."""

import json

import pytest

from gapline.cli.app import run
from gapline.contract.study_file import load_contract
from generated_stores import write_store


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    history = write_store(tmp_path_factory.mktemp("store") / "repo", sizes=(2, 3, 4, 5, 6, 7), names=30)
    return f"{history.folder}@{history.commit('03-01')}"


@pytest.mark.slow
def test_five_commands_from_nothing(store, tmp_path, capsys):
    study = str(tmp_path / "study")
    # Steps end the runs, so that the horizon can be one that no machine is too slow for.
    subset = ["--include", "n=3/*", "--include", "n=5/*", "--most", "1", "--seeds", "1"]
    limits = ["--horizon", "120", "--iterations", "20"]
    assert run(["init", study, "--from", f"mamut:{store}", *subset, *limits, "--json"]) == 0
    begun = json.loads(capsys.readouterr().out)
    assert (begun["panels"], begun["runs"], begun["passed_over"]) == ({"n=3": 1, "n=5": 1}, 8, 178)
    assert begun["snapshot"]["values"] == 180

    assert run(["status", study, "--plan", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["planned"] == 8

    assert run(["run", study, "--json"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert (done["done"], done["left"], done["unchecked"]) == (8, 0, 0)
    assert done["next"] == [f"gapline score {study}", f"gapline report {study}"]

    assert run(["score", study, "--json"]) == 0
    scored = json.loads(capsys.readouterr().out)
    # Registered before the first run: not declared, and not retrospective.
    assert (scored["reference"]["policy"], scored["reference"]["digest"]) == ("frozen", begun["snapshot"]["digest"])
    assert scored["validation"] == "checker"
    kayros = [arm for arm in scored["arms"] if arm["arm"].startswith("kayros")]
    assert [(arm["runs"], arm["empty"]) for arm in kayros] == [(2, 0), (2, 0)]

    assert run(["report", study, "--format", "svg"]) == 0
    page = (tmp_path / "study/results/report.html").read_text(encoding="utf-8")
    assert "kayros-ils" in page
    assert begun["snapshot"]["digest"][:19] in page


@pytest.mark.slow
def test_all_of_the_store_is_one_pattern(store, tmp_path, capsys):
    assert run(["init", str(tmp_path / "study"), "--from", f"mamut:{store}"]) == 0
    assert "180 instances in 6 panels, 3 seeds" in capsys.readouterr().out
    contract = load_contract(tmp_path / "study", files=True)
    assert [(one.name, one.panel, one.size) for one in contract.instances][::90] == [
        ("n=2/Demo-1", "n=2", 2), ("n=5/Demo-1", "n=5", 5),
    ]  # fmt: skip
    assert (tmp_path / "study/study.toml").read_text().count("[[instances]]") == 1
