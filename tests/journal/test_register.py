"""The register of plans: what was declared before the data stays what it was, and what came later says so."""

import datetime
import fcntl
import json
import multiprocessing
import os
import threading
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from gapline.contract.plan import Plan
from gapline.contract.study_file import load_contract
from gapline.errors import IntegrityError
from gapline.journal import register as module
from gapline.journal.register import Register, declare, read_register, register_plan

SNAPSHOT = "sha256:" + "5" * 64


@pytest.fixture
def study(make_study) -> Path:
    path = make_study({"a": ["silent"], "b": ["silent"]}).path
    (path / "references").mkdir()
    (path / "references" / "r.json").write_text(json.dumps({"name": "r", "digest": SNAPSHOT}))
    append(path, '\n[reference]\nsnapshot = "references/r.json"\n[aggregate]\ncontrasts = [["a", "b"]]\n')
    return path


def append(study: Path, text: str) -> None:
    """Put tables before the first one of the contract's lists, where TOML wants them."""
    contract = study / "study.toml"
    head, mark, rest = contract.read_text().partition("[[instances]]")
    contract.write_text(f"{head}{text}\n{mark}{rest}")


def register(study: Path, **identities):
    facts = {"checker": None, "solvers": {"a": "x 1", "b": "y 1"}} | identities
    return register_plan(study, declare(study, load_contract(study), **facts))


def begin_a_run(study: Path) -> None:
    (study / "journal" / "cell" / "attempt-001").mkdir(parents=True)


def test_the_first_plan_holds_what_was_declared_and_the_digests_of_the_files(study):
    register(study, checker="c 1")
    (entry,) = read_register(study).entries
    assert entry == read_register(study).first
    assert entry.moment.endswith("+00:00")
    assert (entry.begun, entry.previous, entry.planned) == (0, None, 8)
    assert entry.plan == Plan.of(load_contract(study)).digest
    assert entry.snapshots == {"references/r.json": SNAPSHOT}
    # printf '1\n' | sha256sum
    assert entry.instances["one"] == "sha256:4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865"
    assert (entry.checker, entry.solvers) == ("c 1", {"a": "x 1", "b": "y 1"})
    assert (entry.policy, entry.kernel, entry.weight, entry.weighting) == ("frozen", ["squeezed"], "uniform", "panel")
    assert (entry.goals, entry.tolerance, entry.horizon) == ([0.0, 0.01, 0.05], 1e-9, 60.0)
    assert (entry.tiers, entry.seeds) == ({"a": 1, "b": 1}, [1, 2])
    assert read_register(study).snapshot_digests() == {SNAPSHOT}
    assert read_register(study).declared_contrasts() == [("a", "b")]
    assert read_register(study).changes() == []


def test_the_same_facts_are_not_written_twice(study):
    register(study, checker="c 1")
    before = (study / "journal" / "register.jsonl").read_bytes()
    begin_a_run(study)
    register(study, checker="c 1")
    # Nobody looked at the checker this time: that is no change.
    register(study, checker=None)
    assert (study / "journal" / "register.jsonl").read_bytes() == before


def test_a_change_after_the_runs_is_a_new_line_and_the_first_stays(study):
    register(study)
    before = (study / "journal" / "register.jsonl").read_bytes()
    begin_a_run(study)
    contract = study / "study.toml"
    contract.write_text(contract.read_text().replace('[["a", "b"]]', '[["b", "a"]]'))
    (study / "references" / "r.json").write_text(json.dumps({"digest": "sha256:" + "6" * 64}))
    assert read_register(study).changes() == [
        f"snapshots references/r.json: {SNAPSHOT} became sha256:{'6' * 64} (not registered yet)",
        'contrasts: [["a","b"]] became [["b","a"]] (not registered yet)',
    ]
    register(study, solvers={"a": "x 1", "b": "y 2"})
    assert (study / "journal" / "register.jsonl").read_bytes().startswith(before)
    found = read_register(study)
    assert [entry.begun for entry in found.entries] == [0, 1]
    assert found.declared_contrasts() == [("a", "b")]
    assert found.snapshot_digests() == {SNAPSHOT}
    assert found.changes() == [
        f"snapshots references/r.json: {SNAPSHOT} became sha256:{'6' * 64} (at {found.entries[1].moment})",
        f"solvers b: y 1 became y 2 (at {found.entries[1].moment})",
        f'contrasts: [["a","b"]] became [["b","a"]] (at {found.entries[1].moment})',
    ]


def test_what_was_not_stated_before_is_named_as_nothing(study):
    register(study)
    begin_a_run(study)
    contract = study / "study.toml"
    contract.write_text(contract.read_text().replace("[time]", '[time]\nmachine = "one"'))
    assert read_register(study).changes() == ["time machine: nothing became one (not registered yet)"]


