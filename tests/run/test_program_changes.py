"""A program or an instance that changes while a campaign runs is noticed before the next run starts."""

import json
import os
import re
import sys

import pytest

import gapline
from gapline.campaign.store import file_digest
from gapline.cli.app import run as command_line
from gapline.contract.contract import Arm
from gapline.contract.plan import Plan
from gapline.contract.study_file import load_contract
from gapline.errors import IntegrityError
from gapline.run.campaign import run_study
from gapline.run.program_changes import digest_of, program_digests, refuse_changed
from gapline.run.progress import Progress
from gapline.run.resume import study_status

PROGRAM = "#!/bin/sh\necho '{\"objective\": %d}'\n"


@pytest.fixture
def study(make_study):
    """Four cells of a program that stands beside the contract."""
    made = make_study({"silent": ["silent"]})
    program = made.path / "mine"
    program.write_text(PROGRAM % 4)
    program.chmod(0o755)
    contract = made.path / "study.toml"
    text = contract.read_text()
    contract.write_text(
        text[: text.index("[[arms]]")] + "[[arms]]\nname='mine'\nsolver='command'\ncommand=['./mine']\n"
    )
    return made


class AfterTheFirst(Progress):
    """Does something when the first run has come back."""

    def __init__(self, action):
        self.action = action

    def advance(self, cell, result):  # noqa: ARG002
        action, self.action = self.action, lambda: None
        action()


def test_a_program_that_changes_stops_the_campaign_at_the_next_cell(study):
    program = study.path / "mine"
    before = file_digest(program)
    with pytest.raises(IntegrityError) as stopped:
        run_study(study.path, jobs=1, progress=AfterTheFirst(lambda: program.write_text(PROGRAM % 3)))
    after = file_digest(program)
    assert re.search(
        rf"program mine changed while the campaign ran: expected {before}, got {after}", str(stopped.value)
    )
    # With one job a second cell may have been begun before the first was told of, and none after that.
    done = len(gapline.open(study.path / "campaign"))
    assert done in (1, 2)
    assert len(study.attempts()) == done
    # Going on with the new one is a decision of the user, and is said.
    assert run_study(study.path).left == 0
    (warning,) = study_status(study.path).warnings
    assert before in warning
    assert after in warning


def test_an_instance_that_changes_stops_the_campaign_at_the_next_cell(study, capsys, monkeypatch):
    files = [study.path / "instances" / name for name in ("one.txt", "two.txt")]
    change = AfterTheFirst(lambda: [file.write_text("other\n") for file in files])
    monkeypatch.setattr("gapline.run.progress.progress_for_terminal", lambda: change)
    assert command_line(["run", str(study.path), "-j", "1"]) == 1
    said = capsys.readouterr().err
    assert re.search(
        r"instance instances/\w+\.txt changed while the campaign ran: expected sha256:\w+, got sha256", said
    )


def test_other_bytes_of_the_same_problem_are_no_change(study):
    file = study.path / "instances" / "one.txt"
    change = AfterTheFirst(lambda: file.write_bytes(file.read_bytes().replace(b"\n", b"  \r\n")))
    assert run_study(study.path, jobs=1, progress=change).left == 0


def test_what_a_contract_names_is_looked_at(tmp_path):
    (tmp_path / "solver.py").write_text("pass")
    arm = Arm(name="a", solver="command", command=[sys.executable, "solver.py", "{instance}", "--fast"])
    assert set(program_digests(arm, tmp_path)) == {"solver.py", sys.executable}
    packaged = program_digests(Arm(name="b", solver="highs"), tmp_path)
    assert packaged["highs"].startswith("highspy ")


def test_a_file_outside_the_study_is_not_looked_at_on_another_machine(study):
    (cell, *_) = Plan.of(load_contract(study.path)).cells
    cell.arm.command[:] = [sys.executable, "mine"]
    programs = {"mine": {sys.executable: "sha256:of another machine"}}
    refuse_changed(cell, study.path, programs=programs, instances={}, elsewhere=True)
    with pytest.raises(IntegrityError, match="of another machine"):
        refuse_changed(cell, study.path, programs=programs, instances={})


def test_a_file_of_the_same_size_and_time_is_read_again(tmp_path):
    file = tmp_path / "x"
    file.write_text("one")
    first, facts = digest_of(file), file.stat()
    file.write_text("two")
    os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert digest_of(file) != first


def test_the_journal_names_what_ran(study):
    run_study(study.path)
    order = json.loads((study.attempts()[0] / "run.json").read_text())
    assert order["programs"] == {"mine": file_digest(study.path / "mine")}
