"""One study through every command and the Python API: equal readings give equal numbers, and each names its reading.

The study has a registered frozen reference, a tier-2 arm, a declared weight and weighting, an interrupted cell,
a missing one, a beaten reference, and an arm that the contract no longer has.
"""

import csv
import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

import gapline as gl
from gapline.cli.app import run
from gapline.journal.rebuild import rebuild_campaign
from gapline.run.campaign import run_study

ARMS = {
    "swift": ["scripted", "{seed}", "6", "0.001"],
    "solid": ["scripted", "{seed}", "4", "0.002"],
    "coarse": ["scripted", "{seed}", "2", "0.001"],
    "dropped": ["scripted", "{seed}", "1", "0.001"],
}
# Candidate k of a run is 1000/(k + seed + 1): swift ends at 1000/8 = 125 with seed 2, below the reference of `one`.
REFERENCES = {"one": 130.0, "two": 90.0}
DECLARED = """
[reference]
snapshot = "references/before.json"
policy = "frozen"
[score]
kernel = "maxform"
weight = "steps:0=1,0.01=3"
goals = [0.05, 0.5]
[aggregate]
weighting = "instance"
contrasts = [["swift", "solid"]]
bootstrap = { draws = 200, seed = 3 }
"""
KERNEL, WEIGHT, WEIGHTING = "maxform", "steps:0=1,0.01=3", "instance"
COVERAGE = "10 of 12 planned runs, 1 interrupted, 1 missing"


def quiet(capsys, *arguments):
    code = run(list(map(str, arguments)))
    out = capsys.readouterr()
    assert "error" not in out.err, out.err
    return code, out.out


def as_json(capsys, *arguments):
    code, out = quiet(capsys, *arguments, "--json")
    return code, json.loads(out)


@pytest.fixture(name="study")
def whole_study(make_study) -> Path:
    made = make_study(ARMS, horizon=30.0)
    folder = made.path
    gl.Snapshot.from_values(REFERENCES, name="before").save(folder / "references" / "before.json")
    text = (folder / "study.toml").read_text()
    head, mark, rest = text.partition("\n[[instances]]")
    rest = rest.replace('name = "coarse"\n', 'name = "coarse"\ntier = 2\n')
    # Both instances in one panel: others of it can be drawn.
    rest = rest.replace('panel = "small"', 'panel = "large"')
    (folder / "study.toml").write_text(head + DECLARED + mark + rest)
    run_study(folder, pin=False)
    # The contract loses an arm, a journal its end, and a cell was never begun.
    text = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(text[: text.rindex("\n[[arms]]")])
    (journal,) = folder.glob("journal/solid_one_2_*/attempt-001/events.jsonl")
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))
    (cell,) = folder.glob("journal/coarse_two_1_*")
    shutil.rmtree(cell)
    rebuild_campaign(folder)
    return folder


def csv_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def macros(path: Path) -> dict[str, str]:
    found = re.findall(r"\\newcommand\{\\(\w+)\}\{(.*)\}", path.read_text(encoding="utf-8"))
    return {name: value.replace("$-$", "-").replace("\\%", "%") for name, value in found}