def test_an_edit_that_changes_no_choice_is_named_as_such(study):
    register(study)
    begin_a_run(study)
    append(study, "[score]\nkernel = 'squeezed'")
    assert read_register(study).changes() == [
        "study.toml was edited, and nothing that is registered changed by it (not registered yet)"
    ]


def test_authors_licence_and_comments_are_no_change_of_the_plan(study):
    register(study)
    begin_a_run(study)
    contract = study / "study.toml"
    text = contract.read_text(encoding="utf-8")
    stated = '[study]\ntitle = "A title"\nlicence = "CC-BY-4.0"\nauthors = [{ family = "Lovelace" }]\ndate = 2026-08-01'
    contract.write_text("# a remark\n" + text.replace("[study]", stated), encoding="utf-8")
    assert read_register(study).changes() == []
    register(study)
    found = read_register(study)
    # The file is another one, which a line of its own says.
    assert len({entry.contract for entry in found.entries}) == len(found.entries) == 2
    assert len({entry.experiment for entry in found.entries}) == 1
    assert found.changes() == []
    # The name is no metadata: it stands in file names and snapshots.
    contract.write_text(text.replace("[study]\nname = ", "[study]\nname = 'an' #"), encoding="utf-8")
    assert found.changes() == [
        "study.toml was edited, and nothing that is registered changed by it (not registered yet)"
    ]


def test_of_a_line_from_before_the_experiment_had_a_digest_an_edit_is_named(study):
    register(study)
    begin_a_run(study)
    entry = msgspec.structs.replace(read_register(study).entries[0], experiment=None)
    append(study, "# a remark")
    assert Register(study, (entry,)).changes() == [
        "study.toml was edited, and nothing that is registered changed by it (not registered yet)"
    ]


def test_a_plan_that_changes_before_any_run_is_the_one_that_counts(study):
    register(study)
    append(study, "[score]\nweight = 'end-log:0.1'")
    register(study)
    found = read_register(study)
    assert len(found.entries) == 2
    assert found.first.weight == "end-log:0.1"
    assert found.changes() == []


def test_a_plan_that_is_first_registered_after_runs_declares_nothing_beforehand(study):
    """So it is for runs of an older version, and for a register that was deleted and made again."""
    begin_a_run(study)
    assert read_register(study).entries == ()
    register(study)
    found = read_register(study)
    assert (len(found.entries), found.first) == (1, None)
    assert (found.snapshot_digests(), found.declared_contrasts()) == (frozenset(), [])


def test_what_counts_as_registered_beforehand_is_earlier_than_the_start_of_the_first_run(study):
    """Attempts that were moved away for a moment are not counted; when they started stays in their journals."""
    register(study)
    (entry,) = read_register(study).entries
    long_ago = datetime.datetime(2001, 1, 1, tzinfo=datetime.UTC)
    found = replace(read_register(study), start=long_ago)
    assert (entry.begun, found.first, found.late_digests()) == (0, None, {SNAPSHOT})
    assert (found.snapshot_digests(), found.declared_contrasts()) == (frozenset(), [])
    assert found.has_contrasts([("b", "a")])
    assert not found.has_contrasts([("a", "c")])
    assert found.notes() == [
        f"the plan was registered after the runs began: at {entry.moment}, the first run started at "
        "2001-01-01T00:00:00+00:00"
    ]
    # To the microsecond: a short run may end in the second in which the plan is registered.
    moment = datetime.datetime.fromisoformat(entry.moment)
    assert replace(found, start=moment).first is None
    assert replace(found, start=moment + datetime.timedelta(microseconds=1)).first == entry


def test_a_snapshot_that_is_not_there_yet_is_not_registered(study):
    (study / "references" / "r.json").unlink()
    register(study)
    assert read_register(study).snapshot_digests() == frozenset()


@pytest.fixture
def three_lines(study) -> Path:
    register(study)
    begin_a_run(study)
    for number in (2, 3):
        register(study, solvers={"a": f"x {number}"})
    return study / "journal" / "register.jsonl"


@pytest.mark.parametrize("line", [1, 2, 3])
def test_any_edited_line_is_refused_and_named(three_lines, line):
    lines = three_lines.read_bytes().splitlines(keepends=True)
    lines[line - 1] = lines[line - 1].replace(b'"policy":"frozen"', b'"policy":"analysis"')
    three_lines.write_bytes(b"".join(lines))
    with pytest.raises(IntegrityError, match=rf"register\.jsonl:{line}: the line was changed: expected digest sha256:"):
        read_register(three_lines.parent.parent)


