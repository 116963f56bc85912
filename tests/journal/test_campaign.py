"""From attempts to rows: which attempt counts, which verdicts count, and what a row carries."""

import shutil
from pathlib import Path

import msgspec
import pytest

from gapline.contract.layout import slug
from gapline.contract.tables import RunKey
from gapline.errors import TraceError, UsageError
from gapline.journal.campaign import read_study, solution_digest
from gapline.journal.checker_choice import find_judges
from gapline.journal.line import EVENTS_FILE, JournalWriter
from gapline.journal.rebuild import rebuild_campaign
from gapline.journal.records import Ending, Order


def write_attempt(
    study: Path,
    objectives: list[float],
    *,
    number: int = 1,
    cause: str | None = "exit",
    arm: str = "a",
    ending: dict[str, object] | None = None,
    **facts: object,
) -> Path:
    attempt = study / "journal" / arm / f"attempt-{number:03d}"
    attempt.mkdir(parents=True)
    carried = {"validation": "solver", "tier": 1} | facts
    order = Order(
        arm=arm, instance="i", seed=1, panel="p", horizon=1.0, attempt=number, argv=["x"], carried=carried, load=0.5
    )
    writer = JournalWriter(attempt / EVENTS_FILE)
    writer.append([b'"start":' + msgspec.json.encode(order)])
    writer.append(
        b'"t":%.1f,"say":{"objective":%.1f,"solution":[%d]}' % (0.4 * (k + 1), value, k)
        for k, value in enumerate(objectives)
    )
    if cause is not None:
        how = {"exit_code": 0} | (ending or {})
        record = Ending(cause=cause, started="2026-08-01T12:00:00+00:00", elapsed=1.0, **how)
        writer.append([b'"end":' + msgspec.json.encode(record)])
    writer.close()
    return attempt


def write_verdicts(
    attempt: Path,
    version: str,
    values: list[float | None],
    *,
    checked: str = "2026-08-02",
    name: str = "c",
    failed: bool = False,
) -> None:
    lines = [{"checker": name, "version": version, "checked": checked, "candidates": len(values)}]
    lines += [
        {"seq": k, "valid": None if failed else v is not None, "objective": v} for k, v in enumerate(values, start=1)
    ]
    path = attempt / f"verdicts-{name}-{version}.jsonl"
    path.write_bytes(b"\n".join(map(msgspec.json.encode, lines)) + b"\n")


def test_the_first_whole_attempt_counts_not_the_best(tmp_path):
    write_attempt(tmp_path, [5.0], cause=None)
    write_attempt(tmp_path, [9.0], number=2)
    write_attempt(tmp_path, [7.0], number=3)
    campaign = read_study(tmp_path)
    assert campaign.objective.tolist() == [9.0]
    assert campaign.runs["attempts"].to_list() == [3]
    assert campaign.interrupted == ()


def test_superseded_attempts_are_counted_by_why_they_do_not_count(tmp_path):
    """Nothing in them could not be read: they are no problems of the reading."""
    write_attempt(tmp_path, [5.0], cause=None)
    write_attempt(tmp_path, [5.0], number=2, cause="interrupted")
    changed = write_attempt(tmp_path, [6.0], number=3) / EVENTS_FILE
    changed.write_bytes(changed.read_bytes().replace(b"6.0", b"1.0"))
    write_attempt(tmp_path, [7.0], number=4, ending={"foreign_share": 0.9})
    write_attempt(tmp_path, [9.0], number=5)
    write_attempt(tmp_path, [4.0], number=6)
    campaign = read_study(tmp_path)
    diagnostics = campaign.diagnostics
    assert campaign.objective.tolist() == [9.0]
    assert (diagnostics.problems, diagnostics.problem_count) == ((), 0)
    because = {
        "cut short": 2,
        "changed after it was written": 1,
        "disturbed by others": 1,
        "whole, but not the first": 1,
    }
    assert diagnostics.superseded == because
    assert sum(because.values()) == campaign.runs["attempts"][0] - 1
    superseded, quarantined = diagnostics.notes
    assert superseded == (
        "5 attempts superseded by the one that counts: 1 changed after it was written, 2 cut short, "
        "1 disturbed by others, 1 whole, but not the first"
    )
    assert quarantined.startswith(f"1 journal changed after being written, quarantined: {changed}:2:")


