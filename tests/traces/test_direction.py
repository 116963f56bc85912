"""A source that does not state its direction: refused where its objectives rise, with a note where they may."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import gapline as gl
from gapline.cli.app import run
from gapline.contract.tables import RunKey
from gapline.errors import TraceError, UsageError
from gapline.live.state import LiveStudy
from gapline.traces.direction import check_direction
from live_studies import live_study, still

RISING, FALLING = [1, 2, 3, 4], [4, 3, 2, 1]
# Every candidate, not incumbents alone: how a local search that minimises, or maximises, walks.
WALK = [20 - k / 2 + (3 if k % 2 else 0) for k in range(40)]


def rows(**arms):
    return [
        {"arm": arm, "instance": f"i{number}", "seed": 1, "time": float(time), "objective": float(z), "horizon": 50.0}
        for arm, runs in arms.items()
        for number, objectives in enumerate(runs)
        for time, z in enumerate(objectives)
    ]


@pytest.mark.parametrize(
    ("arms", "said"),
    {
        "rises only": ({"a": [RISING]}, "3 rises and no fall from one candidate to the next"),
        "one rise in each of three runs": ({"a": [[1, 2]] * 3}, "3 rises and no fall"),
        "one rise in each of three arms": ({"a": [[1, 2]], "b": [[1, 2]], "c": [[1, 2]]}, "maximised"),
        "one arm of two": ({"a": [FALLING], "b": [RISING]}, r"some arms .*: b \(3 rises and no fall"),
        "every candidate": ({"a": [[-z for z in WALK]]}, "19 new highest values and 1 new lowest"),
    }.values(),
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_rising_objectives_are_refused(arms, said):
    with pytest.raises(TraceError, match=said) as refused:
        gl.read(rows(**arms))
    assert "sense='max'" in refused.value.hint
    assert "sense='min'" in refused.value.hint


@pytest.mark.parametrize(
    "arms",
    [
        {"a": [FALLING], "b": [FALLING]},
        {"a": [WALK]},
        {"a": [[5]] * 20},
        # Two arms that say too little of themselves, and a whole that falls.
        {"a": [FALLING], "b": [[1, 1, 1]]},
        {"a": [[1, 9, 2, 8, 3, 7, 4, 6, 5, 9]]},
        # Nine new highest values are too few where something falls.
        {"a": [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 9.5]]},
    ],
)
def test_a_source_that_minimises_is_taken_as_it_is(arms):
    assert not [note for note in gl.read(rows(**arms)).notes() if "minimised" in note]


@pytest.mark.parametrize(
    ("arms", "said"), [({"a": [[1, 2], [3, 3]]}, "1 rise"), ({"a": [FALLING], "b": [[1, 2, 3]]}, "b")]
)
def test_a_rise_or_two_without_a_fall_are_a_note(arms, said):
    (note,) = [note for note in gl.read(rows(**arms)).notes() if "minimised" in note]
    assert said in note
    assert not [note for note in gl.read(rows(**arms), sense="min").notes() if "minimised" in note]


def test_candidates_are_looked_at_in_the_order_of_time_and_rejected_ones_are_not():
    table = pl.DataFrame(rows(a=[FALLING])).reverse()
    assert gl.read(table).candidates == 4
    rejected = pl.DataFrame(rows(a=[[1, 9, 2, 9, 3, 9, 4]])).with_columns(valid=pl.col("objective") < 9)
    with pytest.raises(TraceError, match="3 rises and no fall"):
        gl.read(rejected)


@pytest.mark.parametrize("sense", ["min", "max"])
def test_what_is_stated_is_not_judged(sense):
    table = rows(a=[RISING])
    assert gl.read(table, sense=sense).runs["sense"].to_list() == [sense]
    assert gl.read([row | {"sense": sense} for row in table]).runs["sense"].to_list() == [sense]
    campaign = gl.Campaign.from_runs([{"arm": "a", "instance": "i0", "seed": 1, "trace": list(enumerate(RISING, 1))}])
    assert check_direction(campaign, {"i0": sense}) == []


def test_a_stated_sense_fills_what_the_source_leaves_open_and_never_contradicts_it():
    table = [row | {"sense": "max"} for row in rows(a=[RISING])] + [
        row | {"sense": None} for row in rows(b=[[], FALLING])
    ]
    assert sorted(gl.read(table, sense="min").runs.select("instance", "sense").rows()) == [("i0", "max"), ("i1", "min")]
    with pytest.raises(UsageError, match="--sense min: the source states max"):
        gl.read(table[:4], sense="min")
    with pytest.raises(UsageError, match="--sense: expected min or max, got 'up'"):
        gl.read(table, sense="up")


def test_an_arm_that_is_negated_is_judged_as_it_is_scored():
    table = rows(a=[FALLING], b=[[-z for z in FALLING]])
    snapshot = gl.Snapshot.from_values({"i0": 1.0}, name="r")
    with pytest.raises(TraceError, match="some arms"):
        gl.open_study(pl.DataFrame(table), snapshots=[snapshot])
    study = gl.open_study(pl.DataFrame(table), snapshots=[snapshot], negate="b", sense="min")
    assert study.summary.frame["squeezed"].n_unique() == 1


def test_runs_in_progress_are_not_judged():
    campaign = gl.read(rows(a=[RISING]), sense="min")
    silent = replace(campaign, runs=campaign.runs.drop("sense"))
    with pytest.raises(TraceError, match="maximised"):
        check_direction(silent)
    assert check_direction(replace(silent, running=(RunKey("a", "i9", 1),))) == []


def test_counts_do_not_depend_on_how_the_campaign_is_cut(monkeypatch):
    from gapline.traces import direction

    draws = np.random.default_rng(7)
    table = rows(**{arm: [draws.normal(size=draws.integers(0, 40)).tolist() for _ in range(30)] for arm in "abc"})
    whole = gl.read(table, sense="min")
    expected = direction._moves_by_arm(whole)
    by_hand = [0, 0, 0, 0]
    for key, first, count in whole.runs.filter(pl.col("arm") == "a").select("instance", "first", "count").iter_rows():
        assert key
        z = whole.objective[first : first + count].tolist()
        for place in range(1, count):
            by_hand[0] += z[place] > z[place - 1]
            by_hand[1] += z[place] < z[place - 1]
            by_hand[2] += z[place] > max(z[:place])
            by_hand[3] += z[place] < min(z[:place])
    assert tuple(expected["a"]) == tuple(by_hand)
    monkeypatch.setattr(direction, "_PIECE", 50)
    assert direction._moves_by_arm(whole) == expected


def write(folder, table):
    pl.DataFrame(table).write_csv(folder / "t.csv")
    (folder / "refs.csv").write_text("instance,value\ni0,40\ni1,40\n")


def test_the_better_solver_of_a_maximised_problem_is_ranked_first(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, rows(weak=[[10, 12, 15], [10, 12, 15]], strong=[[20, 30, 39], [20, 30, 39]]))
    command = ["score", "t.csv", "--references", "refs.csv"]
    assert run(command) == 1
    assert "--sense max if larger values are better" in capsys.readouterr().err
    assert run([*command, "--sense", "max"]) == 0
    out = capsys.readouterr().out
    assert out.index("strong") < out.index("weak")
    assert run([*command, "--sense", "min"]) == 0
    # Both end below what is taken as their best: among the causes, the direction is named.
    assert "the objective is maximised and was read as minimised" in capsys.readouterr().out.replace("\n  ", " ")


COMMANDS = {
    "curve": ["curve", "t.csv", "--references", "refs.csv", "-o", "c.csv"],
    "compare": ["compare", "t.csv:weak", "t.csv:strong", "--references", "refs.csv"],
    "analyse": ["analyse", "t.csv", "--references", "refs.csv"],
    "plan": ["plan", "t.csv", "--references", "refs.csv"],
    "import": ["import", "t.csv", "-o", "campaign"],
    "export": ["export", "t.csv", "-o", "copy.csv"],
    "merge": ["merge", "t.csv", "-o", "both"],
    "fold": ["snapshot", "fold", "refs.json", "t.csv", "--validation", "solver", "--name", "n", "-o", "n.json"],
    "freeze": ["snapshot", "freeze", "campaign:t.csv", "--validation", "solver", "--name", "n", "-o", "n.json"],
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_every_command_that_reads_refuses_and_takes_the_option_that_it_names(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, rows(weak=[[10, 12, 15], [11, 12, 15]], strong=[[20, 30, 39], [20, 31, 39]]))
    entries = {name: {"value": 40.0, "source": "mine"} for name in ("i0", "i1")}
    gl.Snapshot.from_entries(entries, name="refs", store={"name": "mine"}, sense="max").save("refs.json")
    assert run(command) == 1
    assert "seems to be maximised" in capsys.readouterr().err
    assert run([*command, "--sense", "max"]) in (0, 1)
    assert "to be maximised" not in capsys.readouterr().err


def test_a_recording_states_its_direction_where_its_author_does(tmp_path):
    for name, stated in (("silent", {}), ("stated", {"sense": "max"})):
        with gl.record(tmp_path / f"{name}.jsonl", arm="a", instance="i", horizon=60, **stated) as trace:
            for value in RISING:
                trace.add(value)
    with pytest.raises(TraceError, match="seems to be maximised"):
        gl.read(tmp_path / "silent.jsonl")
    assert gl.read(tmp_path / "silent.jsonl", sense="max").runs["sense"].to_list() == ["max"]
    assert gl.read(tmp_path / "stated.jsonl").runs["sense"].to_list() == ["max"]


def test_a_study_is_judged_alike_wherever_it_is_read_and_once_nothing_is_left_to_run(tmp_path, monkeypatch, capsys):
    """While runs are to come nothing is judged; what is finished is ranked nowhere if `score` refuses."""
    monkeypatch.chdir(tmp_path)
    rising = [(1.0, 10.0), (2.0, 20.0), (3.0, 30.0)]
    with live_study(tmp_path / "study") as study:
        live = LiveStudy(study.path, clock=still)
        *first, last = [str(cell.key) for cell in study.cells]
        for name in first:
            study.run(name, rising)
        assert live.look()["refused"] is None
        study.run(last, rising)
        state = live.look()
        assert (state["phase"], state["arms"]) == ("finished", [])
        assert "seems to be maximised" in state["refused"]["message"]
    for command in (["score", "study"], ["pack", "study", "-o", "study.zip"]):
        assert run(command) == 1, command
        said = capsys.readouterr().err
        assert "seems to be maximised" in said
        assert "`[objective] sense` of study.toml states it" in said
    assert run(["watch", "study", "--once"]) == 0
    assert "no table: " in capsys.readouterr().out


FREEZE = ["snapshot", "freeze", "--validation", "solver", "--name", "n"]


def rising_study(folder, sense=None):
    with live_study(folder, arms=[folder.name]) as study:
        for cell in study.cells:
            study.run(str(cell.key), [(1.0, 10.0), (2.0, 20.0), (3.0, 30.0)])
    if sense is not None:
        contract = (folder / "study.toml").read_text()
        (folder / "study.toml").write_text(contract.replace("[objective]", f'[objective]\nsense = "{sense}"'))


def test_no_best_value_is_taken_of_a_study_whose_direction_is_not_stated(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rising_study(tmp_path / "study")
    fold = ["snapshot", "fold", "study/references/known.json", "study", "--validation", "solver", "--name", "n"]
    for number, command in enumerate(([*FREEZE, "campaign:study"], fold)):
        assert run([*command, "-o", f"{number}.json"]) == 1
        assert "seems to be maximised" in capsys.readouterr().err
        assert run([*command, "-o", f"{number}.json", "--sense", "max"]) == 0
        assert {one.value for one in gl.Snapshot.load(f"{number}.json").values.values()} == {30.0}
    with pytest.raises(TraceError, match="seems to be maximised"):
        gl.read("study")


def test_what_a_contract_states_holds_beside_other_sources_too(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        rising_study(tmp_path / name, "max")
    assert gl.read(["one", "two"]).runs["sense"].unique().to_list() == ["max"]
    assert run(["merge", "one", "two", "-o", "both"]) == 0
    capsys.readouterr()
    said = []
    for sources in (["one", "two"], ["both"]):
        assert run(["score", *sources, "--policy", "analysis", "--validation", "solver"]) == 0
        said.append(capsys.readouterr().out)
        assert "transform reciprocal" in " ".join(said[-1].split())
    assert run([*FREEZE, "campaign:one", "-o", "best.json"]) == 0
    assert {one.value for one in gl.Snapshot.load("best.json").values.values()} == {30.0}


def test_a_caller_in_python_is_told_of_arguments():
    frame = pl.DataFrame(rows(a=[RISING]))
    with pytest.raises(TraceError) as refused:
        gl.read(frame)
    assert refused.value.hint == "sense='max' if larger values are better, sense='min' if smaller ones are"
    doubtful = gl.read(frame.head(3)).diagnostics.notes[-1]
    assert doubtful.endswith("2 rises and no fall from one candidate to the next; sense='min' confirms it")
    late = frame.with_columns(time=pl.col("time") + 60)
    with pytest.raises(TraceError) as refused:
        gl.read(late, sense="min")
    assert refused.value.hint == "allow_empty=True scores these runs as runs that found nothing"
    twice = pl.concat([frame, frame.with_columns(objective=pl.col("objective") + 1)])
    with pytest.raises(TraceError) as refused:
        gl.read(twice, sense="min")
    assert str(refused.value.hint).startswith("number_runs=True begins a new run")
    assert "; sort_rows=True confirms" in str(refused.value.hint)


@pytest.mark.parametrize("sense", ["min", "max"])
def test_what_an_import_assumed_is_no_statement_of_the_source(sense, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, rows(a=[[10, 12, 15]], b=[[10]]))
    assert run(["import", "t.csv", "-o", "campaign"]) == 0
    assert "2 rises and no fall" in capsys.readouterr().out
    command = ["score", "campaign", "--references", "refs.csv"]
    assert run(command) == 0
    assert "--sense min confirms it" in " ".join(capsys.readouterr().out.split())
    assert run([*command, "--sense", sense]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert [words in said for words in ("confirms it", "says which")] == [False, False]
    assert ("transform reciprocal" in said) == (sense == "max")
