"""A study with ladders that was really run, and every form in which its runs can be handed on: the same numbers."""

import json
import re
import shlex
import shutil
from pathlib import Path

import polars as pl
import pytest

import gapline as gl
from gapline.cli.app import run
from gapline.run.campaign import run_study
from live_studies import with_references

LADDERS = """
[[arms]]
name = "sliced {slices}"
solver = "command"
tier = 2
ladder = {slices = [10, 1, 2]}
command = SCRIPTED
instances = ["one"]

[[arms]]
name = "carved {slices}"
solver = "command"
tier = 2
ladder = {slices = [3, 12]}
command = SCRIPTED
instances = ["two"]

[[arms]]
name = "mine"
solver = "command"
options = {ladder = "an option called so"}
ladder = {effort = [7, 11]}
command = OWN

[aggregate]
contrasts = [["swift", "solid"]]
bootstrap = { draws = 200, seed = 3 }
"""
# Only a plan knows how many runs there were to be made, only a register when references were known, and only a package
# its own digest.
OF_THE_SOURCE = {"origins", "design", "planned", "complete", "policy", "packages"}


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Path:
    """Run five arms and three ladders: those of slices vary the same, and two arms beside them have slices too."""
    from scripted_studies import make_study

    make = make_study.__wrapped__(tmp_path_factory.mktemp("ladders"))
    arms = {
        name: ["scripted", "{seed}", count, "0.001"]
        for name, count in (("swift", "6"), ("solid", "4"), ("coarse", "9"))
    }
    folder = with_references(make(arms)).path
    text = (folder / "study.toml").read_text()
    scripted = re.search(r"command = (.*)\n", text)[1]
    sliced, own = (scripted.replace('"6"', f'"{{{name}}}"') for name in ("slices", "effort"))
    text = text.replace('name = "coarse"\n', 'name = "coarse"\ntier = 2\noptions = {slices = 9}\n')
    (folder / "study.toml").write_text(text + LADDERS.replace("SCRIPTED", sliced).replace("OWN", own))
    assert run_study(folder, pin=False).done == 3 * 4 + 3 * 2 + 2 * 2 + 2 * 4
    return folder


def call(capsys, *arguments):
    code = run(list(map(str, arguments)))
    out = capsys.readouterr()
    assert code == 0, out.err
    return out.out


def analysed(capsys, *arguments):
    return numbers(json.loads(call(capsys, "analyse", *arguments, "--json")))


def numbers(found):
    if isinstance(found, dict):
        return {name: numbers(value) for name, value in found.items() if name not in OF_THE_SOURCE}
    if isinstance(found, str):
        # A trace has no register to show that its reference was frozen.
        return found.replace("frozen", "given")
    return [numbers(value) for value in found] if isinstance(found, list) else found


@pytest.mark.slow
@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.parquet", "x.arrow", "x.zip"])
def test_the_analysis_of_an_export_is_that_of_the_study_number_by_number(name, study, tmp_path, capsys):
    said = call(capsys, "export", study, "-o", tmp_path / name)
    _, *options = shlex.split(re.search("^next, to score it as the study does: gapline score (.*)$", said, re.M)[1])
    assert analysed(capsys, tmp_path / name, *options) == analysed(capsys, study)


@pytest.mark.slow
def test_so_are_those_of_the_campaign_directory_of_a_merger_and_of_a_package(study, tmp_path, capsys):
    expected = analysed(capsys, study)
    said = call(capsys, "export", study, "-o", tmp_path / "x.csv")
    _, *options = shlex.split(re.search("^next, to score it as the study does: gapline score (.*)$", said, re.M)[1])
    assert analysed(capsys, study / "campaign", *options) == expected
    # Half of the arms each, put together again: a campaign in two parts.
    for part in ("s*", "[!s]*"):
        call(capsys, "export", study, "--arm", part, "-o", tmp_path / f"{len(part)}.zip")
    call(capsys, "merge", tmp_path / "2.zip", tmp_path / "5.zip", "-o", tmp_path / "both")
    assert analysed(capsys, tmp_path / "both", *options) == expected
    call(capsys, "merge", study, "-o", tmp_path / "alone")
    assert analysed(capsys, tmp_path / "alone", *options) == expected
    call(capsys, "pack", "--keep-hosts", study, "-o", tmp_path / "package.zip")
    assert analysed(capsys, tmp_path / "package.zip") == expected


@pytest.mark.slow
def test_each_ladder_has_its_own_arms_from_the_smallest_step_on(study):
    opened = gl.open_study(str(study))
    assert opened.ladders == {
        "effort": {"mine effort=7": {"effort": 7}, "mine effort=11": {"effort": 11}},
        "slices (carved {slices})": {"carved 3": {"slices": 3}, "carved 12": {"slices": 12}},
        "slices (sliced {slices})": {"sliced 1": {"slices": 1}, "sliced 2": {"slices": 2}, "sliced 10": {"slices": 10}},
    }
    analysis = gl.analyse(opened)
    # Two ladders that vary the same are two: in the design too.
    assert analysis.design.select("evidence", "steps", "runs").rows() == [
        ("tier 1", "", 8),
        ("tier 2", "", 4),
        ("slices (sliced {slices}) ladder", "slices 1, 2, 10", 6),
        ("slices (carved {slices}) ladder", "slices 3, 12", 4),
        ("effort ladder", "effort 7, 11", 8),
    ]
    assert {name: ladder.frame["arm"].to_list() for name, ladder in analysis.ladders.items()} == {
        name: list(arms) for name, arms in opened.ladders.items()
    }
    assert set(opened.apart) == {"carved 3", "carved 12", "sliced 1", "sliced 2", "sliced 10"}
    assert analysis.metrics.signs["of"].unique().to_list() == [3 * 4 + 2 * 4]
    runs = opened.campaign.runs
    assert runs.filter(pl.col("arm") == "coarse").select("ladder", "slices").unique().rows() == [(None, 9)]
    # An option that is called like the column is kept beside it.
    assert runs.filter(pl.col("arm") == "mine effort=7")["option_ladder"].unique().to_list() == ["an option called so"]


@pytest.mark.slow
def test_runs_that_were_made_before_take_it_from_the_contract(study, tmp_path, capsys):
    """A campaign without the columns, as earlier versions made it: study and export have the same ladders."""
    old = shutil.copytree(study, tmp_path / "old")
    shutil.rmtree(old / "journal")
    shutil.rmtree(old / "campaign")
    campaign = gl.open(study / "campaign")
    gl.Campaign.from_arrays(
        runs=campaign.runs.drop("ladder", "ladder_step"),
        time=campaign.time,
        objective=campaign.objective,
        verdict=campaign.verdict,
        claimed=campaign.claimed,
    ).save(old / "campaign")
    assert gl.open_study(str(old)).ladders == gl.open_study(str(study)).ladders
    call(capsys, "export", old, "-o", tmp_path / "old.csv")
    assert gl.open_study(str(tmp_path / "old.csv"), policy="analysis").ladders == gl.open_study(str(study)).ladders
