"""Lines of files and runs come back from their columns as they were put in, however they are cut."""

import pytest

from gapline.errors import TraceError
from gapline.logs import survey_table
from gapline.logs.survey_table import FileLine, FileLines, RunLine, RunLines

BROKEN = TraceError("c.log: broken")


def a_run(number, *, stated=(None, None), notes="a note"):
    kernel, integral = stated
    found = (integral, number, 0.5 if number else None, 2.0 if number else None, None, "olines", f"run {number}")
    return RunLine(f"i{number}", number or None, *found, "a", None, "killed", "wall", None, kernel, notes)


RUNS = [a_run(0), a_run(1, stated=("squeezed", 0.25)), a_run(2, notes="")]
FILES = [
    FileLine("a.log", 0, (), "olines", 0, 2),
    FileLine("b.solu", 2, ("b.solu:1: odd", "b.solu:2: odd"), "solu", 2, 0),
    FileLine("c.log", 1, (BROKEN.message,), None, 2, 0, BROKEN),
    FileLine("d.log", 0, (), "olines", 2, 1),
]


def survey_of(files, runs):
    columns = FileLines(files)
    found = RunLines(columns)
    for run in runs:
        found.append(run)
    return columns, found


@pytest.mark.parametrize("many", [1, 2, 32])
@pytest.mark.parametrize("cut", range(5))
def test_what_is_put_together_from_parts_is_what_was_put_in(monkeypatch, cut, many):
    monkeypatch.setattr(survey_table, "_MANY", many)
    monkeypatch.setattr(survey_table, "_WAITING", 2)
    files = FileLines()
    runs = RunLines(files)
    for part in (FILES[:cut], FILES[cut:]):
        own = [run for file in part for run in RUNS[file.first_run : file.first_run + file.run_count]]
        more_files, more_runs = survey_of(part, own)
        files.extend(more_files)
        runs.extend(more_runs)
    assert list(files) == FILES == files[:]
    assert list(runs) == RUNS == runs[:]
    assert (files[-1], runs[-1], len(files), len(runs)) == (FILES[-1], RUNS[-1], 4, 3)
    assert list(files.flawed.values()) == FILES[1:3]
    assert runs.places([1, 2]) == ["a.log run 1", "d.log run 2"]
    assert runs.among("notes") == {"a note": 0, "": 2}
    assert runs.texts("kernel").to_list() == [None, "squeezed", None]


def test_beyond_so_many_problems_a_file_keeps_its_first_and_their_number():
    files = FileLines(kept=3)
    files.extend(FileLines([FileLine(name, 2, (f"{name}:1", f"{name}:2")) for name in "abc"]))
    assert [file.problems for file in files] == [("a:1", "a:2"), ("b:1",), ("c:1",)]
    assert [file.problem_count for file in files] == [2, 2, 2]


def test_runs_without_a_name_are_found():
    who = [("a", "i"), (None, "i"), ("a", ""), ("a", None)]
    runs = [a_run(0)._replace(arm=arm, instance=instance) for arm, instance in who]
    assert survey_of([FileLine("a", 0, (), "f", 0, 4)], runs)[1].unnamed() == [1, 2, 3]
    assert survey_of([], [])[1].unnamed() == []
