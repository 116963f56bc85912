import gzip
import tracemalloc

import numpy as np
import polars as pl
import pytest

from gapline.capture.importer import SOLVER_SAYS_SO, build_import, import_logs
from gapline.capture.reader import Reader
from gapline.capture.survey import survey_logs
from gapline.errors import HorizonError, TraceError, UsageError
from gapline.model.store import open_campaign
from gapline.model.tables import RunKey

HGS = "{name}.vrp;{seed};100;0.5\n{name}.vrp;{seed};90;1.5\n"
OLINES = "c wall time: 1.0\no 10\ns SATISFIABLE\n"


def dimacs(instance="I1", arm="team", bks="1000.0", rows="1080.0 1 10.0\n", *, end=True, optimal="0"):
    return (
        f"Instance: {instance}\nStandardized Time limit: 100 secs\nBKS: {bks}\nOptimal: {optimal}\nCompetitor: {arm}\n"
        f"Solution value, local machine time, standardized time\n{rows}" + ("Primal Integral: 8.2\n" if end else "")
    )


@pytest.fixture
def folder(tmp_path):
    """Write files into a folder and give it back."""

    def write(**files):
        for name, text in files.items():
            place = tmp_path / "logs" / name.replace("__", "/").replace("_dot_", ".")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path / "logs"

    return write


def test_a_mixed_folder_becomes_one_campaign(folder):
    logs = folder(
        a_dot_out=dimacs(),
        b_dot_csv=b"arm,instance,seed,time,objective,valid\nx,I1,3,1,1200,true\nx,I2,3,,,\n",
        c_dot_out_dot_gz=gzip.compress(dimacs("I2").encode()),
    )
    imported = import_logs([logs])
    campaign = imported.campaign
    assert list(map(str, campaign.keys())) == ["team/I1/0", "team/I2/0", "x/I1/3", "x/I2/3"]
    assert campaign.runs["count"].to_list() == [1, 1, 1, 0]
    assert campaign.runs["horizon"].to_list() == [100.0, 100.0, None, None]
    assert campaign.runs["validation"].to_list() == ["solver", "solver", "declared", "declared"]
    assert campaign.facts == {"sense": "min", "source format": "dimacs, neutral"}
    assert SOLVER_SAYS_SO in campaign.diagnostics.notes
    assert [(one.instance, one.value) for one in imported.references] == [("I1", 1000.0), ("I2", 1000.0)]
    assert imported.stated_integrals[RunKey("team", "I1", 0)] == ("dimacs:1.1", pytest.approx(0.082))


def test_identity_from_the_path(folder):
    logs = folder(hgs__A_s1_dot_log=OLINES, hgs__A_s2_dot_log=OLINES, ils__A_s1_dot_log=OLINES)
    campaign = import_logs([logs], name="{arm}/{instance}_s{seed}.log").campaign
    assert list(map(str, campaign.keys())) == ["hgs/A/1", "hgs/A/2", "ils/A/1"]


def test_missing_identity_is_one_error_with_all_paths(folder):
    logs = folder(a_dot_log=OLINES, b_dot_log=OLINES)
    with pytest.raises(TraceError) as caught:
        import_logs([logs], arm="x")
    assert f"got 2 without: {logs}/a.log (no instance), {logs}/b.log (no instance)" in str(caught.value)


def test_twins_are_listed_and_may_be_numbered(folder):
    logs = folder(a_dot_log=OLINES, b_dot_log=OLINES + OLINES)
    with pytest.raises(TraceError) as caught:
        import_logs([logs], arm="x", instance="i")
    assert f"{logs}/a.log (x/i), {logs}/b.log run 1 (x/i), {logs}/b.log run 2 (x/i)" in str(caught.value)
    campaign = import_logs([logs], arm="x", instance="i", number_runs=True).campaign
    assert campaign.runs["seed"].to_list() == [0, 1, 2]


def test_the_same_run_twice_is_refused(folder):
    logs = folder(a_dot_csv=HGS.format(name="A", seed=1), b_dot_csv=HGS.format(name="A", seed=1))
    with pytest.raises(TraceError, match=r"expected each run once, got 1 twice: x/A/1 in .*a.csv and .*b.csv"):
        import_logs([logs], arm="x")


