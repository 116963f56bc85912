"""Real campaigns of `gapline run`, watched: killed, resumed, and unmoved by who looks at them."""

import contextlib
import json
import os
import random
import shutil
import signal
import threading
from fractions import Fraction

import pytest

import gapline as gl
from gapline.cli.app import run as gapline
from gapline.contract.plan import Plan
from gapline.contract.study_file import load_contract
from gapline.journal.read import read_journal
from gapline.live.state import LiveStudy
from gapline.process.tree import descendants
from live_server import Listener, serving
from live_studies import REFERENCES, with_references
from scripted_studies import ScriptedStudy

pytestmark = pytest.mark.slow

MOMENTS = 40
ARMS = {"a": ["scripted", "1", "12", "0.05"], "b": ["scripted", "3", "8", "0.08"]}


def scored(path, capsys):
    capsys.readouterr()
    code = gapline(["score", str(path), "--json"])
    out = capsys.readouterr()
    return json.loads(out.out) if code in (0, 1) and out.out else None


def test_a_real_campaign_at_forty_random_moments(make_study, capsys):
    """All processes of the campaign are stopped: the numbers are those of its journals, cut at that moment."""
    study = with_references(make_study(ARMS, seeds=tuple(range(1, 21)), horizon=600.0))
    chance, wait = random.Random(17), threading.Event().wait
    live, compared, shown = LiveStudy(study.path), 0, 0
    process = study.start("-j", "2")
    try:
        # Of two runs at a time, most have said something; on a busy machine that takes more moments.
        while compared < MOMENTS or shown < MOMENTS:
            wait(chance.uniform(0.0, 0.1))
            with stopped(process.pid):
                state, expected = live.look(), scored(study.path, capsys)
                assert process.poll() is None
                assert state["current"]
                if expected is None:
                    assert state["arms"] == []
                else:
                    for name in ("arms", "coverage", "reference", "alarms"):
                        assert state[name] == expected[name], name
                for run in state["running"].values():
                    shown += compare_with_journal(study.path, run)
            compared += 1
    finally:
        live.close()
        process.send_signal(signal.SIGINT)
        process.communicate()


@contextlib.contextmanager
def stopped(runner):
    """Stop a runner and everything that it started, also what it starts in this moment."""
    found = [runner]
    os.kill(runner, signal.SIGSTOP)
    while new := [pid for pid in descendants(runner) if pid not in found]:
        for pid in new:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
        found += new
    try:
        yield
    finally:
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def compare_with_journal(path, run):
    """Compare a run under way with its journal, worked out in fractions; return whether there was anything to see."""
    cell = next(
        cell for cell in Plan.of(load_contract(path)).cells if cell.key == (run["arm"], run["instance"], run["seed"])
    )
    journal = read_journal(cell.directory(path) / f"attempt-{run['attempt']:03d}")
    said = [(event.time, event.objective) for event in journal.events if event.is_candidate]
    better = [one for place, one in enumerate(said) if all(one[1] < other for _, other in said[:place])]
    # Of candidates at one time the best counts: a busy machine delivers several lines at once.
    steps = [one for place, one in enumerate(better) if place + 1 == len(better) or better[place + 1][0] != one[0]]
    assert run["captured"] == len(said)
    assert run["trace"] == {"time": [time for time, _ in steps], "objective": [value for _, value in steps]}
    if not steps or run["scores"] is None:
        return False
    reference, known = Fraction(REFERENCES[run["instance"]]), Fraction(run["known"])
    gaps = [(Fraction(value) - reference) / (Fraction(value) + reference) for _, value in steps]
    times = [Fraction(time) for time, _ in steps]
    area = times[0] + sum(
        gap * (after - time) for gap, time, after in zip(gaps, times, [*times[1:], known], strict=True)
    )
    assert run["incumbent"] == steps[-1][1]
    assert run["gap"]["squeezed"] == pytest.approx(float(gaps[-1]), rel=1e-12)
    # The time up to which it is known is printed in milliseconds.
    assert run["scores"]["squeezed"] == pytest.approx(float(area / known), rel=1e-12, abs=1e-3 / float(known))
    assert run["bounds"]["squeezed"]["low"] <= float(area / known) or known < run["horizon"]
    return True


