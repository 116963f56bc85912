"""Some logs are read by one task: what is in them, and what is refused, file by file."""

import os

from gapline.logs.chunk import Job, read_chunk
from gapline.logs.log_files import look_at
from gapline.logs.naming import LogIdentity
from traces.small_logs import dimacs


def sources(folder, **files):
    return [look_at(path) for path in sorted(folder(**files).iterdir())]


def test_files_runs_and_what_waits_for_other_chunks(folder):
    chunk = read_chunk(Job(), sources(folder, a_dot_out=dimacs(), b_dot_log="", c_dot_md="# x\n"))
    assert [(file.format, file.run_count, file.unknown) for file in chunk.files] == [
        ("dimacs", 1, False),
        (None, 0, True),
    ]
    assert [path.rsplit("/", 1)[-1] for path in chunk.empty] == ["b.log"]
    assert chunk.spool.size == 1


def test_a_file_that_is_refused_leaves_nothing_behind(folder):
    """Its first run is min as asked, its second is not: neither is taken."""
    both = "arm,instance,seed,time,objective,sense\na,i,1,1,9,min\na,j,1,1,9,max\n"
    chunk = read_chunk(Job(sense="min"), sources(folder, a_dot_csv=both, b_dot_out=dimacs()))
    assert [file.error is None for file in chunk.files] == [False, True]
    assert [run.instance for run in chunk.runs] == ["I1"]
    assert chunk.spool.size == 1


def test_runs_without_a_name_are_refused_only_where_that_is_asked(folder):
    files = sources(folder, a_dot_out=dimacs(), b_dot_log="o 1 1.0\n")
    assert read_chunk(Job(), files).runs.unnamed()
    chunk = read_chunk(Job(refuse_unnamed=True), files)
    assert not chunk.runs.unnamed()
    assert "b.log (no arm and no instance)" in chunk.files[1].problems[0]
    assert not read_chunk(Job(refuse_unnamed=True, given=LogIdentity("a", "i")), files).files[1].error


def test_progress_is_told_for_every_file(folder):
    calls = []
    read_chunk(Job(), sources(folder, a_dot_out=dimacs(), b_dot_md="#\n"), done=lambda: calls.append(1))
    assert len(calls) == 2


def test_a_name_that_is_no_text_is_refused_with_its_file(tmp_path):
    place = tmp_path / os.fsdecode(b"caf\xe9.log")
    place.write_text("o 1 1.0\ns UNKNOWN\n")
    chunk = read_chunk(Job(format="olines", given=LogIdentity("a"), pattern="{instance}.log"), [look_at(place)])
    assert "expected names in UTF-8, got 'caf\\udce9'" in chunk.files[0].problems[0]
    assert not chunk.runs