def test_clocks_are_not_mixed_unless_asked(folder):
    logs = folder(a_dot_csv=HGS.format(name="A", seed=1), b_dot_out=dimacs("B", "x"))
    with pytest.raises(TraceError, match=r"expected one clock in an import, got cpu \(.*a.csv\), wall \(.*b.out\)"):
        import_logs([logs], arm="x")
    campaign = import_logs([logs], arm="x", allow_mixed_clocks=True).campaign
    assert campaign.runs["clock"].to_list() == ["cpu", "wall"]


def test_senses_are_never_mixed_and_may_be_declared(folder):
    score = '"timeMillisSpent","score","initialized"\n5,"0hard/-9soft","true"\n'
    logs = folder(a_dot_csv=score, b_dot_out="c time 0.5\no 11\n" + OLINES)
    with pytest.raises(TraceError, match="expected one sense"):
        import_logs([logs], arm="x", name="{instance}.*")
    campaign = import_logs([logs / "a.csv"], arm="x", instance="i").campaign
    assert campaign.facts["sense"] == "max"
    assert campaign.objective.tolist() == [-9.0]
    assert (
        "objectives are maximised and kept as they are: scoring needs a declared transform"
        in campaign.diagnostics.notes
    )
    declared = import_logs([logs / "b.out"], arm="x", instance="i", sense="max").campaign
    assert declared.facts["sense"] == "max"


def test_objectives_of_0_or_below_are_kept_and_said(folder):
    campaign = import_logs([folder(a_dot_log=OLINES.replace("o 10", "o -3"))], arm="x", instance="i").campaign
    assert campaign.objective.tolist() == [-3.0]
    assert (
        "1 candidates have an objective of 0 or below: scoring needs a declared transform" in campaign.diagnostics.notes
    )


def test_horizon_fills_what_logs_leave_open(folder):
    logs = folder(a_dot_out=dimacs("A", "x"), b_dot_log=OLINES)
    campaign = import_logs([logs], arm="x", name="{instance}.*", horizon=30).campaign
    assert campaign.runs["horizon"].to_list() == [100.0, 30.0]
    silent = import_logs([logs / "b.log"], arm="x", instance="i").campaign
    assert "1 runs state no horizon: give --horizon here or when scoring" in silent.diagnostics.notes
    with pytest.raises(HorizonError, match="expected positive finite seconds, got -1"):
        import_logs([logs], horizon=-1)


def test_late_points_are_kept_and_counted(folder):
    campaign = import_logs([folder(a_dot_out=dimacs(rows="1080.0 1 10.0\n900.0 1 100.5\n"))]).campaign
    assert campaign.diagnostics.late == 1
    assert campaign.diagnostics.candidates == 2


def test_a_first_incumbent_that_is_late_stays_late_and_time_0_is_kept(folder):
    campaign = import_logs([folder(a_dot_out=dimacs(rows="1080.0 0 0.0\n1070.0 1 0.0\n1060.0 9 9.0\n"))]).campaign
    assert campaign.time.tolist() == [0.0, 0.0, 9.0]
    campaign = import_logs([folder(a_dot_out=dimacs(rows="1080.0 50 50.0\n"))]).campaign
    assert campaign.time.tolist() == [50.0]


def test_references_that_differ_are_refused_or_left_out(folder):
    logs = folder(a_dot_out=dimacs(arm="a"), b_dot_out=dimacs(arm="b", bks="999.0"))
    with pytest.raises(TraceError, match=r"got 1 that differ: I1: 1000.0 \(.*a.out\) and 999.0 \(.*b.out\)"):
        import_logs([logs])
    assert import_logs([logs], no_references=True).references == ()


def test_a_certificate_counts_from_any_log(folder):
    logs = folder(a_dot_out=dimacs(arm="a"), b_dot_out=dimacs(arm="b", optimal="1"))
    (reference,) = import_logs([logs]).references
    assert reference.certified


def test_references_follow_a_renamed_instance(folder):
    imported = import_logs([folder(a_dot_out=dimacs("path/to/X"))], instance="X")
    assert [one.instance for one in imported.references] == ["X"]
    assert "1 logs state another instance than the option or path pattern, which was taken" in (
        imported.campaign.diagnostics.notes
    )


