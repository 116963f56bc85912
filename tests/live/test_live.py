"""The document of a study at any moment: its numbers are those of `gapline score` on the same journals."""

import json
import shutil

import pytest

import gapline as gl
from gapline.cli.app import run as gapline
from gapline.live.state import LiveStudy
from live_studies import live_study, still

STEPS = {
    "a/i1/1": [(1.0, 30.0), (4.0, 12.0)], "a/j1/1": [(0.5, 60.0)], "b/i1/1": [(2.0, 11.0)], "b/j1/1": [],
    "a/i1/2": [(3.0, 9.0)], "b/i1/2": [(0.0, 50.0), (9.0, 10.5)],
}  # fmt: skip


@pytest.fixture
def study(tmp_path):
    with live_study(tmp_path / "study", seeds=(1, 2)) as written:
        yield written


def scored(study, capsys, *options):
    capsys.readouterr()
    code = gapline(["score", str(study.path), "--json", *options])
    out = capsys.readouterr()
    assert code in (0, 1), out.err
    return json.loads(out.out)


def test_a_study_that_has_not_begun(study):
    state = LiveStudy(study.path, clock=still).look()
    assert (state["phase"], state["arms"], state["refused"]["message"]) == (
        "not begun", [], "expected runs to score, got none",
    )  # fmt: skip
    assert state["runner"]["resume"] == f"gapline run {study.path}"
    assert state["progress"]["planned"] == state["progress"]["left"] == 8
    assert state["bounds"]["squeezed"]["arms"][0] | {"low": 0, "high": 0} == {
        "arm": "a",
        "low": 0,
        "high": 0,
        "open": 4,
    }


def test_at_every_moment_the_table_is_that_of_score(study, capsys):
    live = LiveStudy(study.path, clock=still)
    live.look()
    for name, steps in STEPS.items():
        study.run(name, steps)
        state, expected = live.look(), scored(study, capsys)
        for field in ("arms", "reference", "kernels", "weighting", "horizons", "coverage", "alarms"):
            assert state[field] == expected[field], field
    assert live.table.fulls == 2
    assert live.table.joined == len(STEPS) - 1


def test_what_joined_run_by_run_is_what_is_read_at_once(study):
    live = LiveStudy(study.path, clock=still)
    live.look()
    for name, steps in STEPS.items():
        study.run(name, steps)
        live.look()
    joined, read = live.look(), LiveStudy(study.path, clock=still).look()
    for field in ("arms", "coverage", "bounds", "beaten", "progress", "rejected_arms"):
        assert joined[field] == read[field], field


def test_an_arm_whose_first_run_says_that_its_model_is_simplified_is_not_ranked(tmp_path, capsys):
    with live_study(tmp_path / "study", arms=("a", "b", "quick")) as study:
        live = LiveStudy(study.path, clock=still)
        for name in ("a/i1/1", "a/j1/1", "b/i1/1", "b/j1/1"):
            study.run(name, [(1.0, 30.0)])
        assert arms_placed(live.look()) == {}
        study.begin("quick/i1/1")
        said = {"solver": "quick", "version": "1", "model": "mean travel times"}
        study.writers["quick/i1/1"].append([b'"t":0.5,"say":' + json.dumps(said).encode()])
        study.say("quick/i1/1", 1.0, 20.0)
        study.end("quick/i1/1")
        state, expected = live.look(), scored(study, capsys)
        for field in ("arms", "instance_set", "coverage"):
            assert state[field] == expected[field], field
        assert arms_placed(state) == {"a": 1, "b": 1}
        pairs = [(pair["a"], pair["b"]) for pair in state["bounds"]["squeezed"]["pairs"]]
        assert pairs == [("a", "b")]


def arms_placed(state):
    return {arm: one["rank"] for arm, one in state["ranking"]["arms"].get("squeezed", {}).items()}


def test_a_reference_that_is_folded_from_the_runs_is_folded_anew(tmp_path, capsys):
    with live_study(tmp_path / "study", policy="analysis", seeds=(1, 2)) as study:
        clock = [0.0]
        live = LiveStudy(study.path, clock=lambda: clock[0])
        live.look()
        for name, steps in STEPS.items():
            study.run(name, steps)
            clock[0] += 1000.0
            state = live.look()
            assert state["current"]
            assert state["arms"] == scored(study, capsys)["arms"]
        assert live.table.joined == 0


