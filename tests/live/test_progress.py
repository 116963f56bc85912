"""How far a study is, and about how long the rest takes."""

from gapline.journal.plan_coverage import CellState
from gapline.live.journal_follower import Follower
from gapline.live.progress import (
    MOST_FAILURES,
    coverage_states,
    failure_of,
    last_lines,
    newest_failures,
    seconds_left,
)
from live_studies import live_study


def test_the_time_left_follows_from_the_horizons_and_the_runs_at_a_time(tmp_path):
    with live_study(tmp_path / "study", seeds=(1, 2), horizon=10.0) as study:
        study.begin("a/i1/1")
        study.begin("b/i1/1")
        study.run("a/j1/1", [])
        follower = Follower(study.path, study.cells, checked=False)
        follower.look()
        running = follower.running()
        # Two under way, of which one has 4 seconds left, and five to come.
        assert seconds_left(follower, {running[0]: 6.0}) == (64.0, 32.0)
        stages = follower.stages
        assert +stages == {CellState.RUNNING: 2, CellState.DONE: 1, CellState.MISSING: 5}
        assert coverage_states(stages) == {"running": 2, "interrupted": 0, "missing": 5, "unchecked": 0}
        assert failure_of(running[0]) is None


def test_the_last_run_takes_its_horizon_however_many_cores_there_are(tmp_path):
    with live_study(tmp_path / "study", horizon=10.0) as study:
        for cell in study.cells:
            study.begin(str(cell.key))
        follower = Follower(study.path, study.cells, checked=False)
        follower.look()
        elapsed = dict.fromkeys(follower.running(), 9.0) | {follower.running()[0]: 2.0}
        assert seconds_left(follower, elapsed) == (11.0, 8.0)


def test_of_a_log_the_last_lines_are_read_whatever_they_hold(tmp_path):
    log = tmp_path / "stderr.log"
    assert last_lines(log) == []
    log.write_bytes(b"\xff\x00 one\ntwo")
    assert last_lines(log) == ["\ufffd\x00 one", "two"]
    log.write_bytes(b"x" * 10_000)
    assert [len(line) for line in last_lines(log)] == [4096]


def test_many_failures_are_counted_and_the_newest_shown():
    shown = [one["n"] for one in newest_failures([{"n": n} for n in range(60)])]
    assert shown == list(range(59, 59 - MOST_FAILURES, -1))
