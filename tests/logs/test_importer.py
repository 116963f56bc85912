import gzip
from dataclasses import replace

import polars as pl
import pytest

import gapline as gl
from gapline.contract.tables import RunKey
from gapline.errors import HorizonError, ObjectiveError, TraceError, UsageError
from gapline.logs.chunk import EMPTY, NO_HORIZON, OFF_PATTERN, SOLVER_SAYS_SO
from gapline.logs.importer import import_logs
from gapline.logs.readers.coco import SHIFT_NOTE
from traces.small_logs import HGS, OLINES, dimacs


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
    assert f"{SOLVER_SAYS_SO} (2 of 4 runs)" in campaign.notes()
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


SCORE = '"timeMillisSpent","score","initialized"\n5,"0hard/-9soft","true"\n'


def test_sense_belongs_to_the_instance(folder):
    logs = folder(a_dot_csv=SCORE, b_dot_out="c time 0.5\no 11\n" + OLINES)
    both = import_logs([logs], arm="x", name="{instance}.*").campaign
    assert dict(both.runs.select("instance", "sense").iter_rows()) == {"a": "max", "b": "min"}
    assert "sense" not in both.facts
    alone = import_logs([logs / "a.csv"], arm="x", instance="i").campaign
    assert (alone.facts["sense"], alone.runs["sense"].to_list()) == ("max", ["max"])
    assert alone.objective.tolist() == [-9.0]
    note = "1 instance maximised and kept as written: scored through the reciprocal unless a transform is declared"
    assert note in alone.diagnostics.notes
    with pytest.raises(ObjectiveError, match=r"i: expected one sense, got max \(arm a\) and min \(arm b\)") as caught:
        import_logs([logs], instance="i", name="{arm}.*")
    assert "--negate b" in caught.value.hint


def test_a_declared_sense_fills_silence_and_never_overrules_a_log(folder):
    logs = folder(a_dot_csv=SCORE, b_dot_out="c time 0.5\no 11\n" + OLINES, c_dot_log=OLINES)
    with pytest.raises(UsageError, match=r"--sense min: expected logs that state no other, got max in .*a.csv"):
        import_logs([logs / "a.csv"], arm="x", instance="i", sense="min")
    # The values of these lines only move one way, which states nothing.
    assert import_logs([logs / "b.out"], arm="x", instance="i", sense="max").campaign.facts["sense"] == "max"
    assert import_logs([logs / "c.log"], arm="x", instance="i", sense="max").campaign.facts["sense"] == "max"
    silent = import_logs([logs / "c.log"], arm="x", instance="i").campaign
    assert silent.facts["sense"] == "min"
    assert any(note.startswith("no log shows whether the objective is minimised") for note in silent.diagnostics.notes)
    mixed = import_logs([logs], arm="x", name="{instance}.*").campaign
    assert dict(mixed.runs.select("instance", "sense").iter_rows()) == {"a": "max", "b": "min", "c": "min"}
    assert any(note.startswith("no log shows whether c is minimised") for note in mixed.diagnostics.notes)


def test_an_arm_that_reports_the_negated_objective_is_turned(folder):
    rising = "c time 0.5\no -11\nc time 0.7\no -10\ns OPTIMUM FOUND\n"
    logs = folder(a_dot_log="c time 0.5\no 11\n" + OLINES, b_dot_log=rising)
    campaign = import_logs([logs], instance="i", name="{arm}.*", negate=["b"]).campaign
    assert campaign.runs["sense"].to_list() == ["min", "min"]
    assert campaign.objective[campaign.runs["first"][1] :].tolist() == [11.0, 10.0]
    assert "objectives of b are negated: their source reports the negated objective" in campaign.diagnostics.notes
    with pytest.raises(UsageError, match="--negate c: matches no run"):
        import_logs([logs], instance="i", name="{arm}.*", negate=["c"])


def test_objectives_of_0_or_below_are_kept_and_said(folder):
    campaign = import_logs([folder(a_dot_log=OLINES.replace("o 10", "o -3"))], arm="x", instance="i").campaign
    assert campaign.objective.tolist() == [-3.0]
    assert any(
        note.startswith("1 candidates have an objective of 0 or below: `gapline score --kernel berthold` scores them")
        for note in campaign.diagnostics.notes
    )


def test_horizon_fills_what_logs_leave_open(folder):
    logs = folder(a_dot_out=dimacs("A", "x"), b_dot_log=OLINES)
    campaign = import_logs([logs], arm="x", name="{instance}.*", horizon=30).campaign
    assert campaign.runs["horizon"].to_list() == [100.0, 30.0]
    silent = import_logs([logs / "b.log"], arm="x", instance="i").campaign
    assert NO_HORIZON in silent.notes()
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
    assert "the log states another instance than the option or path pattern, which was taken" in (
        imported.campaign.notes()
    )


def test_a_solu_file_beside_logs_gives_references(folder):
    logs = folder(a_dot_log=OLINES, b_dot_solu="=opt= i 9\n")
    imported = import_logs([logs], arm="x", instance="i")
    assert [(one.instance, one.value, one.certified) for one in imported.references] == [("i", 9.0, True)]


def test_suffixes_of_models_do_not_keep_logs_and_references_apart(folder):
    logs = folder(
        t3_dot_opb_dot_gz_dot_log=OLINES, u_dot_wbo_dot_log=OLINES, best_dot_solu="=opt= t3 9\n=best= u.wbo 8\n"
    )
    imported = import_logs([logs], arm="x", name="{instance}.log")
    assert sorted(imported.campaign.runs["instance"]) == [one.instance for one in imported.references] == ["t3", "u"]