def test_what_is_read_anew_takes_a_small_share_of_the_time(tmp_path, monkeypatch):
    monkeypatch.setattr("gapline.live.table.ALLOWANCE", 0.5)
    with live_study(tmp_path / "study", policy="analysis", seeds=(1, 2)) as study:
        clock = [0.0]

        def tick():
            clock[0] += 0.25
            return clock[0]

        live = LiveStudy(study.path, clock=tick)
        live.look()
        current = []
        for name, steps in STEPS.items():
            study.run(name, steps)
            current.append(live.look()["current"])
        assert current[0]
        assert not current[-1]
        clock[0] += 1000.0
        assert live.look()["current"]


def test_a_run_under_way_shows_its_trace_its_gap_and_its_bounds(study):
    study.begin("a/i1/1")
    study.say("a/i1/1", 1.0, 30.0)
    study.say("a/i1/1", 2.0, 40.0)
    study.say("a/i1/1", 3.0, 20.0)
    state = LiveStudy(study.path, clock=still).look()
    run = state["running"]["a/i1/1"]
    assert run["trace"] == {"time": [1.0, 3.0], "objective": [30.0, 20.0]}
    assert (run["incumbent"], run["reference"], run["known"], run["best_possible"]) == (20.0, 10.0, 3.0, None)
    assert run["gap"]["squeezed"] == pytest.approx(1 / 3)
    bounds = run["bounds"]["squeezed"]
    past = 1 + 2 * 0.5
    assert bounds["held"] == pytest.approx((past + 7 / 3) / 10)
    assert bounds["high"] == pytest.approx(bounds["held"])
    assert bounds["low"] == pytest.approx((past - 7) / 10)
    assert bounds["to_reference"] == pytest.approx(past / 10)
    assert run["scores"]["squeezed"] == bounds["so_far"] == pytest.approx(past / 3)


def test_a_certified_reference_and_a_dual_bound_are_the_best_that_is_possible(tmp_path):
    with live_study(tmp_path / "study", certified=["i1"]) as study:
        study.begin("a/i1/1")
        study.say("a/i1/1", 1.0, 30.0)
        study.begin("a/j1/1")
        study.say("a/j1/1", 1.0, 30.0)
        study.bound("a/j1/1", 2.0, 16.0)
        running = LiveStudy(study.path, clock=still).look()["running"]
        assert running["a/i1/1"]["bounds"]["squeezed"]["low"] == pytest.approx(1 / 10)
        # Known up to 1: the bound came later, but it holds for all times.
        assert running["a/j1/1"]["bounds"]["squeezed"]["low"] == pytest.approx((1 + 0.2 + 8 * (16 - 20) / 36) / 10)


def test_claims_of_a_run_under_way_are_no_more_than_claims(tmp_path):
    with live_study(tmp_path / "study", checker="cvrp") as study:
        study.begin("a/i1/1")
        study.say("a/i1/1", 1.0, 20.0, solution=[1])
        state = LiveStudy(study.path, clock=still).look()
        run = state["running"]["a/i1/1"]
        assert run["checked"] is False
        bounds = run["bounds"]["squeezed"]
        assert bounds["claimed"]["high"] == pytest.approx((1 + 9 / 3) / 10)
        assert bounds["high"] == pytest.approx(1)
        assert bounds["low"] == pytest.approx((1 - 9) / 10)


def test_the_runner_is_alive_as_long_as_its_process_is_and_then_its_command_is_given(study, monkeypatch):
    study.begin("a/i1/1")
    live = LiveStudy(study.path, clock=still)
    state = live.look()
    assert (state["phase"], state["runner"]["alive"]) == ("running", True)
    study.end("a/i1/1", cause="runner lost")
    monkeypatch.setattr("gapline.journal.claims.began", lambda _pid: None)
    state = live.look()
    assert (state["phase"], state["runner"]["alive"], state["progress"]["interrupted"]) == ("stopped", False, 1)
    assert state["runner"]["words"] == "the runner died; 8 runs are left"
    assert state["runner"]["resume"] == f"gapline run {study.path}"
    assert [event["kind"] for event in state["events"][:2]] == ["runner", "interrupted"]


def test_failures_come_with_the_last_lines_of_their_standard_error(study):
    live = LiveStudy(study.path, clock=still)
    live.look()
    attempt = study.begin("a/i1/1")
    (attempt / "stderr.log").write_text("one\n" * 3000 + "Segmentation fault\n")
    study.end("a/i1/1", exit_code=None, signal="SIGSEGV")
    state = live.look()
    (failure,) = state["failures"]
    assert (failure["status"], failure["cause"], failure["stderr"][-1]) == ("crashed", "SIGSEGV", "Segmentation fault")
    assert len(failure["stderr"]) == 10
    assert state["progress"]["failed"] == 1
    assert "failed" in [event["kind"] for event in state["events"]]