@pytest.mark.slow
def test_every_output_gives_the_same_means_ranks_and_differences(study, tmp_path, capsys):
    opened = gl.open_study(study)
    means = dict(opened.summary.frame.select("arm", KERNEL).iter_rows())
    assert set(means) == {"swift", "solid", "coarse"}
    contrast = opened.contrasts.frame.row(0, named=True)
    ranks = dict(opened.ranking.frame.select("arm", "rank").iter_rows())
    assert set(ranks) == {"swift", "solid"}
    printed = {arm: f"{mean:.5f}" for arm, mean in means.items()}

    code, scored = as_json(capsys, "score", study)
    assert code == 0
    assert {row["arm"]: row["scores"][KERNEL] for row in scored["arms"]} == means

    _, text = quiet(capsys, "score", study)
    for arm, mean in printed.items():
        (line,) = [line for line in text.splitlines() if re.search(rf"^\s*\S+\s+{arm}\s", line)]
        assert mean in line.split()

    _, analysed = as_json(capsys, "analyse", study)
    for table in ("intervals", "ranking"):
        for row in analysed[table]:
            assert row["mean"] == pytest.approx(means[row["arm"]], abs=1e-15)
    assert {row["arm"]: row["rank"] for row in analysed["ranking"]} == ranks
    assert [row for row in analysed["contrasts"] if row["declared"]] == [contrast]
    pooled = {
        row["arm"]: row["score"]
        for row in analysed["metrics"]["pooled"]
        if row["kernel"] == KERNEL and row["reference"] == "frozen"
    }
    assert pooled == pytest.approx(means, abs=1e-15)
    assert {row["arm"]: row["rank"] for row in analysed["metrics"]["pooled"] if row["tier"] == 2} == {"coarse": None}
    shift = {row["arm"]: row["from"] for row in analysed["references"]["shift"] if row["kernel"] == KERNEL}
    assert shift == pytest.approx(means, abs=1e-15)

    _, compared = as_json(capsys, "compare", f"{study}:solid", f"{study}:swift")
    assert (compared["difference"], compared["low"], compared["high"]) == (
        contrast["difference"],
        contrast["low"],
        contrast["high"],
    )
    assert compared["mean_second"] == contrast["mean_a"]

    results = tmp_path / "results"
    assert quiet(capsys, "report", study, "-o", results, "--format", "svg")[0] == 0
    document = json.loads((results / "results.json").read_text())
    first = {row["arm"]: row for row in document["readings"][0]["arms"]}
    assert {arm: row["scores"][KERNEL] for arm, row in first.items()} == means
    assert {arm: row["rank"] for arm, row in first.items()} == ranks | {"coarse": None}
    assert [row for row in document["contrasts"] if row["declared"]] == [contrast]
    table = {row["arm"]: row for row in csv_rows(results / "tables" / "scores.csv")}
    assert {arm: float(row[KERNEL]) for arm, row in table.items()} == means
    assert {arm: row["rank"] for arm, row in table.items()} == {a: str(r) for a, r in ranks.items()} | {"coarse": ""}
    for form in ("md", "tex"):
        text = (results / "tables" / f"scores.{form}").read_text(encoding="utf-8")
        assert all(mean in text for mean in printed.values())
    stated = macros(results / "macros.tex")
    assert {arm: stated[f"{arm.capitalize()}Score"] for arm in means} == printed
    assert {arm: stated[f"{arm.capitalize()}Rank"] for arm in ranks} == {arm: str(rank) for arm, rank in ranks.items()}
    assert stated.get("CoarseRank") in ("–", "--", "\\textendash{}", "{--}")

    assert quiet(capsys, "paper", study, "-o", tmp_path / "paper", "--format", "svg")[0] == 0
    for name, folder in (("pooled", results), ("pooled", tmp_path / "paper")):
        rows = csv_rows(folder / "tables" / f"{name}.csv")
        again = {r["arm"]: float(r["score"]) for r in rows if (r["kernel"], r["reference"]) == (KERNEL, "frozen")}
        assert again == pytest.approx(means, abs=1e-15)


@pytest.mark.slow
def test_every_output_names_its_reading(study, tmp_path, capsys):
    opened = gl.open_study(study)
    digest = opened.references[0].snapshot.digest
    reading = opened.reading.document()
    assert reading["reference"] == {"policy": "frozen", "name": "before", "digest": digest, "unreferenced": []}
    assert (reading["weight"], reading["weighting"], reading["tier_two"]) == (WEIGHT, WEIGHTING, ["coarse"])
    _, scored = as_json(capsys, "score", study)
    _, analysed = as_json(capsys, "analyse", study)
    _, compared = as_json(capsys, "compare", f"{study}:solid", f"{study}:swift")
    _, curves = as_json(capsys, "curve", study)
    shared = ("reference", "weighting", "validation", "transform", "tolerance", "horizons")
    for document in (scored, analysed["reading"], compared, curves):
        assert {name: document[name] for name in shared} == {name: reading[name] for name in shared}
    for document in (scored, analysed["reading"], compared):
        assert document["weight"] == WEIGHT
    # A curve has no time weight.
    assert curves["weight"] == "uniform"
    assert scored["coverage"] == analysed["reading"]["coverage"] == curves["coverage"] == reading["coverage"]
    assert analysed["complementarity"]["reading"]["reference"]["policy"] == "analysis"
    for command in ("score", "analyse", "curve"):
        _, text = quiet(capsys, command, study)
        assert COVERAGE in text
        assert f"before (frozen, {digest[:19]}…)" in text
        assert "4 runs belong to arms or cells that the contract does not have: left out" in text
    quiet(capsys, "report", study, "-o", tmp_path, "--format", "svg")
    methods = (tmp_path / "methods.md").read_text(encoding="utf-8")
    assert COVERAGE in methods
    assert digest in methods
    assert "1 contrast declared beforehand" in methods
    for table in (tmp_path / "tables").glob("*.md"):
        text = table.read_text(encoding="utf-8")
        assert digest in text or digest[:19] in text, table.name
    for figure in (tmp_path / "figures").glob("*.svg"):
        if figure.stem not in ("health", "complementarity"):
            assert digest[:19] in figure.read_text(encoding="utf-8"), figure.name