def test_processes_left_behind_and_events_over_the_cap_have_their_own_counts(tmp_path):
    write_attempt(tmp_path, [9.0], cause="interrupted", ending={"leftover": 1})
    write_attempt(tmp_path, [9.0], number=2, ending={"leftover": 2, "dropped": {"events over the cap": 7}})
    write_attempt(tmp_path, [9.0], arm="b", ending={"dropped": {"stdout bytes": 100}})
    diagnostics = read_study(tmp_path).diagnostics
    assert (diagnostics.problem_count, diagnostics.left_behind, diagnostics.over_cap) == (0, 3, 7)
    assert diagnostics.notes[1:] == (
        "processes that outlived the clearing of their run: 3, of 1 cell (a/i/1)",
        "events over the cap of a journal, which are not in it: 7, of 1 run (a/i/1)",
    )
    assert diagnostics.attempts_document() == {
        "superseded": 1,
        "superseded_because": {"cut short": 1},
        "left_behind": 3,
        "over_cap": 7,
    }


@pytest.mark.parametrize("cause", ["interrupted", "runner lost", "infrastructure", "start", None])
def test_a_cell_without_a_whole_attempt_is_interrupted_and_no_run(tmp_path, cause):
    write_attempt(tmp_path, [9.0], cause=cause)
    write_attempt(tmp_path, [8.0, 7.0], number=2, cause=cause)
    write_attempt(tmp_path, [6.0], arm="b")
    campaign = read_study(tmp_path)
    assert campaign.runs["arm"].to_list() == ["b"]
    assert campaign.objective.tolist() == [6.0]
    assert campaign.interrupted == (RunKey("a", "i", 1),)
    assert campaign.diagnostics.notes == ("1 cell interrupted, without a whole attempt: a/i/1",)


def test_a_cell_whose_only_journal_was_changed_is_interrupted_and_named(tmp_path):
    path = write_attempt(tmp_path, [9.0]) / EVENTS_FILE
    path.write_bytes(path.read_bytes().replace(b"9.0", b"1.0"))
    campaign = read_study(tmp_path)
    assert (len(campaign), campaign.interrupted) == (0, (RunKey("a", "i", 1),))
    assert campaign.diagnostics.problems == ()
    assert f"1 journal changed after being written, quarantined: {path}:2:" in campaign.diagnostics.notes[1]


@pytest.mark.parametrize(
    ("facts", "status"),
    [
        ({"exit_code": 3}, "crashed"),
        ({"exit_code": None, "signal": "SIGKILL"}, "killed"),
        ({"exit_code": 0}, "finished"),
    ],
)
def test_a_whole_run_that_ended_badly_or_found_nothing_stays_a_run(tmp_path, facts, status):
    write_attempt(tmp_path, [], ending=facts)
    campaign = read_study(tmp_path)
    assert campaign.runs.select("status", "count").rows() == [(status, 0)]
    assert campaign.interrupted == ()


def test_late_candidates_are_counted_and_do_not_give_the_best_solution(tmp_path):
    write_attempt(tmp_path, [9.0, 8.0, 1.0])
    campaign = read_study(tmp_path)
    assert campaign.diagnostics.late == 1
    assert campaign.runs["best_solution_digest"].to_list() == [solution_digest(b"[1]")]


def test_a_solution_has_one_digest_however_it_was_written():
    assert solution_digest(b'{"b": 1.0, "a": [1, 2]}') == solution_digest(b'{"a":[1,2],"b":1}')
    assert solution_digest(b"[1]") != solution_digest(b"[2]")
    assert solution_digest(None) is None
    assert solution_digest(b"[1e400]") is not None


def test_options_of_different_types_share_a_column_as_text(tmp_path):
    write_attempt(tmp_path, [9.0], arm="a", slices=24, effort=1)
    write_attempt(tmp_path, [9.0], arm="b", slices="mean", effort=1.5)
    write_attempt(tmp_path, [9.0], arm="c")
    runs = read_study(tmp_path).runs
    assert runs["slices"].to_list() == ["24", "mean", None]
    assert runs["effort"].to_list() == [1.0, 1.5, None]


def test_columns_have_their_type_even_when_nothing_is_in_them(tmp_path):
    write_attempt(tmp_path, [])
    schema = read_study(tmp_path).runs.schema
    assert str(schema["signal"]) == "String"
    assert str(schema["exit_code"]) == "Int64"
    assert str(schema["started"]) == "String"


