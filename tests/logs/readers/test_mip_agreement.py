"""HiGHS, SCIP and CBC solve a model here: their logs read as miplog reads them, and as the solvers tell it."""

import json
import math
import random
import re
import shutil
import subprocess
import sys
from typing import NamedTuple

import miplog
import pytest

from foreign_logs import bounds, candidates, read_log, read_or_refuse
from gapline.logs.readers.mip import READER
from gapline.testing.readers import check_variants

SOLVERS = ("highs", "scip", "cbc")
STATUS = {"optimal": "finished", "infeasible": "finished", "other_limit": "finished", "time_limit": "time-limit"}


def model_text(kind):
    """A knapsack to maximise, a cover to minimise with costs above or below zero, or what no point satisfies."""
    numbers = random.Random(3)
    size, rows = 30, 8
    signs = {"max": 1, "min": 1, "negative": -1, "infeasible": 1}
    gain = [signs[kind] * numbers.randint(10, 99) for _ in range(size)]
    load = [[numbers.randint(5, 90) for _ in range(size)] for _ in range(rows)]
    sense, relation = ("Maximize", "<=") if kind == "max" else ("Minimize", ">=" if kind == "min" else "<=")
    lines = [sense, " cost: " + " ".join(f"{g:+d} x{i}" for i, g in enumerate(gain)), "Subject To"]
    for row, weights in enumerate(load):
        total = sum(weights)
        terms = " ".join(f"+{w} x{i}" for i, w in enumerate(weights))
        lines.append(f" row{row}: {terms} {relation} {total // 3}")
        if kind == "infeasible":
            lines.append(f" not{row}: {terms} >= {total // 2}")
    return "\n".join([*lines, "Binary", " " + " ".join(f"x{i}" for i in range(size)), "End", ""])


HIGHS = """
import json, sys
import highspy
model, log, limit = sys.argv[1:]
solver, events = highspy.Highs(), []
solver.setOptionValue("log_to_console", False)
solver.setOptionValue("log_file", log)
solver.readModel(model)
solver.cbMipImprovingSolution.subscribe(
    lambda event: events.append((event.data_out.running_time, event.data_out.objective_function_value))
)
if limit == "time":
    solver.setOptionValue("time_limit", 0.0)
if limit == "nodes":
    solver.setOptionValue("mip_max_nodes", 1)
solver.run()
facts = solver.getInfo()
print(json.dumps({"value": facts.objective_function_value, "bound": facts.mip_dual_bound, "events": events}))
"""
SCIP = """
import json, sys
import pyscipopt
from pyscipopt import SCIP_EVENTTYPE
model, log, limit = sys.argv[1:]
solver, events = pyscipopt.Model(), []
solver.hideOutput(True)
solver.setLogfile(log)
solver.hideOutput(False)
solver.readProblem(model)
class Listen(pyscipopt.Eventhdlr):
    def eventinit(self):
        self.model.catchEvent(SCIP_EVENTTYPE.BESTSOLFOUND, self)
    def eventexit(self):
        self.model.dropEvent(SCIP_EVENTTYPE.BESTSOLFOUND, self)
    def eventexec(self, event):
        events.append((self.model.getSolvingTime(), self.model.getSolObjVal(self.model.getBestSol())))
listen = Listen()
solver.includeEventhdlr(listen, "listen", "keeps best solutions")
if limit == "time":
    solver.setParam("limits/time", 0.0)
if limit == "nodes":
    solver.setParam("limits/nodes", 1)
solver.optimize()
value = solver.getObjVal() if solver.getNSols() else None
print(json.dumps({"value": value, "bound": solver.getDualbound(), "events": events}))
"""


class Told(NamedTuple):
    """A log, and what the solver said of the run through its own interface (CBC has none here)."""

    solver: str
    kind: str
    limit: str
    text: str
    value: float | None = None
    bound: float | None = None
    events: list | None = None


RUNS = (("max", ""), ("min", ""), ("negative", ""), ("infeasible", ""), ("min", "time"), ("max", "nodes"))
# `make test` does not install CBC.
CASES = [
    pytest.param((solver, *run), marks=pytest.mark.slow if solver == "cbc" else (), id="-".join((solver, *run)))
    for solver in SOLVERS
    for run in RUNS
]
EARLY = re.compile(r"feasible solution found by trivial heuristic after (\S+) seconds, objective value (\S+)")


@pytest.fixture(scope="module", params=CASES)
def told(request, tmp_path_factory):
    solver, kind, limit = request.param
    place = tmp_path_factory.mktemp(solver)
    model, log = place / "yard7.lp", place / "run.log"
    model.write_text(model_text(kind), encoding="utf-8")
    if solver == "cbc":
        if not (cbc := shutil.which("cbc")):
            pytest.skip("no cbc on the path: install coinor-cbc, and its logs are compared with miplog")
        stops = {"": (), "time": ("-sec", "0"), "nodes": ("-maxN", "1")}[limit]
        done = subprocess.run([cbc, str(model), *stops, "-solve"], capture_output=True, text=True, check=True)
        return Told(*request.param, done.stdout)
    # In a process of its own: the libraries of two solvers do not load side by side.
    code = {"highs": HIGHS, "scip": SCIP}[solver]
    done = subprocess.run(
        [sys.executable, "-c", code, str(model), str(log), limit], capture_output=True, text=True, check=True
    )
    facts = json.loads(done.stdout.splitlines()[-1])
    return Told(*request.param, log.read_text(encoding="utf-8"), **facts)


