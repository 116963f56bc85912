"""A journal that was read is not read again, unless any of its files is another one; the index is never needed."""

import os
import random
import shutil

import msgspec
import pytest
from torture.flips import flip
from torture.journals import build

from gapline.contract.layout import INDEX, JOURNALS
from gapline.journal import index as index_module
from gapline.journal.attempts import attempts_of, cells_of
from gapline.journal.index import Index, open_index
from gapline.journal.line import EVENTS_FILE, ORDER_FILE, seal, unseal
from gapline.journal.read import Journal, JournalState, Outcome, read_journal
from gapline.journal.verdicts import Judge, StoredVerdict, read_verdicts, write_verdicts


@pytest.fixture
def study(tmp_path):
    return build(tmp_path / "study")


def look(study):
    """Return what is said of every attempt, and how many journals were parsed for it."""
    with open_index(study) as index:
        seen = {
            str(attempt.relative_to(study)): index.read(attempt)
            for cell in cells_of(study)
            for attempt in attempts_of(cell)
        }
        return {name: facts(one) for name, one in seen.items()}, index.parsed


def facts(seen):
    outcome = {name: getattr(seen.outcome, name) for name in Outcome.__slots__}
    verdicts = [(one.path, one.head, one.judged, one.torn, one.damage, one.sealed) for one in seen.verdicts]
    return outcome, verdicts


def only_attempt(study, arm="a"):
    (attempt,) = study.glob(f"{JOURNALS}/{arm}_*/attempt-001")
    return attempt


def test_what_is_known_equals_what_is_read_and_nothing_is_parsed_twice(study):
    read, parsed = look(study)
    assert parsed == 3
    known, parsed = look(study)
    assert (known, parsed) == (read, 0)
    outcome, verdicts = known[str(only_attempt(study).relative_to(study))]
    journal = read_journal(only_attempt(study))
    assert outcome == {name: getattr(journal, name) for name in Outcome.__slots__}
    assert outcome["asked"] == len(journal.questions()) == 6
    assert verdicts[0][1:3] == (read_verdicts(journal)[0].head, 6)