def test_a_solu_file_beside_logs_gives_references(folder):
    logs = folder(a_dot_log=OLINES, b_dot_solu="=opt= i 9\n")
    imported = import_logs([logs], arm="x", instance="i")
    assert [(one.instance, one.value, one.certified) for one in imported.references] == [("i", 9.0, True)]


def test_unreadable_files_are_listed_together(folder):
    logs = folder(a_dot_out=dimacs(), r1_dot_md="# notes\n", r2_dot_md="# more\n")
    with pytest.raises(TraceError) as caught:
        import_logs([logs])
    assert str(caught.value).startswith("2 of 3 files cannot be read:\n")
    assert "--skip-unknown" in str(caught.value)
    campaign = import_logs([logs], skip_unknown=True).campaign
    assert campaign.diagnostics.notes[-2].startswith("left out 2 of no known format: ")
    assert campaign.diagnostics.problem_count == 0


def test_a_cut_gz_keeps_its_prefix_and_the_run_was_killed(folder):
    rows = "".join(f"{1080 - k * 0.1:.1f} 1 {k / 100:.2f}\n" for k in range(4000))
    packed = gzip.compress(dimacs(rows=rows).encode())
    imported = import_logs([folder(a_dot_out_dot_gz=packed[: len(packed) // 2])])
    assert imported.campaign.runs["status"].to_list() == ["killed"]
    assert 100 < imported.campaign.candidates < 4000
    assert any("one that ends early" in problem for problem in imported.campaign.diagnostics.problems)


def test_only_references_are_no_campaign(folder):
    with pytest.raises(TraceError, match="expected runs, got none in"):
        import_logs([folder(b_dot_solu="=opt= i 9\n")])


def test_a_wrong_sense_is_wrong_use(folder):
    with pytest.raises(UsageError, match="expected min or max, got 'up'"):
        import_logs([folder(a_dot_log=OLINES)], sense="up")


def test_progress_is_reported_for_every_file(folder):
    steps = []
    import_logs([folder(a_dot_out=dimacs(), b_dot_out=dimacs("I2"))], progress=lambda *step: steps.append(step))
    assert steps == [(0, 2), (1, 2), (2, 2)]


def many(folder, files, rows):
    blocks = {
        f"f{number}_dot_out": dimacs(
            f"I{files - number}", rows="".join(f"{1090 - k / 100:.2f} 1 {k / 10:.1f}\n" for k in range(rows))
        )
        for number in range(files)
    }
    return folder(**blocks)


def test_batches_and_spilling_change_nothing(folder):
    logs = many(folder, 7, 50)
    (logs / "bad.out").write_text(dimacs("J", rows="x 1 1.0\n1000.0 1 2.0\n"))
    whole = import_logs([logs]).campaign
    for batch, in_memory in ((1, 10**9), (120, 10**9), (1, 0), (120, 100)):
        pieces = build_import(survey_logs([logs], batch=batch, in_memory=in_memory)).campaign
        assert pieces.digest() == whole.digest()
        assert pieces.diagnostics == whole.diagnostics
        assert pieces.runs.equals(whole.runs)


def test_memory_is_bounded_by_the_largest_file(folder, tmp_path):
    peaks = []
    for files in (4, 24):
        logs = many(folder, files, 8000)
        tracemalloc.start()
        campaign = build_import(survey_logs([logs], batch=1, in_memory=0)).campaign
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert campaign.candidates == files * 8000
    assert peaks[1] < 1.3 * peaks[0]
    stored = open_campaign(campaign.save(tmp_path / "campaign"))
    assert np.array_equal(stored.time, campaign.time)


def test_extra_columns_of_different_formats_stand_side_by_side(folder):
    logs = folder(
        a_dot_out=dimacs("A", "x").replace("BKS", "PassMark Single Thread Benchmark: 2000\nBKS"), b_dot_log=OLINES
    )
    runs = import_logs([logs], arm="x", name="{instance}.*").campaign.runs
    assert runs["passmark"].to_list() == [2000.0, None]
    assert runs.schema["resolution"] == pl.Float64


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
    campaign = import_logs([folder(a_dot_out=dimacs(rows=rows))]).campaign
    assert campaign.diagnostics.problem_count == 5000
    assert len(campaign.diagnostics.problems) == 100
    assert campaign.diagnostics.rejected == {"objective not a number": 5000}
