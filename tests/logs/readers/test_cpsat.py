"""CP-SAT: pasted logs with every trap, logs of the solver itself, and another parser's reading of them."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreign_logs import bounds, candidates, mutated, read_log, survive
from gapline.contract.tables import VerdictCode
from gapline.errors import TraceError
from gapline.logs.importer import import_logs
from gapline.logs.readers.cpsat import READER
from gapline.testing.readers import ReaderConformance
from profiles import examples

MAXIMISE = """
Starting CP-SAT solver v9.12.4544
Parameters: random_seed: 11 max_time_in_seconds: 2.5 log_search_progress: true num_workers: 8

Initial optimization model 'harbour': (model_fingerprint: 0x1)
#Variables: 60 (#bools: 60 in objective) (60 primary variables)

Preloading model.
#Bound   0.40s best:-inf  next:[-0,3186]  initial_domain
#Model   0.40s var:60/60 constraints:15/15

Starting search at 0.41s with 8 workers.
#1       0.71s best:-4    next:[-3,1567] core
#2       0.71s best:0     next:[1,1567] core (fixed_bools=0/60)
#3       1.20s best:21    next:[22,1567] violation_ls(batch:1 lin{mvs:0 evals:0})
#Bound   1.30s best:21    next:[22,90] max_lp [skipped_logs=5]
#Model   1.31s var:50/60 constraints:15/15
#4       2.61s best:30    next:[31,90] default_lp
#Done    2.70s max_lp