def test_a_real_campaign_at_its_end(make_study, capsys):
    """Once all is done, the numbers that a client has are those of `gapline score`."""
    study = with_references(make_study(ARMS, seeds=(1,), horizon=600.0))
    with serving(study.path) as served:
        process = study.start("-j", "2")
        listener = Listener(served)
        process.communicate()
        document = listener.until(lambda one: one.document.get("phase") == "finished")
        expected = scored(study.path, capsys)
        assert document["arms"] == expected["arms"]
        assert document["coverage"] == expected["coverage"]
        for one in document["bounds"]["squeezed"]["arms"]:
            (row,) = [row for row in document["arms"] if row["arm"] == one["arm"]]
            assert one["low"] == one["high"] == row["scores"]["squeezed"]
        listener.close()


def test_a_runner_that_is_killed_is_said_to_be_dead_and_goes_on(make_study, capsys):
    study = with_references(make_study({"a": ["scripted", "1", "30", "0.1"]}, seeds=(1, 2), horizon=600.0))
    # As often as for people: a look every few seconds.
    with serving(study.path, before="") as served:
        listener = Listener(served)
        process = study.start("-j", "1")
        listener.until(lambda one: any(run["incumbent"] for run in one.document.get("running", {}).values()))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        document = listener.until(lambda one: one.document["phase"] == "stopped")
        assert document["runner"]["alive"] is False
        assert document["runner"]["resume"].startswith(f"gapline run {study.path}")
        listener.until(lambda one: one.document["progress"]["interrupted"] == 1)
        again = study.start("-j", "1")
        listener.until(lambda one: one.document["phase"] == "running")
        os.kill(again.pid, signal.SIGINT)
        again.communicate()
        document = listener.until(lambda one: one.document["phase"] == "stopped")
        assert document["progress"]["done"] >= 1
        assert document["arms"] == scored(study.path, capsys)["arms"]
        listener.close()


def test_a_server_that_is_killed_is_not_noticed_by_the_runs(make_study):
    study = with_references(make_study({"a": ["scripted", "1", "20", "0.05"]}, seeds=(1, 2), horizon=600.0))
    with serving(study.path) as served:
        process = study.start("-j", "1")
        listener = Listener(served)
        listener.until(lambda one: one.document.get("running"))
        served.kill()
        listener.close()
        _, err = process.communicate()
    assert process.returncode == 0, err
    assert gl.open(study.path / "campaign").runs["status"].to_list() == ["finished"] * 4


def test_deterministic_arms_give_the_same_candidates_with_and_without_a_server(make_study, tmp_path):
    alone = with_references(make_study({"a": ["scripted", "1", "10", "0.01"], "b": ["scripted", "2", "5", "0.02"]}))
    watched = ScriptedStudy(tmp_path / "watched")
    shutil.copytree(alone.path, watched.path)
    assert alone.run().returncode == 0
    with serving(watched.path) as served:
        listener = Listener(served)
        assert watched.run().returncode == 0
        document = listener.until(lambda one: one.document.get("phase") == "finished")
        listener.close()
    assert document["progress"]["done"] == 8
    found = candidates(watched.path)
    assert [len(said) for said in found.values()] == [10] * 4 + [5] * 4
    assert found == candidates(alone.path)


def candidates(path):
    """What the solvers of a study said, times aside."""
    campaign = gl.open(path / "campaign")
    rows = campaign.runs.select("arm", "instance", "seed", "first", "count").iter_rows()
    return {f"{a}/{i}/{s}": campaign.objective[f : f + n].tolist() for a, i, s, f, n in rows}


def test_nothing_of_a_run_is_touched_by_who_watches(make_study):
    """No lock is tried: a second runner never finds a cell taken by the one who looks."""
    study = with_references(make_study(ARMS, seeds=(1,), horizon=600.0))
    process = study.start("-j", "2")
    live = LiveStudy(study.path)
    while process.poll() is None:
        live.look()
    _, err = process.communicate()
    live.close()
    assert process.returncode == 0, err
    assert "busy" not in err
    assert "held by" not in err