def read_one(told):
    assert READER.looks_like("run.log", told.text.encode())
    found = read_log(READER, told.text)
    assert found.problems == []
    (run,) = found.runs
    return run


def test_every_incumbent_is_one_that_the_solver_called_out(told):
    """In number, order and value; the log prints seven digits (SCIP) or ten (HiGHS), and its end twelve or more."""
    run = read_one(told)
    if told.events is None:
        shown = re.findall(r"Integer solution of (\S+) found .*\((\S+) seconds\)", told.text)
        sign = -1 if told.kind == "max" else 1
        expected = [(float(time), sign * float(value)) for value, time in shown]
        # A model that is solved before the search has its final objective alone.
        assert candidates(run)[: len(expected)] == expected
        assert len(candidates(run)) == max(len(expected), told.kind != "infeasible" and told.limit != "time")
        return
    values = [value for _, value in candidates(run)]
    assert values == pytest.approx([value for _, value in told.events], rel=1e-6, abs=1e-9)
    if values:
        assert values[-1] == pytest.approx(told.value, abs=run.carried["value_resolution"] / 2 + 1e-9)


def test_what_was_proven_is_kept(told):
    run = read_one(told)
    claim = {"infeasible": "infeasible"}.get(told.kind, "optimal")
    # Under a limit a solver may still finish in time; what it then says is its own.
    assert run.carried["claim"] in ((claim,) if not told.limit else (claim, None))
    assert (run.status == "finished") or run.carried["claim"] is None


def test_the_print_of_the_best_bound_is_within_its_resolution(told):
    run = read_one(told)
    if told.bound is None or not bounds(run) or abs(told.bound) >= 1e20:
        return
    best = (min if told.kind == "max" else max)(bound for _, bound in bounds(run))
    assert best == pytest.approx(told.bound, rel=1e-9, abs=run.carried["bound_resolution"] * 0.51)


def test_stamps_bounds_and_status_are_those_of_miplog(told):
    run, theirs = read_one(told), miplog.parse_text(told.text)
    progress = theirs.get("progress") or {}
    columns = (progress.get(name) or [] for name in ("time_seconds", "primal", "dual", "event"))
    rows = list(zip(*columns, strict=True))
    marked = [(time, primal) for time, primal, _, event in rows if event is not None]
    if told.solver != "cbc":
        # Beyond miplog's rows stand the incumbents that SCIP announces before its table.
        early = [(float(time), float(value)) for time, value in EARLY.findall(told.text)]
        assert candidates(run) == early + marked
    # CBC minimises the negative, and its rows show it.
    sign = -1 if (told.solver, told.kind) == ("cbc", "max") else 1
    shown = [(time, sign * dual) for time, _, dual, _ in rows if dual is not None and math.isfinite(dual)]
    final = theirs["bounds"]["dual"]
    assert bounds(run)[: len(shown)] == shown
    if final is not None and math.isfinite(final) and abs(final) < 1e20:
        assert bounds(run)[len(shown) :] == [(pytest.approx(bounds(run)[-1][0]), pytest.approx(final, rel=1e-12))]
    if theirs["bounds"]["primal"] is not None and candidates(run):
        assert candidates(run)[-1][1] == theirs["bounds"]["primal"]
    assert run.status == STATUS[theirs["termination"]["status"]]


def test_status_sense_and_bound_are_those_that_the_solver_has(told):
    run = read_one(told)
    assert run.status == ("time-limit" if told.limit == "time" else "finished")
    if candidates(run):
        assert run.sense == ("max" if told.kind == "max" else "min") or len(candidates(run)) == 1
        assert told.bound is None or bounds(run)[-1][1] == pytest.approx(told.bound, rel=1e-9)
    assert run.instance == "yard7" or told.solver == "scip"


def test_no_variant_of_a_log_has_a_better_value_or_claims_more(told):
    if (told.kind, told.limit) != ("max", ""):
        return
    proofs = (
        b"[optimal solution found]",
        b"Status            Optimal",
        b"Result - Optimal",
        b"Cbc0001I Search completed",
    )
    check_variants(read_or_refuse(READER), told.text.encode(), proofs)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a_log_that_is_cut_off_keeps_its_prefix(told, share):
    if told.solver == "cbc" or told.kind == "infeasible" or told.limit == "time":
        return
    table_end = max(told.text.find("Solving report"), told.text.find("SCIP Status"))
    (run,) = read_log(READER, told.text[: told.text.rfind("\n", 0, int(table_end * share)) + 1]).runs
    assert candidates(run) == candidates(read_one(told))[: len(candidates(run))]
    assert run.status == "killed"
