"""Optuna: pasted journals and tables with every trap, and what Optuna itself writes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreign_logs import candidates, mutated, read_log, survive
from gapline.errors import TraceError
from gapline.logs.readers.optuna import READER, VIOLATED
from gapline.testing.readers import ReaderConformance
from profiles import examples

JOURNAL = """{"op_code":0,"worker_id":"w","study_name":"beam","directions":[1]}
{"op_code":4,"worker_id":"w","study_id":0,"datetime_start":"2026-03-29T00:59:58.500000+00:00"}
{"op_code":4,"worker_id":"w","study_id":0,"datetime_start":"2026-03-29T00:59:59.000000+00:00"}
{"op_code":5,"worker_id":"w","trial_id":0,"param_name":"x","param_value_internal":1,"distribution":"{}"}
{"op_code":6,"worker_id":"w","trial_id":0,"state":1,"values":[12.5],"datetime_complete":"2026-03-29T01:00:00.750000+00:00"}
{"op_code":9,"worker_id":"w","trial_id":1,"system_attr":{"constraints":[-1.0,0.5]}}
{"op_code":6,"worker_id":"w","trial_id":1,"state":1,"values":[3.0],"datetime_complete":"2026-03-29T01:00:01.000000+00:00"}
{"op_code":0,"worker_id":"w","study_name":"beam-max","directions":[2]}
{"op_code":4,"worker_id":"w","study_id":1,"datetime_start":"2026-03-29T02:00:00.000000+00:00"}
{"op_code":9,"worker_id":"w","trial_id":2,"system_attr":{"constraints:load":0.0}}
{"op_code":6,"worker_id":"w","trial_id":2,"state":1,"values":[-7.0],"datetime_complete":"2026-03-29T02:00:10.000000+00:00"}
{"op_code":4,"worker_id":"w","study_id":0,"datetime_start":"2026-03-29T01:00:02.000000+00:00"}
{"op_code":6,"worker_id":"w","trial_id":3,"state":2,"values":null,"datetime_complete":"2026-03-29T01:00:03.000000+00:00"}
{"op_code":4,"worker_id":"w","study_id":0,"datetime_start":"2026-03-29T01:00:02.000000+00:00"}
"""

TABLE = """,number,value,datetime_start,datetime_complete,duration,params_x,system_attrs_constraints,state
0,0,0.25,2026-11-15 21:23:27.622148,2026-11-15 21:23:27.624285,0 days 00:00:00.002137,-0.5,"[-1.0, 0.0]",COMPLETE
1,1,1.75,2026-11-15 21:23:27.624855,2026-11-15 21:23:28.622148,0 days 00:00:00.997293,1.3,"(0.5,)",COMPLETE
2,2,,2026-11-15 21:23:28.700000,2026-11-15 21:23:28.800000,0 days 00:00:00.100000,-2.9,,PRUNED
3,3,1.5,2026-11-15 21:23:29.622148,2026-11-15 21:23:30.622148,0 days 00:00:01,-1.1,[-2.0],COMPLETE
"""


def test_studies_of_a_journal_are_runs_and_completed_trials_are_candidates():
    found = read_log(READER, JOURNAL)
    assert READER.looks_like("journal.log", JOURNAL.encode())
    beam, other = found.runs
    assert (beam.instance, beam.sense, beam.clock, beam.carried["started"]) == (
        "beam",
        "min",
        "wall",
        "2026-03-29T00:59:58.500000+00:00",
    )
    # The clock starts with the first trial; the second trial violates a constraint.
    assert candidates(beam) == [(2.25, 12.5)]
    assert beam.reason == ["", VIOLATED]
    assert beam.objective[1] == 3.0
    assert (other.instance, other.sense, candidates(other)) == ("beam-max", "max", [(10.0, -7.0)])
    assert "1 pruned, 1 running" in found.notes[0]
    assert found.problems == []


def test_a_journal_that_breaks_off_keeps_its_prefix_and_is_killed():
    found = read_log(READER, JOURNAL[: JOURNAL.index('"values":[-7.0]')])
    assert [run.status for run in found.runs] == ["killed", "killed"]
    assert candidates(found.runs[0]) == [(2.25, 12.5)]
    assert candidates(found.runs[1]) == []
    assert "run.log:11: expected one JSON object" in found.problems[0]


@pytest.mark.parametrize("bad", ["null", "NaN", "Infinity", '"1,5"', "1e999", "9" * 5000])
def test_values_that_are_no_finite_numbers_are_rejected(bad):
    found = read_log(READER, JOURNAL.replace("[12.5]", f"[{bad}]"))
    assert candidates(found.runs[0]) == []
    assert len(found.problems) == 1


def test_several_objectives_are_no_candidates():
    found = read_log(READER, JOURNAL.replace('"directions":[1]', '"directions":[1,2]').replace("[12.5]", "[12.5,3.0]"))
    assert candidates(found.runs[0]) == []
    assert found.runs[0].reason == ["several objectives", "several objectives"]
    assert "expected one objective, got several" in found.problems[-1]


def test_operations_on_unknown_studies_and_trials_are_counted():
    text = (
        JOURNAL + '{"op_code":6,"trial_id":99,"state":1}\n{"op_code":4,"study_id":-1}\n{"op_code":4,"study_id":1e300}\n'
    )
    assert len(read_log(READER, text).problems) == 3


def test_a_deleted_study_is_no_run_and_its_name_may_come_again():
    again = """{"op_code":1,"worker_id":"w","study_id":0}
{"op_code":0,"worker_id":"w","study_name":"beam","directions":[1]}
{"op_code":4,"worker_id":"w","study_id":2,"datetime_start":"2026-03-29T03:00:00.000000+00:00"}
{"op_code":6,"worker_id":"w","trial_id":5,"state":1,"values":[9.0],"datetime_complete":"2026-03-29T03:00:01.500000+00:00"}
"""
    found = read_log(READER, JOURNAL + again)
    assert [(run.instance, candidates(run)) for run in found.runs] == [
        ("beam-max", [(10.0, -7.0)]),
        ("beam", [(1.5, 9.0)]),
    ]
    assert found.notes[0] == "run.log (study beam): deleted, 4 trials left out"
    assert read_log(READER, JOURNAL + '{"op_code":1,"worker_id":"w","study_id":7}\n').problems != []


def test_a_table_of_trials():
    found = read_log(READER, TABLE.replace("\n", "\r\n"), path="trials.csv")
    assert READER.looks_like("trials.csv", TABLE.encode())
    (run,) = found.runs
    assert candidates(run) == [(0.002137, 0.25), (3.0, 1.5)]
    assert run.reason == ["", VIOLATED, ""]
    assert (run.instance, run.sense, run.resolution) == (None, None, 1e-6)


def test_bad_cells_of_a_table_are_counted():
    text = TABLE.replace("0,0,0.25", '0,0,"0,25"').replace("2026-11-15 21:23:30.622148", "soon") + "4,4,1\n"
    found = read_log(READER, text)
    assert candidates(found.runs[0]) == []
    assert len(found.problems) == 3


def test_a_study_without_trials_is_an_empty_run():
    (run,) = read_log(READER, JOURNAL.splitlines()[0] + "\n").runs
    assert len(run.time) == 0
    (run,) = read_log(READER, TABLE.splitlines()[0] + "\n").runs
    assert len(run.time) == 0


def test_hostile_files_stay_bounded():
    survive(READER, b'{"op_code":0,"study_name":' + b"[" * 100_000)
    survive(READER, TABLE.encode() + b'5,5,"' + b"9" * 5_000_000)
    survive(READER, TABLE.encode().replace(b"[-1.0, 0.0]", b"[" * 5000))


def test_another_text_is_refused():
    with pytest.raises(TraceError, match=r"run\.log:1: expected columns"):
        read_log(READER, "hello\n")
    assert not READER.looks_like("x.csv", b"arm,instance,seed,time,objective\n")


@pytest.mark.slow
def test_what_optuna_writes_is_read_as_optuna_reads_it(tmp_path):
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    path = tmp_path / "journal.log"
    storage = optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(path)))

    def objective(trial):
        x = trial.suggest_float("x", -3, 3)
        trial.set_constraint("right", x - 1)
        if trial.number == 2:
            raise optuna.TrialPruned
        return x * x

    sampler = optuna.samplers.RandomSampler(seed=4)
    study = optuna.create_study(study_name="square", storage=storage, direction="maximize", sampler=sampler)
    study.optimize(objective, n_trials=12)
    journal = read_log(READER, path.read_text("utf-8"))
    attributes = ("number", "value", "datetime_start", "datetime_complete", "state", "system_attrs")
    table = read_log(READER, study.trials_dataframe(attrs=attributes).to_csv(), path="trials.csv")
    trials = study.get_trials()
    began = min(trial.datetime_start for trial in trials)
    expected = [
        (round((trial.datetime_complete - began).total_seconds(), 6), trial.value)
        for trial in trials
        if trial.state == optuna.trial.TrialState.COMPLETE and all(c <= 0 for c in trial.constraints.values())
    ]
    assert 0 < len(expected) < 11
    assert candidates(journal.runs[0]) == expected
    assert candidates(table.runs[0]) == expected
    assert journal.runs[0].sense == "max"
    assert journal.problems == table.problems == []


@settings(max_examples=examples(120), deadline=None)
@given(st.binary(max_size=200) | mutated(JOURNAL.encode()) | mutated(TABLE.encode()))
def test_broken_files_are_survived(data):
    survive(READER, data)


class TestConformance(ReaderConformance):
    reader = READER
    path = "journal.log"
    sample = JOURNAL.replace("[2]", "[1]").encode()
    runs = 2
    candidates = ((2.25, 12.5),)


class TestTableConformance(ReaderConformance):
    reader = READER
    path = "trials.csv"
    sample = TABLE.encode()
    candidates = ((0.002137, 0.25), (3.0, 1.5))
