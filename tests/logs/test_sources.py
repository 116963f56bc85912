"""A list of logs is cut where its files say, so that one more or less moves few of the cuts."""

from hypothesis import given
from hypothesis import strategies as st

from gapline.logs.log_files import MOST_BYTES, MOST_FILES, Source, cut_sources, look_at, marks_of


@given(st.lists(st.integers(0, 2 * MOST_BYTES), max_size=50))
def test_cutting_loses_nothing_and_keeps_the_order(sizes):
    sources = [Source(f"{number}.log", size) for number, size in enumerate(sizes)]
    chunks = list(cut_sources(sources))
    assert [source for chunk in chunks for source in chunk] == sources
    for chunk in chunks:
        assert len(chunk) == 1 or sum(source.size for source in chunk) <= MOST_BYTES


def test_a_file_more_leaves_almost_all_chunks_as_they_are():
    sources = [Source(f"runs/{number}.log", 100) for number in range(20_000)]
    before = list(cut_sources(sources))
    after = list(cut_sources([*sources[:9000], Source("runs/new.log", 100), *sources[9000:]]))
    assert all(len(chunk) <= MOST_FILES for chunk in before)
    assert len(before) > 10
    assert len([chunk for chunk in after if chunk not in before]) <= 2


def test_a_changed_file_has_other_marks_and_one_that_is_gone_has_none(tmp_path):
    path = tmp_path / "a.log"
    path.write_text("x")
    before = look_at(path)
    assert before == Source(str(path), 1, marks_of(path))
    path.write_text("yy")
    assert marks_of(path) != before.marks
    path.unlink()
    assert look_at(path) == Source(str(path))