def test_verdicts_that_cover_more_runs_win_then_the_later_ones(tmp_path):
    cells = [write_attempt(tmp_path, [9.0], arm=arm, validation="checker") for arm in ("a", "b")]
    write_verdicts(cells[0], "1", [5.0])
    write_verdicts(cells[1], "1", [5.0])
    write_verdicts(cells[0], "2", [4.0], checked="2026-09-01")
    assert [judge.label for judge in find_judges(tmp_path.glob("journal/*"))] == ["c 1", "c 2"]
    assert read_study(tmp_path).objective.tolist() == [5.0, 5.0]
    write_verdicts(cells[1], "2", [None], checked="2026-09-01")
    campaign = read_study(tmp_path)
    assert campaign.objective.tolist() == [4.0, 9.0]
    assert campaign.verdict.tolist() == [1, 0]
    assert campaign.facts["checker"] == "c 2"


def test_the_count_of_cells_decides_then_the_date_and_not_the_name(tmp_path):
    cells = [write_attempt(tmp_path, [9.0], arm=arm, validation="checker") for arm in ("a", "b", "c")]
    for cell in cells:
        write_verdicts(cell, "1", [5.0], checked="2026-08-01")
    write_verdicts(cells[0], "2", [4.0], checked="2026-09-01")
    assert [judge.label for judge in find_judges(tmp_path.glob("journal/*"))] == ["c 1", "c 2"]
    for cell in cells[1:]:
        write_verdicts(cell, "2", [4.0], checked="2026-07-01")
    # Both judged all three; what counts is the last day of each.
    assert [judge.label for judge in find_judges(tmp_path.glob("journal/*"))] == ["c 2", "c 1"]
    write_verdicts(cells[2], "1", [5.0], checked="2026-10-01")
    assert [judge.label for judge in find_judges(tmp_path.glob("journal/*"))] == ["c 1", "c 2"]


CONTRACT = """
seeds = [1]
[study]
name = "s"
[objective]
checker = "cvrp"
[time]
horizon = 1
[[instances]]
path = "i"
[[arms]]
name = "a"
solver = "pyvrp"
"""


def test_the_contracts_checker_counts_and_another_only_when_it_is_asked_for(tmp_path):
    """However many runs the other one judged, and however late."""
    (tmp_path / "study.toml").write_text(CONTRACT)
    cells = [write_attempt(tmp_path, [9.0], arm=arm, validation="checker") for arm in ("a", "b")]
    write_verdicts(cells[0], "1", [5.0], name="cvrp")
    for cell in cells:
        write_verdicts(cell, "9", [4.0], checked="2026-12-31")
    campaign = read_study(tmp_path)
    assert (campaign.objective.tolist(), campaign.verdict.tolist()) == ([5.0, 9.0], [1, 2])
    assert campaign.facts == {"checker": "cvrp 1"}
    assert campaign.diagnostics.notes[0] == "verdicts of cvrp 1; those of c 9 are left out"
    for named in ("c", "c 9"):
        other = read_study(tmp_path, checker=named)
        assert (other.objective.tolist(), other.verdict.tolist()) == ([4.0, 4.0], [1, 1])
        assert other.facts == {"checker": "c 9"}
    with pytest.raises(UsageError, match=r"--checker: expected a checker that judged these runs, got 'mip'"):
        read_study(tmp_path, checker="mip")


def test_the_best_solution_is_the_largest_where_the_contract_maximises(tmp_path):
    """And it is found again when the contract turns: what stands on disk was the best of the other sense."""
    (tmp_path / "study.toml").write_text(CONTRACT)
    write_attempt(tmp_path, [8.0, 9.0])

    def best():
        return rebuild_campaign(tmp_path).runs["best_solution_digest"].to_list()

    assert best() == [solution_digest(b"[0]")]
    (tmp_path / "study.toml").write_text(CONTRACT.replace("[time]", 'sense = "max"\n[time]'))
    assert best() == [solution_digest(b"[1]")]


def test_where_the_contracts_checker_judged_nothing_candidates_stay_unchecked_and_that_is_said(tmp_path):
    (tmp_path / "study.toml").write_text(CONTRACT)
    write_verdicts(write_attempt(tmp_path, [9.0], validation="checker"), "9", [4.0])
    campaign = read_study(tmp_path)
    assert (campaign.facts, campaign.diagnostics.unchecked) == ({}, 1)
    assert "verdicts of c 9 are left out: the contract's checker is cvrp" in campaign.diagnostics.notes[0]