def keep_times(path, change):
    """Change a file and set its time of modification back, as `touch -r` does."""
    before = path.stat()
    change(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def test_a_change_that_keeps_size_and_time_is_noticed(study):
    look(study)
    keep_times(
        only_attempt(study) / EVENTS_FILE,
        lambda path: path.write_bytes(path.read_bytes().replace(b'"objective":37', b'"objective":17')),
    )
    with open_index(study) as index:
        assert index.read(only_attempt(study)).outcome.state is JournalState.QUARANTINED
        assert index.parsed == 1
    # What was changed is never in the index: it is read, and named, each time.
    assert look(study)[1] == 1


def test_a_journal_in_the_place_of_another_is_read(study):
    look(study)
    path = only_attempt(study) / EVENTS_FILE

    def swap(path):
        path.rename(path.with_name("old"))
        shutil.copy(path.with_name("old"), path)

    keep_times(path, swap)
    assert look(study)[1] == 1
    assert look(study)[1] == 0


def test_an_order_that_was_changed_is_named(study):
    look(study)
    path = only_attempt(study) / ORDER_FILE
    path.write_bytes(path.read_bytes().replace(b'"seed": 1', b'"seed": 2'))
    with open_index(study) as index:
        assert index.read(only_attempt(study)).outcome.order_problems()


def test_other_verdicts_are_read_and_the_journal_is_not(study):
    look(study)
    attempt = only_attempt(study)
    given = [StoredVerdict(1, valid=True), StoredVerdict(2)]
    write_verdicts(read_journal(attempt), Judge("c", "2"), checked="2026-08-03", candidates=6, verdicts=given)
    with open_index(study) as index:
        seen = index.read(attempt)
        assert [one.unchecked for one in seen.verdicts] == [0, 5]
        assert index.parsed == 0
        assert [one.unchecked for one in index.verdicts(attempt)[0]] == [0, 5]
    (attempt / "verdicts-c-2.jsonl").unlink()
    with open_index(study) as index:
        assert len(index.read(attempt).verdicts) == 1
        assert index.parsed == 0


def test_an_attempt_that_was_added_is_read_and_one_that_was_removed_is_gone(study):
    look(study)
    attempt = only_attempt(study)
    shutil.copytree(attempt, attempt.with_name("attempt-002"))
    found, parsed = look(study)
    assert (len(found), parsed) == (4, 1)
    shutil.rmtree(attempt)
    found, parsed = look(study)
    assert (len(found), parsed) == (3, 0)


def test_an_attempt_that_has_not_ended_is_read_each_time(study):
    path = only_attempt(study) / EVENTS_FILE
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    assert [look(study)[1] for _ in range(2)] == [3, 1]


@pytest.mark.parametrize("case", range(60))
def test_whatever_becomes_of_the_index_the_answers_are_the_same(study, case):
    """Flipped, cut, doubled, mixed or appended to: lines that do not verify are read again and written anew."""
    read, _ = look(study)
    path, draw = study / JOURNALS / INDEX, random.Random(case)
    data = path.read_bytes()
    damage = [
        lambda: flip(data, draw),
        lambda: flip(data, draw, times=20),
        lambda: data[: draw.randrange(len(data))],
        lambda: data + data[: draw.randrange(len(data))],
        lambda: b"\n".join(draw.sample(data.split(b"\n"), 3)),
        lambda: data + draw.choice([b"\0" * 99, b"{}\n", b'{"at":"x"}\n', b"\xff\n"]),
    ]
    path.write_bytes(draw.choice(damage)())
    assert look(study)[0] == read
    assert look(study) == (read, 0)


@pytest.mark.parametrize("by", ["0.0.1/1", "99.0/7", ""])
def test_a_line_of_another_version_is_not_believed(study, by):
    read, _ = look(study)
    path = study / JOURNALS / INDEX
    lines = []
    for line in path.read_bytes().splitlines():
        document = msgspec.json.decode(unseal(line, 0)[0]) | {"by": by}
        lines.append(seal(msgspec.json.encode(document)[:-1], 0)[0])
    path.write_bytes(b"".join(lines))
    assert look(study) == (read, 3)
    assert look(study) == (read, 0)


def test_two_who_read_at_once_both_add_what_they_read(study):
    with open_index(study) as one, open_index(study) as other:
        one.read(only_attempt(study, "a"))
        other.read(only_attempt(study, "b"))
    with open_index(study) as index:
        for arm in "ab":
            index.read(only_attempt(study, arm))
        assert index.parsed == 0


def test_an_index_that_cannot_be_written_stops_nobody(study):
    (study / JOURNALS / INDEX).mkdir()
    assert [look(study)[1] for _ in range(2)] == [3, 3]


def test_lines_that_were_replaced_are_left_out_in_time(study, monkeypatch):
    monkeypatch.setattr(index_module, "_WASTE", 3)
    attempt = only_attempt(study)
    for _ in range(20):
        os.utime(attempt / EVENTS_FILE)
        look(study)
    assert len((study / JOURNALS / INDEX).read_bytes().splitlines()) < 14
    assert look(study)[1] == 0


def test_damage_below_the_file_system_is_found_when_everything_is_read_anew_and_remembered(study, monkeypatch):
    """A disk that forgets a bit changes no size and no time."""
    look(study)
    attempt = only_attempt(study)
    before, facts_of = index_module._facts(attempt), index_module._facts
    path = attempt / EVENTS_FILE
    path.write_bytes(path.read_bytes().replace(b'"objective":37', b'"objective":17'))
    monkeypatch.setattr(index_module, "_facts", lambda one: before if one == attempt else facts_of(one))
    with open_index(study) as index:
        assert index.read(attempt).outcome.state is JournalState.WHOLE
        assert index.read_anew(attempt).outcome.state is JournalState.QUARANTINED
        assert index.read_anew(only_attempt(study, "b")).outcome.state is JournalState.WHOLE
    with open_index(study) as index:
        assert index.read(attempt).outcome.state is JournalState.QUARANTINED
        assert not isinstance(index.read(only_attempt(study, "b")).outcome, Journal)


def test_what_changed_a_moment_ago_is_read_once_its_time_says_so(study, monkeypatch):
    """Two changes inside one tick of the clock have one time: what may change unseen is waited for or not kept."""
    newest = max(path.stat().st_ctime for path in only_attempt(study).iterdir())
    slept = []
    monkeypatch.setattr(index_module.time, "sleep", slept.append)
    monkeypatch.setattr(index_module.time, "time", lambda: newest + 0.005)
    with open_index(study) as index:
        index.read(only_attempt(study))
    assert slept == [pytest.approx(index_module.TICK - 0.005, abs=1e-4)]
    monkeypatch.setattr(index_module.time, "time", lambda: newest - 60.0)
    os.utime(only_attempt(study) / EVENTS_FILE)
    with open_index(study) as index:
        assert index.read(only_attempt(study)).mark is None
    assert len(slept) == 1


def test_what_was_learned_apart_is_taken_over_with_the_damage_that_was_found(study, monkeypatch):
    look(study)
    attempt = only_attempt(study)
    before, facts_of = index_module._facts(attempt), index_module._facts
    path = attempt / EVENTS_FILE
    path.write_bytes(path.read_bytes().replace(b'"objective":37', b'"objective":17'))
    monkeypatch.setattr(index_module, "_facts", lambda one: before if one == attempt else facts_of(one))
    whole = (study / JOURNALS / INDEX).read_bytes()
    apart = Index(study, apart=True)
    assert apart.read_anew(attempt).outcome.state is JournalState.QUARANTINED
    assert apart.read_anew(only_attempt(study, "b")).outcome.state is JournalState.WHOLE
    # It writes nothing itself.
    assert (study / JOURNALS / INDEX).read_bytes() == whole
    with open_index(study) as index:
        assert index.read(attempt).outcome.state is JournalState.WHOLE
        index.take_over(apart.learned())
    with open_index(study) as index:
        assert index.read(attempt).outcome.state is JournalState.QUARANTINED
        assert not isinstance(index.read(only_attempt(study, "b")).outcome, Journal)
