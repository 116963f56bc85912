"""Attempts are packed without the machine, and each is still a journal that verifies."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapline.contract.layout import slug
from gapline.contract.tables import RunKey
from gapline.errors import IntegrityError
from gapline.journal.line import EVENTS_FILE, ORDER_FILE, JournalWriter
from gapline.journal.read import JournalState, read_journal
from gapline.journal.records import order_text, read_order
from gapline.journal.verdicts import Judge, StoredVerdict, read_verdicts, write_verdicts
from gapline.package.attempts import attempt_files, scrub_order, stage_attempts, survey_attempts
from gapline.package.scrub import Scrubber
from journal.sample_journal import END, ORDER
from profiles import examples

STUDY = "/home/jane/study"


def order_of(**changes):
    machine = {"host": "node7", "python": "3.11"}
    return msgspec.structs.replace(ORDER, directory=STUDY, machine=machine, **changes)


def write_attempt(study, order, said, *, number=1, name=None):
    """Write an attempt with lines of a solver, given as JSON; return its folder."""
    cell = name or slug(RunKey(order.arm, order.instance, order.seed))
    attempt = study / "journal" / cell / f"attempt-{number:03}"
    attempt.mkdir(parents=True)
    (attempt / ORDER_FILE).write_bytes(order_text(order))
    writer = JournalWriter(attempt / EVENTS_FILE)
    writer.append([b'"start":' + msgspec.json.encode(order)])
    writer.append([b'"t":%f,"say":%b' % (0.1 * place, one) for place, one in enumerate(said, 1)])
    writer.append([b'"end":' + msgspec.json.encode(END)])
    writer.close()
    return attempt


def staged(study, folder, *, keep=False):
    surveyed = survey_attempts(study)
    stage_attempts(surveyed, folder, None if keep else surveyed.scrubber())
    return sorted(folder.glob("journal/*/attempt-*"))


def test_an_order_loses_its_machine_and_keeps_its_names():
    order = {"arm": "node7", "instance": "/x/y", "machine": {"host": "node7", "processor": "node7 CPU"}, "load": None}
    clean = scrub_order(order, Scrubber({"node7": "host-1"}, names=["node7"]), "x")
    # An arm may be called as the machine is.
    assert clean == order | {"machine": {"host": "host-1", "processor": "node7 CPU"}}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text('a/é"\\ ', max_size=9) | st.sampled_from([STUDY, "node7"]),
    lambda one: st.lists(one, max_size=3) | st.dictionaries(st.text("ab/", max_size=3), one, max_size=3),
    max_leaves=6,
)


@settings(max_examples=examples(30))
@given(said=st.lists(st.dictionaries(st.sampled_from(["objective", "solution", "log", "bound"]), JSON), max_size=4))
def test_a_packed_journal_is_a_journal_with_the_same_candidates(tmp_path_factory, said):
    study, folder = tmp_path_factory.mktemp("study"), tmp_path_factory.mktemp("folder")
    lines = [msgspec.json.encode(one) for one in said]
    before = read_journal(write_attempt(study, order_of(), lines))
    write_verdicts(before, Judge("c", "1", "c"), checked="now", candidates=1, verdicts=[StoredVerdict(1, True, 2.0)])
    (attempt,) = staged(study, folder)
    after = read_journal(attempt)
    assert after.state is before.state is JournalState.WHOLE
    # Compared as text: a number that is none is not equal to itself.
    assert list(map(str, after.events)) == list(map(str, before.events))
    assert after.order == read_order(attempt)
    assert (after.order.directory, after.order.machine["host"]) == (".", "host-1")
    (verdicts,) = read_verdicts(after)
    assert (verdicts.usable, verdicts.judged) == (True, 1)


def test_hosts_are_numbered_by_cell_and_attempt(tmp_path):
    orders = [order_of(instance=name, attempt=number) for name, number in (("b", 1), ("a", 1), ("a", 2))]
    for order, host in zip(orders, ("third", "first", "second"), strict=True):
        machine = order.machine | {"host": host}
        write_attempt(tmp_path, msgspec.structs.replace(order, machine=machine), [], number=order.attempt)
    assert survey_attempts(tmp_path).hosts == ("first", "second", "third")


def test_a_copy_of_a_run_is_none(tmp_path):
    write_attempt(tmp_path, order_of(), [])
    write_attempt(tmp_path, order_of(), [], name="copy")
    surveyed = survey_attempts(tmp_path)
    assert surveyed.copies == ("journal/copy",)
    assert len(surveyed.attempts) == 1


def test_files_of_others_are_not_taken(tmp_path):
    attempt = write_attempt(tmp_path, order_of(), [])
    for name in ("stderr.log", ".hidden.log", "notes.txt", "verdicts-c-1.jsonl"):
        (attempt / name).write_text("x")
    assert attempt_files(attempt) == [EVENTS_FILE, ORDER_FILE, "stderr.log", "verdicts-c-1.jsonl"]


def test_verdicts_are_found_again_where_their_checker_was_called_by_a_path(tmp_path):
    """The name of a second file of one checker follows from how it was asked for."""
    journal = read_journal(write_attempt(tmp_path / "s", order_of(), [b'{"objective":1}']))
    for given_as in ("command:./mine", f"command:{STUDY}/mine"):
        judge = Judge("command:mine", "1", given_as)
        write_verdicts(journal, judge, checked="now", candidates=1, verdicts=[StoredVerdict(1, False, None, STUDY)])
    (attempt,) = staged(tmp_path / "s", tmp_path / "p")
    found = read_verdicts(read_journal(attempt))
    assert [one.problems() for one in found] == [[], []]
    assert sorted(one.head.given for one in found) == ["command:./mine", "command:mine"]
    assert {one.by_sequence[1].reason for one in found} == {"."}


def test_verdicts_of_before_there_were_checksums_stay_so(tmp_path):
    attempt = write_attempt(tmp_path / "s", order_of(), [b'{"objective":1}'])
    old = b'{"checker":"c","version":"1","checked":"then","candidates":1}\n{"seq":1,"valid":true,"objective":1.0}\n'
    (attempt / "verdicts-c-1.jsonl").write_bytes(old)
    (attempt,) = staged(tmp_path / "s", tmp_path / "p")
    assert (attempt / "verdicts-c-1.jsonl").read_bytes() == old


@pytest.mark.parametrize("name", [EVENTS_FILE, "verdicts-c-1.jsonl"])
def test_all_damage_is_named_at_once(tmp_path, name):
    for instance in ("a", "b"):
        attempt = write_attempt(tmp_path / "s", order_of(instance=instance), [b'{"objective":1}'])
        write_verdicts(read_journal(attempt), Judge("c", "1"), checked="", candidates=1, verdicts=[StoredVerdict(1)])
        data = (attempt / name).read_bytes()
        (attempt / name).write_bytes(data.replace(b'"seq":1', b'"seq":7'))
    with pytest.raises(IntegrityError, match="got 2 files that do not") as refused:
        staged(tmp_path / "s", tmp_path / "p")
    assert str(refused.value).count(name) == 2
