"""`-o FILE`, `--csv` and `--all-columns`: one table, wherever it goes."""

import csv
import json
from pathlib import Path

import pytest

import gapline as gl
from gapline.cli.app import run
from gapline.report.facts import make_statements
from gapline.report.page import words as page_words

# Every command that prints tables of what lies in the folder, `-o` apart.
COMMANDS = {
    "score": ["score", "traces.csv"],
    "compare": ["compare", "traces.csv:mine", "traces.csv:theirs"],
    "plan": ["plan", "traces.csv"],
    "analyse": ["analyse", "traces.csv", "--table", "contrasts"],
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("form", ["csv", "md", "tex", "json", "txt"])
def test_every_command_writes_its_table_by_the_suffix(two_arms, capsys, name, form):
    file = f"table.{form}"
    assert run([*COMMANDS[name], *two_arms, "-o", file]) == 0
    out = capsys.readouterr().out
    assert f"wrote {file}" in out
    assert "─" not in out
    text = Path(file).read_text(encoding="utf-8")
    assert {"csv": '","', "md": "|---", "tex": "\\toprule", "json": "{", "txt": "─"}[form] in text


def test_commands_without_scores_write_theirs_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "refs.csv").write_text("instance,value\ni1,10\n")
    (tmp_path / "more.csv").write_text("instance,value\ni1,9\n")
    for name in ("refs", "more"):
        assert run(["snapshot", "freeze", f"{name}.csv", "--name", name, "-o", f"{name}.json"]) == 0
    assert run(["snapshot", "show", "refs.json", "-o", "values.csv"]) == 0
    assert list(csv.DictReader((tmp_path / "values.csv").read_text().splitlines())) == [
        {"instance": "i1", "value": "10.0", "certified": "no", "source": "references CSV"}
    ]
    assert run(["snapshot", "diff", "refs.json", "more.json", "-o", "diff.md"]) == 0
    assert "| i1 | 10.0 | 9.0 |" in (tmp_path / "diff.md").read_text()
    assert run(["scale", "0.05", "-o", "scale.tex", "-o", "scale.json"]) == 0
    assert json.loads((tmp_path / "scale.json").read_text())["scale"]
    assert run(["doctor", "-o", "here.txt"]) == 0
    assert "polars" in (tmp_path / "here.txt").read_text()
    assert run(["snapshot", "log", "refs.json", "i1", "-o", "log.csv"]) == 0
    assert "frozen" in (tmp_path / "log.csv").read_text()


def test_the_json_of_a_file_is_that_of_the_screen(two_arms, capsys):
    assert run(["score", "traces.csv", *two_arms, "-o", "scores.json"]) == 0
    capsys.readouterr()
    assert run(["score", "traces.csv", *two_arms, "--json"]) == 0
    assert json.loads(Path("scores.json").read_text(encoding="utf-8")) == json.loads(capsys.readouterr().out)


def test_csv_on_the_standard_output_has_the_numbers_in_full(two_arms, capsys):
    assert run(["score", "traces.csv", *two_arms, "--json"]) == 0
    arms = {one["arm"]: one for one in json.loads(capsys.readouterr().out)["arms"]}
    assert run(["score", "traces.csv", *two_arms, "--csv", "--intervals"]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert {row["arm"]: float(row["squeezed"]) for row in rows} == {
        name: one["scores"]["squeezed"] for name, one in arms.items()
    }
    assert all(float(row["low"]) <= float(row["squeezed"]) <= float(row["high"]) for row in rows)
    assert run(["score", "traces.csv", *two_arms, "--csv", "--per-run"]) == 0
    assert len(list(csv.DictReader(capsys.readouterr().out.splitlines()))) == 32


def test_two_readings_are_told_apart_in_one_csv(two_arms, capsys):
    assert run(["score", "traces.csv", *two_arms, "--csv", "--policy", "both"]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert len(rows) == 4
    assert len({row["reading"] for row in rows}) == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["score", "traces.csv", "--csv", "--json"], "expected --csv or --json, got both"),
        (["score", "traces.csv", "--intervals", "--by", "panel"], "--intervals: expected means by arm"),
        (["score", "traces.csv", "-o", "x.svg"], "expected a name ending in .csv, .md, .tex, .json or .txt, got svg"),
        (["analyse", "traces.csv", "--all", "-o", "x.csv"], "CSV: expected one table, got design"),
        (["analyse", "traces.csv", "--all", "--table", "health"], "expected --table or --all, got both"),
    ],
)
def test_wrong_use_is_said(two_arms, capsys, arguments, said):
    assert run([*arguments, *two_arms]) == 2
    assert said.replace("got design", "got") in capsys.readouterr().err


def test_intervals_are_in_the_answer_where_they_are_asked_for(two_arms, capsys):
    names = gl.read("traces.csv").runs["instance"].unique().to_list()
    # Which every run ends below: the analysis reference is another one.
    Path("refs.csv").write_text("instance,value\n" + "".join(f"{name},105\n" for name in names))
    assert run(["score", "traces.csv", *two_arms, "--policy", "both", "--intervals", "--json"]) == 0
    readings = json.loads(capsys.readouterr().out)["readings"]
    assert [[row["arm"] for row in one["intervals"]] for one in readings] == [["mine", "theirs"]] * 2
    # Each against its own reference.
    assert readings[0]["intervals"] != readings[1]["intervals"]


@pytest.mark.parametrize("command", ["curve", "compare", "plan", "paper"])
def test_both_policies_are_offered_only_where_both_are_shown(command, two_arms, capsys):
    sources = ["traces.csv:mine", "traces.csv:theirs"] if command == "compare" else ["traces.csv"]
    more = ["-o", "out"] if command == "paper" else []
    assert run([command, *sources, *two_arms, "--policy", "both", *more]) == 2
    assert "'both' is not one of 'frozen', 'analysis'" in " ".join(capsys.readouterr().err.split())
    for offering in ("score", "analyse", "report"):
        assert run([offering, "--help"]) == 0
        assert "both" in capsys.readouterr().out


def test_table_curve_and_page_lead_with_the_same_goal(two_arms, capsys):
    goals = ["--goal", "0.05", "--goal", "0.01"]
    assert run(["score", "traces.csv", *two_arms, *goals]) == 0
    heads = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("rank"))
    assert heads.index("≤ 5 %") < heads.index("≤ 1 %")
    assert run(["curve", "traces.csv", *two_arms, *goals]) == 0
    assert "share of runs within 5 % of the reference" in capsys.readouterr().out
    study = gl.open_study("traces.csv", references="refs.csv", goals=(0.05, 0.01))
    cards = page_words._cards(study, make_statements(study))
    assert cards[0]["title"] == "Within 5 % of the reference"
