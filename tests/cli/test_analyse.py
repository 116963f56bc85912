"""`gapline analyse` and `gapline compare` as a user meets them."""

import json

import pytest

from gapline.cli.app import run


def write_traces(path, *, slower=1.0, horizon=20, arms=("mine", "theirs")):
    rows = ["arm,instance,seed,time,objective,valid,panel,horizon"]
    for k, arm in enumerate(arms):
        for i in range(8):
            for seed in range(2):
                panel = "small" if i < 4 else "large"
                start = (1 + k + 0.1 * i + 0.05 * seed) * slower
                rows.append(f"{arm},{panel}-{i},{seed},{start},150,true,{panel},{horizon}")
                rows.append(f"{arm},{panel}-{i},{seed},{start + 2},{101 + k},true,{panel},{horizon}")
                rows.append(f"{arm},{panel}-{i},{seed},{start + 3},90,false,{panel},{horizon}")
    path.write_text("\n".join(rows) + "\n")


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_traces(tmp_path / "traces.csv")
    names = [f"{'small' if i < 4 else 'large'}-{i}" for i in range(8)]
    (tmp_path / "refs.csv").write_text("instance,value\n" + "".join(f"{name},100\n" for name in names))
    return ["--references", "refs.csv", "--draws", "200"]


def as_json(capsys, *arguments):
    code = run([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_analyse_json_has_the_published_shape(study, capsys):
    code, document = as_json(capsys, "analyse", "traces.csv", *study, "--contrast", "mine", "theirs")
    assert code == 0
    health = {"arm", "captured", "rejected", "terminal_invalid", "empty", "late", "unchecked", "runs"}
    assert all(health <= row.keys() for row in document["health"])
    metrics = document["metrics"]
    assert {"arm", "kernel", "reference", "score"} <= metrics["pooled"][0].keys()
    assert {row["reference"] for row in metrics["pooled"]} == {"frozen", "analysis"}
    assert {"kernel", "reference", "runs"} <= metrics["saturated"][0].keys()
    assert {"kernel", "reference", "runs"} <= metrics["negative"][0].keys()
    assert (metrics["pairs"], metrics["reversals"]) == (2, [])
    references = document["references"]
    assert (references["changed"], references["instances"]) == (0, 8)
    assert {"arm", "kernel", "from", "to"} <= references["shift"][0].keys()
    similar = document["complementarity"]
    assert similar["pairs"] == 2
    assert {"max_score", "min_final", "min_attainment", "count"} == similar["grid"][0].keys()
    assert len(similar["grid"]) == 27
    assert document["robustness"][0]["better"] == "mine"
    assert [row["declared"] for row in document["contrasts"]] == [True]


def test_analyse_prints_every_table(study, capsys):
    assert run(["analyse", "traces.csv", *study]) == 0
    out = capsys.readouterr().out
    for title in ("Health", "Pooled", "frozen (frozen, declared)", "analysis (analysis)", "Robustness", "Ranking",
                  "Differences of mean", "Pairs of arms", "Classical neighbours", "Instances that would"):  # fmt: skip
        assert title in out, title
    assert "nan" not in out.lower()


def test_tier_two_and_kernels_and_thresholds_are_taken(study, capsys):
    choices = ["--tier2", "theirs", "--kernel", "maxform", "--kernel", "raw", "--max-score", "0.5", "--interval", "bca"]
    code, document = as_json(capsys, "analyse", "traces.csv", *study, *choices)
    assert code == 0
    assert document["metrics"]["pairs"] == 0
    assert {row["kernel"] for row in document["metrics"]["pooled"]} == {"maxform", "raw"}
    assert all(row["score"] is None for row in document["metrics"]["pooled"] if row["kernel"] == "raw")
    assert document["complementarity"]["grid"][0]["max_score"] == 0.25
    assert document["bootstrap"]["interval"] == "bca"


@pytest.mark.usefixtures("study")
def test_analyse_without_a_reference_says_what_to_give(capsys):
    assert run(["analyse", "traces.csv"]) == 2
    assert "--references" in capsys.readouterr().err
    code, document = as_json(capsys, "analyse", "traces.csv", "--policy", "analysis", "--draws", "50")
    assert code == 0
    assert {row["reference"] for row in document["metrics"]["pooled"]} == {"analysis"}


def test_compare_two_arms_of_one_source(study, capsys):
    code, document = as_json(capsys, "compare", "traces.csv:mine", "traces.csv:theirs", *study)
    assert (code, document["verdict"]) == (0, "worse")
    assert [row["panel"] for row in document["panels"]] == ["large", "small"]
    code, document = as_json(capsys, "compare", "traces.csv:theirs", "traces.csv:mine", *study)
    assert (code, document["verdict"]) == (0, "better")


def test_compare_fails_only_when_worse_beyond_the_limit(study, tmp_path, capsys):
    write_traces(tmp_path / "new.csv", slower=1.5, arms=("mine",))
    pair = ["compare", "traces.csv:mine", "new.csv", *study]
    assert run([*pair, "--fail-if-worse", "0.002"]) == 1
    out = capsys.readouterr().out
    assert "new.csv:mine: worse" in out
    assert "failed: worse by more than 0.002" in out
    assert run([*pair, "--fail-if-worse", "0.5"]) == 0
    assert run(["compare", "new.csv", "traces.csv:mine", *study, "--fail-if-worse", "0.002"]) == 0


def test_compare_refuses_other_horizons_and_names_them(study, tmp_path, capsys):
    write_traces(tmp_path / "new.csv", horizon=30, arms=("mine",))
    assert run(["compare", "traces.csv:mine", "new.csv", *study]) == 1
    assert "horizons differ on 8 instances" in capsys.readouterr().err
    assert run(["compare", "traces.csv:mine", "new.csv", *study, "--horizon", "20"]) == 0
    assert "told different horizons" in capsys.readouterr().out


def test_compare_asks_for_the_arm_where_there_are_several(study, capsys):
    assert run(["compare", "traces.csv", "traces.csv:mine", *study]) == 2
    assert "expected one arm, got mine, theirs" in capsys.readouterr().err
    assert run(["compare", "traces.csv:mime", "traces.csv:mine", *study]) == 2
    assert "did you mean 'mine'?" in capsys.readouterr().err


def test_help_has_an_example(capsys):
    for name in ("analyse", "compare"):
        assert run([name, "--help"]) == 0
        assert f"gapline {name}" in capsys.readouterr().out


CONTRACT = """seeds = [0, 1]
[study]
name = "small"
[objective]
checker = "tdvrptw"
[time]
horizon = 20
[reference]
snapshot = "references.json"
policy = "analysis"
[score]
kernel = "{kernel}"
goals = [0.05]
[aggregate]
contrasts = [["mine", "theirs"]]
bootstrap = {{ draws = 77, seed = 5 }}
[[instances]]
path = "instances/small-0.vrp.json"
[[arms]]
name = "mine"
solver = "kayros"
[[arms]]
name = "theirs"
solver = "kayros"
[[arms]]
name = "coarse"
solver = "kayros"
tier = 2
"""


def write_study(folder, kernel="maxform"):
    import gapline as gl

    folder.mkdir()
    write_traces(folder / "traces.csv", arms=("mine", "theirs", "coarse"))
    campaign = gl.read(str(folder / "traces.csv"))
    campaign.save(folder / "campaign")
    names = campaign.runs["instance"].unique().to_list()
    gl.Snapshot.from_values(dict.fromkeys(names, 100.0), name="2026").save(folder / "references.json")
    (folder / "study.toml").write_text(CONTRACT.format(kernel=kernel))


def test_a_contract_gives_the_defaults(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_study(tmp_path / "study")
    code, document = as_json(capsys, "analyse", "study")
    assert code == 0
    assert [(row["a"], row["b"]) for row in document["contrasts"]] == [("mine", "theirs")]
    assert document["contrasts"][0]["declared"]
    assert document["bootstrap"]["draws"] == 77
    assert document["bootstrap"]["kernel"] == "maxform"
    assert document["complementarity"]["goal"] == 0.05
    assert document["metrics"]["pairs"] == 2
    assert [row["reference"] for row in document["readings"]] == ["analysis", "frozen"]
    code, document = as_json(capsys, "analyse", "study", "--arm", "mine", "--draws", "9")
    assert (code, document["contrasts"], document["bootstrap"]["draws"]) == (0, [], 9)


def test_contracts_that_ask_different_questions_are_not_compared_silently(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_study(tmp_path / "old")
    write_study(tmp_path / "new", kernel="squeezed")
    assert run(["compare", "old:mine", "new:mine"]) == 1
    assert "contracts differ in kernel: old declares maxform, new declares squeezed" in capsys.readouterr().err
    code, document = as_json(capsys, "compare", "old:mine", "new:mine", "--kernel", "squeezed")
    assert (code, document["kernel"], document["draws"]) == (0, "squeezed", 77)
    assert document["difference"] == 0.0
