"""Every fact says who stated it: what a journal recorded, a log, a file, the contract, an option, or nobody."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import gapline as gl
from gapline.campaign.store import open_campaign
from gapline.cli.app import run
from gapline.package.verify import verify
from gapline.report.facts import make_statements
from gapline.report.statements.methods import methods_latex, methods_markdown
from gapline.run.campaign import run_study

ROWS = [(arm, i, t, z) for arm, worse in (("a", 0), ("b", 1)) for i in "ijk" for t, z in ((1, 12 + worse), (2, 11))]
CSV = "arm,instance,seed,time,objective\n" + "".join(f"{a},{i},1,{t},{z}\n" for a, i, t, z in ROWS)
REFERENCES = "instance,value\ni,10\nj,10\nk,10\n"
CPSAT = """Starting CP-SAT solver v9.12.4544
Parameters: max_time_in_seconds: 20 random_seed: 3 log_search_progress: true
Initial optimization model 'yard': (model_fingerprint: 0x1)
#Variables: 3

Starting search at 0.01s with 1 workers.
#1       0.50s best:12    next:[5,11]     quick_restart
#2       1.50s best:11    next:[5,10]     quick_restart

CpSolverResponse summary:
status: FEASIBLE
objective: 11
best_bound: 5
walltime: 20.0
"""
TIMING = '[time]\nhorizon = 60.0\ncharged = "search alone"\ngranularity = "1 ms"\nmachine = "one old laptop"\n'


@pytest.fixture
def traces(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text(CSV)
    Path("known.csv").write_text(REFERENCES)


def opened(*sources, **choices):
    return gl.open_study(*sources, references="known.csv", **choices)


def methods(study) -> str:
    said = make_statements(study)
    # Both forms say the same, markup aside.
    latex = re.sub(r"\\allowbreak\{\}|\\(?=[_%&#])", "", methods_latex(said))
    assert "not declared" in latex
    return methods_markdown(said)


def origins(study) -> dict[str, str]:
    return {fact: " and ".join(map(str, found)) for fact, found in study.reading.origins.items()}


@pytest.mark.usefixtures("traces")
def test_of_a_table_with_a_horizon_from_an_option_nothing_else_is_claimed(capsys):
    study = opened("a.csv", horizon=5)
    assert origins(study) == {
        "clock": "not stated", "horizon": "option", "validation": "not stated", "sense": "not stated",
        "threads": "not stated", "machine": "not stated", "reference date": "not stated",
    }  # fmt: skip
    assert "horizon 5 s (given)" in study.reading.line()
    assert "against known (given, sha256:" in study.reading.line()
    assert "known: the date of these values is not stated" in study.notes()
    text = methods(study)
    assert "Runs are scored over a horizon of 5 s, given by an option; what the solvers were told is" in text
    assert "The clock: not declared." in text
    assert "its direction is not stated, and it is taken as minimised" in text
    assert "known (given with the scoring; store csv:known.csv; the date of these values is not stated; sha256" in text
    for claim in ("frozen", "announced", "stated in the file", "wall-clock"):
        assert claim not in text
    assert run(["score", "a.csv", "--horizon", "5", "--references", "known.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["origins"]["horizon"] == ["option"]


@pytest.mark.usefixtures("traces")
def test_an_import_invents_no_clock_and_remembers_that_its_horizon_came_from_an_option():
    assert run(["import", "a.csv", "--horizon", "5", "--sense", "min", "-o", "campaign"]) == 0
    campaign = open_campaign(Path("campaign"))
    assert "clock" not in campaign.runs.columns or not campaign.runs["clock"].count()
    study = opened("campaign")
    found = origins(study)
    assert (found["clock"], found["horizon"], found["sense"]) == ("not stated", "option", "option")
    text = methods(study)
    assert "The horizon of the runs is 5 s, given by an option; what the solvers were told is not declared." in text
    assert "it is minimised, given by an option" in text
    assert "stated in the file" not in text
    # An export and another import keep who said it.
    assert run(["export", "campaign", "-o", "back.csv"]) == 0
    assert origins(opened("back.csv"))["horizon"] == "option"
    assert run(["import", "back.csv", "-o", "again"]) == 0
    assert origins(opened("again"))["horizon"] == "option"


@pytest.mark.usefixtures("traces")
def test_what_a_table_states_is_said_to_stand_in_the_file():
    head, *rows = CSV.splitlines()
    more = "horizon,clock,threads,valid,sense"
    Path("a.csv").write_text("\n".join([f"{head},{more}", *(f"{row},5,cpu,4,true,min" for row in rows)]) + "\n")
    study = opened("a.csv")
    assert set(origins(study).values()) == {"file", "not stated"}
    assert [fact for fact, origin in origins(study).items() if origin == "not stated"] == ["machine", "reference date"]
    text = methods(study)
    assert "Time is CPU time, as stated in the file." in text
    assert "The horizon is 5 s, as stated in the file, and it is the one scored." in text
    assert "Each run was given 4 threads, as stated in the file." in text
    shorter = opened("a.csv", horizon=2)
    assert "horizon 2 s (given)" in shorter.reading.line()
    assert "scored at a shorter horizon than the one stated: conditional on the stated one" in shorter.notes()
    assert "Runs are scored over 2 s; the horizon of the runs is 5 s, as stated in the file." in methods(shorter)


@pytest.mark.usefixtures("traces")
def test_clock_horizon_and_version_of_a_log_reach_the_methods():
    Path("logs").mkdir()
    for arm in "ab":
        Path(f"logs/{arm}-yard.log").write_text(CPSAT.replace("best:12", f"best:{12 if arm == 'a' else 14}"))
    assert run(["import", "logs", "--name", "{arm}-{instance}.log", "-o", "campaign"]) == 0
    study = gl.open_study("campaign", policy="analysis")
    found = origins(study)
    assert [found[fact] for fact in ("clock", "horizon", "validation", "sense")] == ["log"] * 4
    text = methods(study)
    assert "a (cpsat 9.12.4544), b (cpsat 9.12.4544)." in text
    assert "Time is elapsed wall-clock time, as the logs state." in text
    assert "The horizon is 20 s, as the logs state, and it is the one scored." in text
    assert "announced" not in text


@pytest.mark.parametrize(
    ("values", "count"), [((11, 11, 10), "2 of 3"), ((11, 10, 10), None), ((11, 11, 11), "3 of 3")]
)
@pytest.mark.usefixtures("traces")
def test_references_that_are_the_campaigns_own_best_values_are_named_as_such(values, count):
    lines = [f"{name},{value}\n" for name, value in zip("ijk", values, strict=True)]
    Path("known.csv").write_text("instance,value\n" + "".join(lines))
    found = [note for note in opened("a.csv", horizon=5).notes() if "exactly" in note]
    assert found == ([f"known: {count} values are exactly the best values of these runs"] if count else [])


@pytest.mark.usefixtures("traces")
def test_a_date_that_is_stated_is_said_to_be_the_snapshots_word():
    snapshot = gl.Snapshot.from_values(dict.fromkeys("ijk", 10.0), name="dated", as_of="2020-01-01")
    study = gl.open_study("a.csv", horizon=5, snapshots=[snapshot])
    assert (study.references[0].policy, origins(study)["reference date"]) == ("given", "file")
    assert "values known 2020-01-01, as the snapshot states" in methods(study)
    assert not any("date of these values" in note for note in study.notes())


@pytest.fixture
def ran(make_study) -> Path:
    """A study of two scripted arms whose contract states the timing, and that was run."""
    study = make_study({"ffd": ["scripted", "{seed}", "3", "0.001"], "nfd": ["scripted", "{seed}", "1", "0.001"]}).path
    file = study / "study.toml"
    file.write_text(re.sub(r"\[time\]\n(?:\w.*\n)*", TIMING, file.read_text()))
    run_study(study, pin=False)
    return study


def edit(study: Path, old: str, new: str) -> None:
    file = study / "study.toml"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def test_a_study_that_was_run_states_what_its_journals_recorded(ran):
    study = gl.open_study(ran, policy="analysis")
    found = origins(study)
    assert [found[fact] for fact in ("clock", "horizon", "threads", "machine", "validation")] == ["journal"] * 5
    text = methods(study)
    assert "Time is elapsed wall-clock time, as recorded with the runs." in text
    assert "The clock charges (as recorded with the runs): search alone." in text
    assert "The granularity of the stamps (as recorded with the runs): 1 ms." in text
    assert "Each run was given 1 thread, as recorded with the runs." in text
    assert "Machine class (as recorded with the runs): one old laptop; the runner found " in text
    assert "The horizon is 60 s; it was announced to the solvers, and it is the one scored." in text
    assert "ffd 1" in text
    assert "(command" not in text
    assert "(given)" not in study.reading.line().partition("weight")[2]
    file = ran / "study.toml"
    silent = file.read_text()
    for stated, given, origin, said in (
        ("", None, "not stated", "; its direction is not stated, and it is taken as minimised."),
        ("", "max", "option", "; it is maximised, given by an option."),
        ('sense = "min"\n', None, "contract", ", minimised."),
    ):
        file.write_text(silent.replace("[objective]\n", f"[objective]\n{stated}"))
        study = gl.open_study(ran, policy="analysis", sense=given)
        assert origins(study)["sense"] == origin
        assert f"The objective is objective{said}" in methods(study)


EDITS = [
    ("horizon = 60.0", 'horizon = 60.0\nclock = "cpu"', "time clock: wall became cpu", "wall-clock time, as recorded"),
    (
        "search alone",
        "everything",
        "time charged: search alone became everything",
        "charges (as recorded with the runs): search alone",
    ),
    ('"1 ms"', '"1 ns"', "time granularity: 1 ms became 1 ns", "stamps (as recorded with the runs): 1 ms"),
    ("horizon = 60.0", "horizon = 60.0\nthreads = 8", "time threads: 1 became 8", "Each run was given 1 thread"),
    (
        "one old laptop",
        "a cluster",
        "time machine: one old laptop became a cluster",
        "class (as recorded with the runs): one old laptop",
    ),
    ("horizon = 60.0", "horizon = 600.0", "horizon: 60.0 became 600.0", "The horizon is 60 s"),
]


@pytest.mark.slow
@pytest.mark.parametrize("registered", ["as it was", "deleted"])
def test_a_contract_that_was_edited_after_the_runs_changes_no_sentence(ran, capsys, registered):
    """What was recorded stands; the change is a note of every command and a difference for `verify`."""
    whole = (ran / "study.toml").read_text()
    if registered == "deleted":
        (ran / "journal" / "register.jsonl").write_text("")
    assert verify(ran).passed
    for old, new, changed, recorded in EDITS:
        edit(ran, old, new)
        # The journals write numbers without their decimals.
        note = changed.replace(".0", "") if registered == "deleted" else changed
        study = gl.open_study(ran, policy="analysis")
        assert recorded in methods(study)
        assert re.search(f"Changed after the first run: (time )?{note}", methods(study))
        said = [text for text in study.notes() if text.startswith("changed after the first run: ")]
        assert len(said) == 1
        assert note in said[0]
        sources = {"score": [ran], "analyse": [ran], "compare": [f"{ran}:ffd", f"{ran}:nfd"]}
        for command, arguments in sources.items():
            run([command, *map(str, arguments), "--policy", "analysis"])
            assert note in " ".join(capsys.readouterr().out.split()), command
        found = verify(ran)
        assert any(one.member == "study.toml" and "as the journals record" in one.said for one in found.differences)
        (ran / "study.toml").write_text(whole)


def test_journals_without_the_timing_leave_it_to_the_contract_as_long_as_that_is_the_registered_one(ran):
    """Earlier versions did not record it."""
    campaign = open_campaign(ran / "campaign")
    older = replace(campaign, runs=campaign.runs.drop("charged", "granularity", "machine_class", "machine"))

    def text() -> str:
        return methods(gl.open_study(ran, policy="analysis", campaign=older))

    assert "The clock charges (as the contract states): search alone." in text()
    assert "Machine class (as the contract states): one old laptop." in text()
    edit(ran, "search alone", "everything")
    assert "charges (as the contract states now; it was changed after the first run): everything." in text()
    # Authors and comments are no change of the experiment.
    edit(ran, "everything", "search alone")
    edit(ran, "[time]", "# a remark\n[time]")
    assert "charges (as the contract states): search alone." in text()
