"""What a set of files holds, file by file, before it is decided whether that makes a campaign."""

import gzip

import pytest

from gapline.errors import TraceError, UsageError
from gapline.logs.importer import build_import, import_logs
from gapline.logs.reader import Reader
from gapline.logs.survey import survey_logs
from traces.small_logs import OLINES, dimacs


def test_each_run_has_a_line_with_what_was_found_of_it(folder):
    (run,) = survey_logs([folder(a_dot_out=dimacs(rows="1090.0 1 10.0\n1080.0 2 25.5\n"))]).runs
    assert (run.format, run.candidates, run.first, run.last) == ("dimacs", 2, 10.0, 25.5)
    assert (run.arm, run.instance, run.seed) == ("team", "I1", None)
    assert (run.horizon, run.status, run.clock, run.sense) == (100.0, "finished", "wall", "min")
    assert (run.kernel, run.integral) == ("dimacs:1.1", pytest.approx(0.082))
    (empty,) = survey_logs([folder(a_dot_out=dimacs(rows=""))]).runs
    assert (empty.candidates, empty.first, empty.last) == (0, None, None)


def test_a_file_that_cannot_be_read_is_a_line_and_no_exception(folder):
    survey = survey_logs([folder(a_dot_out=dimacs(), b_dot_md="# notes\n")])
    assert [(file.format, file.unknown, file.problem_count) for file in survey.files] == [
        ("dimacs", False, 0),
        (None, True, 1),
    ]


def test_a_choice_that_there_is_not_is_named(folder):
    with pytest.raises(UsageError, match=r"expected sense, time_unit, number_runs, .* format, only, .* got horizont"):
        survey_logs([folder(a_dot_out=dimacs())], horizont=3)


def test_a_cut_gz_keeps_its_prefix_and_the_run_was_killed(folder):
    rows = "".join(f"{1080 - k * 0.1:.1f} 1 {k / 100:.2f}\n" for k in range(4000))
    packed = gzip.compress(dimacs(rows=rows).encode())
    imported = import_logs([folder(a_dot_out_dot_gz=packed[: len(packed) // 2])])
    assert imported.campaign.runs["status"].to_list() == ["killed"]
    assert 100 < imported.campaign.candidates < 4000
    assert any("one that ends early" in problem for problem in imported.campaign.diagnostics.problems)


def test_a_wrong_sense_is_wrong_use(folder):
    with pytest.raises(UsageError, match="expected min or max, got 'up'"):
        import_logs([folder(a_dot_log=OLINES)], sense="up")


def test_progress_is_reported_for_every_file(folder):
    steps = []
    import_logs([folder(a_dot_out=dimacs(), b_dot_out=dimacs("I2"))], progress=lambda *step: steps.append(step))
    assert steps == [(0, 2), (1, 2), (2, 2)]


INDEX = """{"version": "0.3.9", "suite": "S", "function_id": 1, "function_name": "Sphere", "maximization": false,
"algorithm": {"name": "walk", "info": ""}, "attributes": ["evaluations", "raw_y"],
"scenarios": [{"dimension": 5, "path": "data/f1.dat", "runs": [{"instance": 1, "evals": 9}]}]}
"""


def test_an_index_is_read_with_its_data_and_data_alone_is_named(folder):
    logs = folder(walk__index_dot_json=INDEX, walk__data__f1_dot_dat="evaluations raw_y\n3 0.8594\n9 0.7885\n")
    survey = survey_logs([logs])
    assert [(file.format, file.run_count) for file in survey.files] == [("iohprofiler", 1)]
    campaign = build_import(survey).campaign
    assert campaign.time.tolist() == [3.0, 9.0]
    assert campaign.runs["clock"].to_list() == ["evaluations"]
    (logs / "walk" / "index.json").unlink()
    with pytest.raises(TraceError, match=r"f1.dat: expected the index file that names it among the sources"):
        import_logs([logs])


def test_a_reader_that_fails_names_itself_and_the_file(folder):
    def fail(_log):
        raise ZeroDivisionError("oh")

    logs = folder(a_dot_log="x")
    with pytest.raises(TraceError, match=r"a.log: the reader of format bad failed: ZeroDivisionError: 'oh'"):
        import_logs([logs], format=Reader("bad", "fails", lambda _path, _head: True, fail))


def test_thousands_of_problems_are_counted_and_not_kept(folder):
    rows = "x 1 1.0\n" * 5000
    campaign = import_logs([folder(a_dot_out=dimacs(rows=rows))], allow_empty=True).campaign
    assert campaign.diagnostics.problem_count == 5000
    assert len(campaign.diagnostics.problems) == 100
    assert campaign.diagnostics.rejected == {"objective not a number": 5000}