def test_an_arm_whose_candidates_are_all_rejected_shows_at_the_first_sign(study):
    study.begin("a/i1/1")
    study.say("a/i1/1", 1.0, "nan")
    state = LiveStudy(study.path, clock=still).look()
    assert state["rejected_arms"] == [{"arm": "a", "candidates": 1, "reasons": {"objective not a number": 1}}]


def test_beaten_references_and_alarms_ring_while_the_run_is_under_way(tmp_path):
    with live_study(tmp_path / "study", certified=["i1"]) as study:
        study.run("b/i1/1", [(1.0, 30.0)])
        study.begin("a/i1/1")
        study.say("a/i1/1", 1.0, 9.0)
        live = LiveStudy(study.path, clock=still)
        state = live.look()
        (beaten,) = state["beaten"]
        assert (beaten["instance"], beaten["value"], beaten["running"]) == ("i1", 9.0, True)
        (alarm,) = state["running_alarms"]
        assert alarm["kind"] == "a candidate is better than a certified optimum"
        assert {"alarm", "beaten"} <= {event["kind"] for event in state["events"]}
        study.end("a/i1/1")
        state = live.look()
        assert [alarm["instance"] for alarm in state["alarms"]] == ["i1"]


def test_a_candidate_that_cannot_be_scored_is_a_problem_of_its_run_alone(study):
    study.begin("a/i1/1")
    study.say("a/i1/1", 1.0, -3.0)
    study.begin("b/i1/1")
    study.say("b/i1/1", 1.0, 30.0)
    running = LiveStudy(study.path, clock=still).look()["running"]
    assert "positive" in running["a/i1/1"]["problem"]
    assert running["b/i1/1"]["incumbent"] == 30.0


def test_nothing_is_written_into_the_study(study):
    study.run("a/i1/1", STEPS["a/i1/1"])
    study.begin("b/i1/1")
    study.say("b/i1/1", 1.0, 30.0)
    before = {path: path.stat().st_mtime_ns for path in study.path.rglob("*")}
    live = LiveStudy(study.path, clock=still)
    for _ in range(3):
        live.look()
    live.close()
    assert {path: path.stat().st_mtime_ns for path in study.path.rglob("*")} == before


@pytest.mark.slow
def test_score_report_and_status_work_while_it_runs(study, capsys, tmp_path):
    study.run("a/i1/1", STEPS["a/i1/1"])
    study.run("b/i1/1", STEPS["b/i1/1"])
    study.begin("a/j1/1")
    study.say("a/j1/1", 1.0, 30.0)
    study.begin("b/j1/1", claimed=False)
    found = scored(study, capsys)
    assert found["coverage"] | {"complete": False} == found["coverage"]
    counts = {name: found["coverage"][name] for name in ("runs", "planned", "running", "interrupted", "missing")}
    assert counts == {"runs": 2, "planned": 8, "running": 1, "interrupted": 1, "missing": 4}
    assert not (study.path / "campaign").exists()
    assert gapline(["report", str(study.path), "-o", str(tmp_path / "out"), "--format", "svg"]) == 0
    assert "2 of 8 planned runs, 1 running, 1 interrupted, 4 missing" in (tmp_path / "out" / "report.html").read_text()
    capsys.readouterr()
    assert gapline(["status", str(study.path), "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert (status["done"], status["running"], status["interrupted"], status["missing"]) == (2, 1, 1, 4)


def test_a_study_of_which_nothing_is_whole_says_what_is_under_way(study, capsys):
    study.begin("a/i1/1")
    assert gapline(["score", str(study.path)]) == 1
    assert "got none that is whole (1 under way)" in capsys.readouterr().err


def test_an_old_campaign_is_not_taken_for_what_the_journals_say_now(study, capsys):
    """A campaign is written when a runner ends; the next one is at work."""
    from gapline.journal.rebuild import rebuild_campaign

    study.run("a/i1/1", STEPS["a/i1/1"])
    rebuild_campaign(study.path)
    assert scored(study, capsys)["coverage"]["runs"] == 1
    study.run("b/i1/1", STEPS["b/i1/1"])
    study.begin("a/j1/1")
    found = scored(study, capsys)
    assert (found["coverage"]["runs"], found["coverage"]["running"]) == (2, 1)
    live = LiveStudy(study.path, clock=still)
    assert found["arms"] == live.look()["arms"]
    live.close()


def test_a_copy_of_a_running_study_has_no_runner(study, tmp_path):
    study.run("a/i1/1", STEPS["a/i1/1"])
    study.begin("b/i1/1")
    shutil.copytree(study.path, tmp_path / "copy")
    campaign = gl.read(tmp_path / "copy")
    assert (len(campaign), len(campaign.running), len(campaign.interrupted)) == (1, 0, 1)
