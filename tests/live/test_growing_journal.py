"""A journal that grows is read from where the last look stopped, and says what reading all of it says."""

from hypothesis import given
from hypothesis import strategies as st

from gapline.journal.line import JournalWriter
from gapline.journal.read import read_journal
from gapline.live.journal_follower import GrowingJournal
from journal.sample_journal import bodies


def write_sample(attempt):
    writer = JournalWriter(attempt / "events.jsonl")
    writer.append(bodies())
    writer.close()
    return writer.path


def same(growing, attempt):
    whole, read = read_journal(attempt), growing.journal
    facts = ("ending", "solver", "version", "claim", "checksum", "torn", "corruption", "asked")
    assert [getattr(read, name) for name in facts] == [getattr(whole, name) for name in facts]
    assert list(read.events.bare()) == list(whole.events.bare())


@given(data=st.data())
def test_cut_anywhere_and_looked_at_ever_so_often_it_is_the_same(tmp_path_factory, data):
    attempt = tmp_path_factory.mktemp("grow")
    path = write_sample(attempt)
    whole = path.read_bytes()
    path.unlink()
    growing = GrowingJournal(attempt)
    assert not growing.look()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), min_size=1, max_size=6)))
    for cut in [*cuts, len(whole)]:
        with path.open("ab") as stream:
            stream.write(whole[stream.tell() : cut])
        growing.look()
        same(growing, attempt)
    assert growing.starts == 1
    assert growing.journal.ending is not None


def test_a_torn_line_is_not_yet_whole_and_no_error(tmp_path):
    path = write_sample(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    growing = GrowingJournal(tmp_path)
    assert growing.look()
    assert growing.journal.torn > 0
    assert growing.journal.corruption is None
    # Nothing was added.
    assert not growing.look()
    with path.open("ab") as stream:
        stream.write(whole[-5:])
    assert growing.look()
    assert growing.journal.torn == 0


def test_what_was_read_is_not_read_again(tmp_path):
    path = write_sample(tmp_path)
    growing = GrowingJournal(tmp_path)
    growing.look()
    place, events = growing.place, len(growing.journal.events)
    assert place == path.stat().st_size
    assert not growing.look()
    assert (growing.place, len(growing.journal.events)) == (place, events)
    assert growing.stamp == growing.journal.events.column("time")[-1]


def test_a_file_that_is_another_one_is_begun_anew(tmp_path):
    path = write_sample(tmp_path)
    growing = GrowingJournal(tmp_path)
    growing.look()
    whole = path.read_bytes()
    path.unlink()
    path.write_bytes(whole[: len(whole) // 2])
    assert growing.look()
    assert growing.starts == 2
    same(growing, tmp_path)


def test_something_else_in_the_place_of_a_journal_is_said(tmp_path):
    (tmp_path / "events.jsonl").mkdir()
    growing = GrowingJournal(tmp_path)
    growing.look()
    assert "expected a file, got a directory" in growing.journal.corruption