@pytest.mark.slow
def test_missing_runs_withhold_the_headline_and_fail_the_gate(study, tmp_path, capsys):
    quiet(capsys, "report", study, "-o", tmp_path, "--format", "svg")
    headline = json.loads((tmp_path / "results.json").read_text())["headline"]
    assert headline["text"] == "10 of 12 planned runs: no arm is called better"
    assert macros(tmp_path / "macros.tex")["StudyHeadline"] == headline["text"]
    code, gate = as_json(capsys, "compare", f"{study}:solid", f"{study}:swift", "--fail-if-worse", "9")
    assert (code, gate["failed"]) == (1, True)
    assert "missing" in gate["failed_because"]
    code, gate = as_json(
        capsys, "compare", f"{study}:solid", f"{study}:swift", "--fail-if-worse", "9", "--allow-missing"
    )
    assert (code, gate["failed"]) == (0, False)
    assert run(["score", str(study), "--missing", "refuse"]) == 1
    assert "2 of 12 interrupted or missing" in capsys.readouterr().err
    code, filled = as_json(capsys, "score", study, "--missing", "empty")
    assert {row["arm"]: (row["runs"], row["empty"]) for row in filled["arms"]} == {
        "swift": (4, 0), "solid": (4, 1), "coarse": (4, 1),
    }  # fmt: skip


@pytest.mark.slow
def test_a_reference_that_is_beaten_is_no_alarm_and_a_certified_one_rings_in_every_command(study, tmp_path, capsys):
    opened = gl.open_study(study)
    assert opened.scores[0].frame["beaten"].sum() > 0
    assert opened.alarms == ()
    certified = {name: {"value": value, "certified": True, "source": "proof"} for name, value in REFERENCES.items()}
    sure = tmp_path / "sure.json"
    gl.Snapshot.from_entries(certified, name="sure", store={"name": "s"}).save(sure)
    text = (study / "study.toml").read_text()
    (study / "study.toml").write_text(text.replace('policy = "frozen"', 'policy = "retrospective"'))
    commands = [
        ("score", study), ("curve", study), ("curve", study, "-o", tmp_path / "c.csv"), ("analyse", study),
        ("compare", f"{study}:solid", f"{study}:swift"),
        ("report", study, "-o", tmp_path / "r", "--format", "svg"), ("paper", study, "-o", tmp_path / "p"),
    ]  # fmt: skip
    for name, *rest in commands:
        assert run([name, *map(str, rest), "--snapshot", str(sure)]) == 1, name
        assert "ALARM one: a candidate is better than a certified optimum" in capsys.readouterr().out, name
    for name, *rest in commands[:2] + commands[3:5]:
        assert run([name, *map(str, rest), "--snapshot", str(sure), "--json"]) == 1, name
        assert [alarm["instance"] for alarm in json.loads(capsys.readouterr().out)["alarms"]].count("one") == 1, name


def test_a_changed_byte_of_the_campaign_is_refused_by_every_command(study, tmp_path, capsys):
    column = study / "campaign" / "objective.npy"
    data = bytearray(column.read_bytes())
    data[-3] ^= 1
    column.write_bytes(bytes(data))
    for name in ("score", "curve", "analyse", "plan", "report", "paper", "compare"):
        sides = [f"{study}:solid", f"{study}:swift"] if name == "compare" else [str(study)]
        target = ["-o", str(tmp_path / name)] if name in ("report", "paper") else []
        assert run([name, *sides, *target]) == 1, name
        assert "objective.npy" in capsys.readouterr().err, name


@pytest.mark.slow
def test_a_contract_that_was_rewritten_after_the_runs_says_so_everywhere(study, tmp_path, capsys):
    text = (study / "study.toml").read_text()
    changed = text.replace('kernel = "maxform"', 'kernel = "squeezed"').replace(
        'contrasts = [["swift", "solid"]]', 'contrasts = [["solid", "swift"]]'
    )
    (study / "study.toml").write_text(changed)
    for command in ("score", "analyse", "curve"):
        _, out = quiet(capsys, command, study)
        assert 'changed after the first run: kernel: ["maxform"] became ["squeezed"]' in out
    quiet(capsys, "report", study, "-o", tmp_path, "--format", "svg")
    notes = json.loads((tmp_path / "results.json").read_text())["campaign"]["notes"]
    assert any("changed after the first run: kernel" in note for note in notes)


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.parquet", "x.arrow"])
def test_an_exported_study_scores_as_the_study_by_the_command_that_is_printed(name, study, capsys, monkeypatch):
    """The file holds the runs of the contract alone; what the contract chose stands in the printed command."""
    monkeypatch.chdir(study.parent)
    _, said = quiet(capsys, "export", study, "-o", name)
    assert "left out, because the contract does not have their arms or cells: 4 runs" in said
    (command,) = re.findall("^next, to score it as the study does: gapline (.*)$", said, re.MULTILINE)
    _, expected = as_json(capsys, "score", study, "--per-run")
    _, found = as_json(capsys, *shlex.split(command), "--per-run")
    for part in ("arms", "runs", "weight", "weighting", "validation", "kernels"):
        assert found[part] == expected[part], part
    assert found["reference"]["digest"] == expected["reference"]["digest"]