def test_unreadable_files_are_listed_together(folder):
    logs = folder(a_dot_out=dimacs(), r1_dot_md="# notes\n", r2_dot_md="# more\n")
    with pytest.raises(TraceError) as caught:
        import_logs([logs])
    assert str(caught.value).startswith("2 of 3 files cannot be read:\n")
    assert "--skip-unknown" in str(caught.value)
    campaign = import_logs([logs], skip_unknown=True).campaign
    assert campaign.diagnostics.notes[-1].startswith("left out 2 of no known format: ")
    assert campaign.diagnostics.problem_count == 0


def test_an_empty_log_is_a_run_that_crashed(folder):
    logs = folder(
        hgs__A_dot_csv=HGS.format(name="A", seed=1), hgs__B_dot_csv="", hgs__C_dot_csv_dot_gz=gzip.compress(b"")
    )
    campaign = import_logs([logs], name="{arm}/{instance}.csv").campaign
    runs = campaign.runs.select("arm", "instance", "status", "count", "clock").rows()
    assert runs == [
        ("hgs", "A", "unknown", 2, "cpu"),
        ("hgs", "B", "crashed", 0, None),
        ("hgs", "C", "crashed", 0, None),
    ]
    assert f"{EMPTY} (2 of 3 runs)" in campaign.notes()
    assert campaign.facts["source format"] == "hgs"
    alone = import_logs([logs / "hgs" / "B.csv"], name="{arm}/{instance}.csv").campaign
    assert alone.facts["source format"] == "empty"


def test_an_empty_file_without_a_name_is_not_left_out_in_silence(folder):
    with pytest.raises(TraceError, match=r"expected arm and instance for every run, got 1 without: .*B.log"):
        import_logs([folder(a_dot_out=dimacs(), B_dot_log="")], skip_unknown=True)


def test_an_empty_table_that_an_index_names_is_no_run(folder):
    logs = folder(
        f1_dot_info="funcId = 1, DIM = 2, Precision = 1.000e-08, algId = 'a'\ndata/f1.dat, 1:3|1\n",
        data__f1_dot_dat="% f evaluations | g evaluations | best - Fopt (1)\n3 0 1.0\n",
        data__f1_dot_mdat="",
    )
    assert len(import_logs([logs]).campaign) == 1


def test_a_name_that_fits_no_path_is_wrong_use(folder):
    logs = folder(a_dot_out=dimacs(), b_dot_out=dimacs("I2"))
    with pytest.raises(
        UsageError, match=r"--name \{arm\}/\{instance\}.log: expected a pattern that fits some path, got "
    ):
        import_logs([logs], name="{arm}/{instance}.log")


def test_a_path_off_the_pattern_is_said_of_its_run(folder):
    logs = folder(A_dot_out=dimacs("A", "x"), B_dot_res=dimacs("B", "x"))
    assert f"{OFF_PATTERN} (1 of 2 runs)" in import_logs([logs], name="{instance}.out").campaign.notes()


def test_only_leaves_other_files_out_and_counts_them(folder):
    logs = folder(a_dot_out=dimacs(), b_dot_out_dot_gz=gzip.compress(dimacs("I2").encode()), README_dot_md="# notes\n")
    campaign = import_logs([logs], only="*.out").campaign
    assert len(campaign) == 2
    assert f"left out 1 that --only does not name: {logs}/README.md" in campaign.notes()
    with pytest.raises(UsageError, match=r"--only \*.log: expected a pattern that fits some of the files, got "):
        import_logs([logs], only=["*.log"])


def test_notes_follow_the_runs_that_they_are_about(folder, tmp_path):
    coco = "funcId = 1, DIM = 2, Precision = 1.000e-08, algId = 'a'\ndata/f1.dat, 1:3|1\n"
    table = "% f evaluations | g evaluations | best - Fopt (1)\n3 0 1.0\n"
    logs = folder(f1_dot_info=coco, data__f1_dot_dat=table, b_dot_out=dimacs("B", "x"))
    campaign = import_logs([logs], allow_mixed_clocks=True).campaign
    assert f"{SHIFT_NOTE} (1 of 2 runs)" in campaign.notes()
    assert SHIFT_NOTE in campaign.filter(arm="a").notes()
    assert not any(SHIFT_NOTE in note or NO_HORIZON in note for note in campaign.filter(arm="x").notes())
    campaign.save(tmp_path / "campaign")
    again = gl.open(tmp_path / "campaign")
    assert again.notes() == campaign.notes()
    silent = replace(campaign, runs=campaign.runs.drop("import_notes"))
    assert campaign.digest() == silent.digest()  # what is said of data is no data


def test_only_references_are_no_campaign(folder):
    with pytest.raises(TraceError, match="expected runs, got none in"):
        import_logs([folder(b_dot_solu="=opt= i 9\n")])


def test_extra_columns_of_different_formats_stand_side_by_side(folder):
    logs = folder(
        a_dot_out=dimacs("A", "x").replace("BKS", "PassMark Single Thread Benchmark: 2000\nBKS"), b_dot_log=OLINES
    )
    runs = import_logs([logs], arm="x", name="{instance}.*").campaign.runs
    assert runs["passmark"].to_list() == [2000.0, None]
    assert runs.schema["resolution"] == pl.Float64