def test_a_version_that_fails_does_not_take_over_from_one_that_judged(tmp_path):
    cells = [write_attempt(tmp_path, [9.0, 8.0], arm=arm, validation="checker") for arm in ("a", "b")]
    write_verdicts(cells[0], "1", [5.0, 4.0])
    for cell in cells:
        write_verdicts(cell, "2", [None, None], checked="2026-12-31", failed=True)
    assert [judge.label for judge in find_judges(tmp_path.glob("journal/*"))] == ["c 1", "c 2"]


def test_a_checker_that_is_asked_for_vouches_where_the_contract_takes_the_solvers_word(tmp_path):
    write_verdicts(write_attempt(tmp_path, [9.0, 8.0]), "1", [5.0, None])
    assert read_study(tmp_path).verdict.tolist() == [1, 1]
    campaign = read_study(tmp_path, checker="c")
    assert (campaign.verdict.tolist(), campaign.runs["validation"].to_list()) == ([1, 0], ["checker"])


def test_a_verdict_file_that_cannot_be_read_is_named(tmp_path):
    attempt = write_attempt(tmp_path, [9.0], validation="checker")
    write_verdicts(attempt, "1", [5.0])
    path = attempt / "verdicts-c-1.jsonl"
    path.write_bytes(path.read_bytes() + b"{")
    campaign = read_study(tmp_path)
    # The valid prefix of a torn file counts.
    assert campaign.verdict.tolist() == [1]
    assert "verdicts-c-1.jsonl: expected a whole last line, got 1 bytes of one" in campaign.diagnostics.problems[0]
    path.write_bytes(path.read_bytes() + b"\n")
    campaign = read_study(tmp_path)
    assert campaign.verdict.tolist() == [2]
    assert campaign.diagnostics.unchecked == 1
    assert "verdicts-c-1.jsonl:3: " in campaign.diagnostics.problems[0]
    assert "quarantined" in campaign.diagnostics.problems[0]


def test_verdicts_of_before_there_were_checksums_count_and_are_said_to_be_unprotected(tmp_path):
    attempt = write_attempt(tmp_path, [9.0], validation="checker")
    write_verdicts(attempt, "1", [5.0])
    campaign = read_study(tmp_path)
    assert campaign.objective.tolist() == [5.0]
    assert campaign.diagnostics.notes[0].startswith("verdicts on 1 run have no checksums, as earlier versions wrote")


def test_a_copy_of_a_cell_and_files_of_others_are_named_and_left_out(tmp_path):
    write_attempt(tmp_path, [9.0])
    own = tmp_path / "journal" / slug(RunKey("a", "i", 1))
    (tmp_path / "journal" / "a").rename(own)
    before = read_study(tmp_path)
    shutil.copytree(own, own.with_name(own.name + ".bak"))
    shutil.copytree(own / "attempt-001", own / "attempt-001.bak")
    (own / ".DS_Store").touch()
    after = read_study(tmp_path)
    assert after.digest() == before.digest()
    (note,) = after.diagnostics.notes
    assert note.startswith("3 files or folders in the journal are not of gapline and left out: ")
    assert all(name in note for name in (f"{own.name}.bak", "attempt-001.bak", ".DS_Store"))


def test_an_attempt_that_does_not_say_what_it_is_of_is_named_and_the_others_count(tmp_path):
    write_attempt(tmp_path, [9.0])
    lost = tmp_path / "journal" / "b" / "attempt-001"
    lost.mkdir(parents=True)
    (lost / "run.json").write_bytes(b'{"arm": "\xff"}')
    campaign = read_study(tmp_path)
    assert len(campaign) == 1
    assert "b/attempt-001/run.json: expected an order, got" in campaign.diagnostics.problems[0]


def test_a_journal_of_a_newer_gapline_is_refused(tmp_path):
    attempt = tmp_path / "journal" / "a" / "attempt-001"
    attempt.mkdir(parents=True)
    order = Order(
        arm="a", instance="i", seed=1, panel="p", horizon=1.0, attempt=1, argv=["x"], schema="gapline.journal/9"
    )
    writer = JournalWriter(attempt / EVENTS_FILE)
    writer.append([b'"start":' + msgspec.json.encode(order)])
    writer.close()
    with pytest.raises(TraceError, match=r"gapline\.journal/9"):
        read_study(tmp_path)


def test_a_study_without_journals_is_an_empty_campaign(tmp_path):
    assert len(read_study(tmp_path)) == 0
