"""The state of a study in 80 columns."""

from gapline.contract.study_file import load_contract
from gapline.journal.register import declare, register_plan
from gapline.live.state import LiveStudy
from gapline.live.table import curves_document
from gapline.live.watch import PlainLines, clipped, duration, screen_lines
from live_studies import live_study, still

LONG = "a solver with a very long name indeed, longer than a column has room for, \x1b[2J and hostile"


def test_every_line_fits_eighty_columns_and_shows_the_facts(tmp_path):
    with live_study(tmp_path / "study", arms=("a", LONG), certified=["i1"]) as study:
        study.run("a/i1/1", [(1.0, 9.0)])
        attempt = study.begin(f"{LONG}/i1/1")
        (attempt / "stderr.log").write_text("boom\n")
        study.end(f"{LONG}/i1/1", exit_code=3)
        study.begin("a/j1/1")
        study.say("a/j1/1", 1.0, 30.0)
        live = LiveStudy(study.path, clock=still)
        state = live.look()
        lines = screen_lines(state, curves_document(live.table), width=80, height=24)
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 24
    text = "\n".join(lines)
    assert "\x1b" not in text
    assert lines[0].startswith("live: running; 2 done (1 failed), 1 running, 1 left of 4; about")
    assert "ALARM i1: a candidate is better than a certified optimum" in lines[1]
    assert "still between" in text
    assert "█" in text
    assert "incumbent a/j1/1: 30 at 1.00 s" in text
    assert "failed a solver" in text


def test_a_runner_that_died_is_said_with_the_command_that_goes_on(tmp_path):
    with live_study(tmp_path / "study") as study:
        study.begin("a/i1/1", claimed=False)
        lines = screen_lines(LiveStudy(study.path, clock=still).look())
        assert "the runner or its machine stopped without a word; 4 runs are left" in lines
        # However long the path is, all of the command is there.
        assert f"go on with: gapline run {study.path}".replace(" ", "") in "".join(lines).replace(" ", "")
        assert "no run is whole yet" in lines


def test_before_the_first_run_it_says_how_to_begin_and_has_no_table(tmp_path):
    with live_study(tmp_path / "study") as study:
        lines = screen_lines(LiveStudy(study.path, clock=still).look(), width=500)
    assert lines == [
        "live: not begun; 0 done, 4 left of 4",
        "nothing was run yet",
        f"begin with: gapline run {study.path}",
    ]


def test_an_alarm_has_both_sides_and_arms_without_a_valid_candidate_are_named(tmp_path):
    with live_study(tmp_path / "study", certified=["i1"]) as study:
        study.run("a/i1/1", [(1.0, 9.0)])
        study.begin("b/i1/1")
        study.say("b/i1/1", 0.5, "not a number")
        text = " ".join(line.strip() for line in screen_lines(LiveStudy(study.path, clock=still).look()))
    assert "ALARM i1: a candidate is better than a certified optimum: 10.0 (" in text
    assert ") against 9.0 (run a/i1/1" in text
    assert "REJECTED b: 1 candidate, none valid: objective not a number" in text


def test_beaten_references_and_a_changed_contract_come_before_the_table(tmp_path):
    with live_study(tmp_path / "study", policy="retrospective") as study:
        register_plan(study.path, declare(study.path, load_contract(study.path)))
        study.run("a/i1/1", [(1.0, 9.0)])
        contract = study.path / "study.toml"
        contract.write_text(contract.read_text().replace("[time]", '[time]\nmachine = "another"'))
        live = LiveStudy(study.path, clock=still)
        state = live.look()
        lines, said = screen_lines(state, width=200), []
        PlainLines(said.append).end(state, {})
    late = "note: the plan was registered after the runs began"
    head = ["1 reference beaten: i1", late, "note: changed after the first run: time machine: nothing became another"]
    for found in (lines, said):
        table = next(
            place for place, line in enumerate(found) if line.split()[:2] in (["arm", "runs"], ["rank", "arm"])
        )
        for one in head:
            assert any(line.startswith(one) for line in found[:table]), one


def test_arms_stand_best_first_and_once_all_is_done_nothing_is_open(tmp_path):
    with live_study(tmp_path / "study", instances={"i1": 10.0}) as study:
        study.run("a/i1/1", [(0.0, 12.0)])
        study.run("b/i1/1", [(0.0, 11.0)])
        lines = screen_lines(LiveStudy(study.path, clock=still).look())
    assert [line.split() for line in lines[2:]] == [
        ["rank", "arm", "runs", "squeezed"],
        ["1", "b", "1", "0.04762"],
        ["2", "a", "1", "0.09091"],
        ["ranked", "on", "1", "cell"],
    ]


def test_decided_pairs_are_named_while_runs_are_open(tmp_path):
    with live_study(tmp_path / "study", instances={"i1": 10.0}, seeds=(1, 2)) as study:
        for seed in (1, 2):
            study.run(f"a/i1/{seed}", [(0.0, 10.0)])
        study.run("b/i1/1", [])
        study.begin("b/i1/2")
        study.say("b/i1/2", 9.9, 1000.0)
        assert "decided: a before b" in screen_lines(LiveStudy(study.path, clock=still).look())


def test_a_study_that_cannot_be_read_has_its_reason():
    state = {"study": {"name": "x"}, "phase": "unreadable", "refused": {"message": "no"}, "events": [], "arms": [],
             "alarms": [], "running_alarms": []}  # fmt: skip
    assert screen_lines(state)[:2] == ["x: unreadable", "no"]


def test_times_and_cuts():
    assert [duration(seconds) for seconds in (0, 59.4, 600, 7200)] == ["0 s", "59 s", "10 min", "2.0 h"]
    assert clipped("abc", 3) == "abc"