@pytest.mark.parametrize(
    ("order", "line"), [([1, 2], 1), ([0, 2], 2), ([0, 2, 1], 2), ([0, 0, 1, 2], 2), ([0, 1, 1, 2], 3)]
)
def test_lines_that_are_dropped_swapped_or_doubled_are_refused(three_lines, order, line):
    lines = three_lines.read_bytes().splitlines(keepends=True)
    three_lines.write_bytes(b"".join(lines[k] for k in order))
    with pytest.raises(IntegrityError, match=rf"register\.jsonl:{line}: a line before it is missing"):
        read_register(three_lines.parent.parent)


def test_a_line_that_was_cut_is_refused_wherever_and_nothing_is_added_to_it(three_lines, study):
    whole = three_lines.read_bytes()
    start = whole.rindex(b"\n", 0, -1) + 1
    for cut in range(start + 1, len(whole)):
        three_lines.write_bytes(whole[:cut])
        with pytest.raises(IntegrityError, match=r"register\.jsonl:3: expected a whole line"):
            read_register(study)
    with pytest.raises(IntegrityError, match=r"register\.jsonl:3"):
        register(study)
    assert three_lines.read_bytes() == whole[:-1]


def test_a_line_re_sealed_by_hand_breaks_the_chain(three_lines):
    """Who edits a line and computes its digest anew still leaves a next line that follows another one."""
    first, *rest = three_lines.read_bytes().splitlines(keepends=True)
    entry = msgspec.json.decode(first, type=module.Entry)
    forged = module._seal(msgspec.structs.replace(entry, policy="analysis"))
    three_lines.write_bytes(b"".join([forged, *rest]))
    with pytest.raises(IntegrityError, match=r"register\.jsonl:2: a line before it is missing"):
        read_register(three_lines.parent.parent)


def test_a_full_disk_leaves_the_lines_that_were_there(three_lines, study, monkeypatch):
    before = three_lines.read_bytes()
    write = os.write

    def short(file, data):
        write(file, data[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", short)
    with pytest.raises(OSError, match="No space"):
        register(study, solvers={"a": "x 9"})
    assert three_lines.read_bytes() == before


def _register_in_a_process(study: Path, gate) -> None:
    gate.wait()
    register(study)


def test_runners_that_come_at_once_write_one_line(study):
    """Each reads and writes under a lock on the file: eight at the same gate leave one line."""
    context = multiprocessing.get_context("fork")
    gate = context.Barrier(8)
    runners = [context.Process(target=_register_in_a_process, args=(study, gate)) for _ in range(8)]
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.join()
    assert len(read_register(study).entries) == 1


def test_a_runner_waits_while_another_one_holds_the_register(study):
    register(study)
    with (study / "journal" / "register.jsonl").open("rb+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        waiting = threading.Thread(target=register, args=(study,), kwargs={"solvers": {"a": "x 2"}})
        waiting.start()
        waiting.join(0.05)
        assert waiting.is_alive()
        assert len(read_register(study).entries) == 1
    waiting.join()
    assert len(read_register(study).entries) == 2


def test_a_file_that_appears_later_is_a_change_that_gets_noticed(study):
    contract = study / "study.toml"
    text = contract.read_text()
    head = text[: text.index("[[instances]]")]
    arms = text[text.index("[[arms]]") :]
    contract.write_text(f'{head}[[instances]]\npath = "instances/*"\n{arms}')
    register(study)
    begin_a_run(study)
    assert read_register(study).changes() == []
    (study / "instances" / "late.txt").write_text("3\n")
    changes = read_register(study).changes()
    assert any(change.startswith("planned: 8 became 12") for change in changes)
    assert any(change.startswith("instances late: none became sha256:") for change in changes)


def test_what_some_runs_are_given_is_registered(study):
    register(study)
    begin_a_run(study)
    append(study, '[[where]]\narm = "a"\nmemory = 512\n')
    (study / "study.toml").write_text((study / "study.toml").read_text() + "threads = 2\n")
    changes = read_register(study).changes()
    assert 'where: [] became [{"memory":512,"arm":"a"}] (not registered yet)' in changes
    assert 'allotted arm b: none became {"threads":2} (not registered yet)' in changes


def test_lines_from_before_runs_could_differ_say_nothing_of_it(study):
    old = declare(study, load_contract(study))
    register_plan(study, msgspec.structs.replace(old, where=None, allotted=None))
    begin_a_run(study)
    assert read_register(study).changes() == []


def test_a_method_that_was_removed_is_named_as_it_was_registered(study):
    today = declare(study, load_contract(study))
    register_plan(study, msgspec.structs.replace(today, bootstrap=today.bootstrap | {"method": "bca"}))
    begin_a_run(study)
    assert read_register(study).changes() == ["bootstrap method: bca became skew-t (not registered yet)"]