CpSolverResponse summary:
status: FEASIBLE
objective: 30
best_bound: 88
walltime: 2.70114
gap_integral: 1.2
"""

MINIMISE = """Starting CP-SAT solver v9.10.4067
Parameters: log_search_progress: true
Initial optimization model '': (model_fingerprint: 0x2)
#Bound   0.01s best:inf   next:[1,17]     initial_domain
#1       0.02s best:17    next:[1,16]     quick_restart_no_lp fixed_bools:0/11849
#2       1.02m best:15    next:[]         no_lp
#Done   61.30s no_lp
CpSolverResponse summary:
status: OPTIMAL
objective: 15
best_bound: 15
walltime: 61.3
"""


def test_maximisation_keeps_raw_values_and_the_far_end_of_the_range_as_bound():
    found = read_log(READER, MAXIMISE)
    (run,) = found.runs
    assert (run.arm, run.instance, run.seed, run.horizon) == ("cpsat-9.12.4544", "harbour", 11, 2.5)
    assert (run.sense, run.clock, run.resolution, run.status) == ("max", "wall", 0.01, "time-limit")
    # Equal stamps, a negative and a zero objective, and a candidate after the limit are all kept.
    assert candidates(run) == [(0.71, -4), (0.71, 0), (1.2, 21), (2.61, 30)]
    assert bounds(run) == [(0.4, 3186), (0.71, 1567), (0.71, 1567), (1.2, 1567), (1.3, 90), (2.61, 90), (2.70114, 88)]
    assert found.problems == []
    assert "5 lines" in found.notes[0]


def test_minimisation_reads_the_near_end_minutes_and_an_empty_range():
    (run,) = read_log(READER, MINIMISE).runs
    assert (run.sense, run.status, run.instance, run.horizon, run.seed) == ("min", "finished", None, None, None)
    assert candidates(run) == [(0.02, 17), (61.2, 15)]
    assert bounds(run) == [(0.01, 1), (0.02, 1), (61.2, 15), (61.3, 15)]
    assert run.resolution == pytest.approx(0.6)


def test_several_solves_do_not_share_limit_or_sense():
    found = read_log(READER, MAXIMISE + MINIMISE + MAXIMISE)
    assert [run.where for run in found.runs] == ["solve 1", "solve 2", "solve 3"]
    assert [run.horizon for run in found.runs] == [2.5, None, 2.5]
    assert [run.sense for run in found.runs] == ["max", "min", "max"]
    assert [len(candidates(run)) for run in found.runs] == [4, 2, 4]


def test_crlf_changes_nothing():
    lf, crlf = (read_log(READER, text).runs[0] for text in (MAXIMISE, MAXIMISE.replace("\n", "\r\n")))
    assert candidates(lf) == candidates(crlf)
    assert lf.status == crlf.status


def test_a_log_that_breaks_off_keeps_its_prefix_and_is_killed():
    text = MAXIMISE[: MAXIMISE.index("21    next:[22,90]")]
    (run,) = read_log(READER, text).runs
    assert candidates(run) == [(0.71, -4), (0.71, 0), (1.2, 21)]
    assert run.status == "killed"


def test_a_compressed_log_that_breaks_off_is_killed_in_its_last_solve():
    first, last = read_log(READER, MAXIMISE + MINIMISE, cut=True).runs
    assert (first.status, last.status) == ("time-limit", "killed")


def test_a_solve_without_candidates_is_an_empty_run():
    text = MINIMISE[: MINIMISE.index("#Bound")] + "CpSolverResponse summary:\nstatus: INFEASIBLE\nobjective: NA\n"
    (run,) = read_log(READER, text).runs
    assert len(run.time) == 0
    assert (run.status, run.sense) == ("finished", None)
    assert run.carried["claim"] == "infeasible"


@pytest.mark.parametrize(("status", "claim"), [("OPTIMAL", "optimal"), ("FEASIBLE", None), ("MODEL_INVALID", None)])
def test_what_was_proven_is_kept(status, claim):
    for text in (MINIMISE, MAXIMISE):
        whole = re.sub(r"^status: \w+", f"status: {status}", text, flags=re.M)
        assert read_log(READER, whole).runs[0].carried.get("claim") == claim
    # Cut off inside, nothing is believed of its end; without an objective there is no optimum.
    assert read_log(READER, whole, cut=True).runs[-1].carried.get("claim") is None
    satisfied = re.sub("Initial optimization", "Initial satisfaction", whole)
    assert read_log(READER, satisfied).runs[0].carried.get("claim") is None


def test_an_empty_solve_does_not_stand_in_the_way_of_a_maximisation(tmp_path):
    """The sense of a run that found nothing is unknown; it takes that of the others."""
    empty = (
        MAXIMISE[: MAXIMISE.index("#Bound")].replace("harbour", "quay") + "CpSolverResponse summary:\nstatus: UNKNOWN\n"
    )
    path = tmp_path / "both.log"
    path.write_text(MAXIMISE + empty, encoding="utf-8")
    campaign = import_logs([path]).campaign
    assert len(campaign) == 2
    assert campaign.facts["sense"] == "max"


def test_a_satisfaction_model_has_counted_rejections_and_a_note():
    text = "Starting CP-SAT solver v9.15.1\nInitial satisfaction model 'q'\n#1       0.00s default_lp\n"
    found = read_log(READER, text)
    assert candidates(found.runs[0]) == []
    assert found.runs[0].reason == ["objective missing"]
    assert "run.log:3: expected a finite objective" in found.problems[0]
    assert "satisfaction" in found.notes[0]


def test_a_better_objective_in_the_summary_is_a_candidate_at_the_end():
    text = MINIMISE.replace("#2       1.02m best:15    next:[]         no_lp\n", "")
    assert candidates(read_log(READER, text).runs[0]) == [(0.02, 17), (61.3, 15)]


@pytest.mark.parametrize("bad", ["1,5", "1_000", "nan", "1e999", "٣"])
def test_a_value_that_is_no_number_is_rejected_and_counted(bad):
    found = read_log(READER, MAXIMISE.replace("best:21    next:[22,1567]", f"best:{bad}  next:[22,1567]"))
    assert len(candidates(found.runs[0])) == 3
    assert len(found.problems) == 1
    assert np.count_nonzero(found.runs[0].verdict == VerdictCode.INVALID) == 1


def test_a_huge_line_is_cut_not_read():
    text = MAXIMISE.replace("#Model   1.31s", "#9       1.31s best:" + "9" * 5_000_000)
    assert candidates(read_log(READER, text).runs[0])[-1] == (2.61, 30)


def test_another_text_is_refused():
    with pytest.raises(TraceError, match=r"run\.log: expected a CP-SAT search log"):
        read_log(READER, "nothing here\n")
    assert not READER.looks_like("x", b"nothing here\n")
    assert READER.looks_like("x", MAXIMISE.encode())
    assert READER.looks_like("x", MAXIMISE[MAXIMISE.index("#1 ") :].encode())


SOLVE = """
import json, random
from ortools.sat.python import cp_model
texts = []
for sense, size in (("max", 30), ("min", 24)):
    random.seed(size)
    model = cp_model.CpModel()
    model.name = f"{sense}{size}"
    take = [model.new_bool_var(f"x{i}") for i in range(size)]
    value = sum(random.randint(10, 99) * x for x in take)
    for _ in range(6):
        weight = [random.randint(5, 90) for _ in take]
        load = sum(w * x for w, x in zip(weight, take))
        if sense == "max":
            model.add(load <= sum(weight) // 3)
        else:
            model.add(load >= sum(weight) // 3)
    getattr(model, "maximize" if sense == "max" else "minimize")(value)
    solver = cp_model.CpSolver()
    solver.parameters.log_search_progress = True
    solver.parameters.log_to_stdout = False
    solver.parameters.max_time_in_seconds = 30
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 7
    lines = []
    solver.log_callback = lines.append
    solver.solve(model)
    texts.append(["\\n".join(lines) + "\\n", solver.objective_value])
print(json.dumps(texts))
"""


@pytest.fixture(scope="module")
def real_logs():
    # In a process of its own: the libraries of two solvers do not load side by side.
    out = subprocess.run([sys.executable, "-c", SOLVE], capture_output=True, text=True, check=True).stdout
    return json.loads(out)


@pytest.mark.slow
def test_the_solver_s_own_logs_read_as_cpsat_logutils_reads_them(real_logs):
    from cpsat_logutils import LogParser
    from cpsat_logutils.blocks import ResponseBlock, SearchProgressBlock
    from cpsat_logutils.blocks.search_progress import BoundEvent, ObjEvent

    for (text, optimum), sense in zip(real_logs, ("max", "min"), strict=True):
        assert READER.looks_like("run.log", text.encode())
        (run,) = read_log(READER, text).runs
        events = LogParser(text).get_block_of_type(SearchProgressBlock).get_events()
        theirs = [(event.time, event.obj, event.bound) for event in events if isinstance(event, ObjEvent)]
        valid = run.verdict == VerdictCode.VALID
        ours = list(zip(run.time[valid], run.objective[valid], run.bound[valid], strict=True))
        assert len(theirs) > 1
        assert ours == theirs
        bound_alone = {(event.time, event.bound) for event in events if isinstance(event, BoundEvent)}
        assert bound_alone <= set(bounds(run))
        assert (run.sense, run.status, run.seed, run.horizon) == (sense, "finished", 7, 30.0)
        assert candidates(run)[-1][1] == optimum
        response = LogParser(text).get_block_of_type(ResponseBlock).to_dict()
        assert response["status"] == "OPTIMAL"
        assert (candidates(run)[-1][1], bounds(run)[-1][1]) == (
            float(response["objective"]),
            float(response["best_bound"]),
        )
        assert run.instance.startswith(sense)


@settings(max_examples=examples(60), deadline=None)
@given(st.binary(max_size=300))
def test_random_bytes_are_survived(data):
    survive(READER, data)
    survive(READER, b"Starting CP-SAT solver v9\n#1 0.1s " + data)


@settings(max_examples=examples(150), deadline=None)
@given(mutated((MAXIMISE + MINIMISE).encode()))
def test_mutated_logs_are_survived(data):
    survive(READER, data)


class TestProofConformance(ReaderConformance):
    reader = READER
    sample = MINIMISE.encode()
    candidates = ((0.02, 17.0), (61.2, 15.0))
    proofs = (b"status: OPTIMAL",)


class TestConformance(ReaderConformance):
    reader = READER
    sample = MAXIMISE.encode()
    candidates = ((0.71, -4.0), (0.71, 0.0), (1.2, 21.0), (2.61, 30.0))
