"""Tables as people have them, each against the neutral trace that it stands for."""

import numpy as np
import polars as pl
import pytest

import gapline as gl
from gapline.errors import TraceError, UsageError
from gapline.logs.importer import import_logs
from gapline.traces.columns import Dialect, find_separator, propose

NEUTRAL = "arm,instance,seed,time,objective\na,i,1,0.5,12.5\na,i,1,2,11\nb,i,1,1.25,13\nb,i,2,,\n"
MAPPED = "arm=solver,instance=problem,seed=run,time=elapsed,objective=cost"


def runs(campaign):
    """Return the traces by run, whatever else differs."""
    time, objective = (
        [None if np.isnan(x) else x for x in column.tolist()] for column in (campaign.time, campaign.objective)
    )
    plain = list(zip(time, objective, strict=True))
    slices = campaign.runs.select("first", "count").iter_rows()
    return {str(key): plain[first : first + count] for key, (first, count) in zip(campaign.keys(), slices, strict=True)}


def write(folder, text, name="t.csv"):
    (folder / name).write_text(text)
    return folder / name


TRUTH = {"a/i/1": [(0.5, 12.5), (2.0, 11.0)], "b/i/1": [(1.25, 13.0)], "b/i/2": []}


def both_ways(path, **options):
    """Read a file directly and import it: the runs are the same."""
    direct = gl.read(path, **options)
    assert runs(import_logs([path], **options).campaign) == runs(direct)
    return direct


def test_columns_are_read_under_the_names_that_the_user_gives(tmp_path):
    header, rows = NEUTRAL.split("\n", 1)
    assert header == "arm,instance,seed,time,objective"
    path = write(tmp_path, "solver,problem,run,elapsed,cost\n" + rows)
    assert runs(both_ways(path, columns=MAPPED)) == TRUTH
    assert runs(both_ways(path, columns=dict(pair.split("=") for pair in MAPPED.split(",")))) == TRUTH


@pytest.mark.parametrize("mark", [";", "\t"])
def test_semicolons_and_tabs_separate_too(tmp_path, mark):
    assert runs(both_ways(write(tmp_path, NEUTRAL.replace(",", mark)))) == TRUTH
    assert runs(gl.read(write(tmp_path, NEUTRAL.replace(",", mark), "t.tsv"))) == TRUTH


def test_decimal_commas_are_read_where_they_are_declared(tmp_path):
    path = write(tmp_path, NEUTRAL.replace(",", ";").replace(".", ","))
    assert runs(both_ways(path, decimal=",")) == TRUTH
    silent = gl.read(path)
    assert silent.diagnostics.rejected_count == 2
    assert any("--decimal ," in note for note in silent.notes())


def test_a_point_beside_declared_commas_is_no_guess(tmp_path):
    path = write(tmp_path, "arm;instance;seed;time;objective\na;i;1;1;1.234\na;i;1;2;1.234,5\na;i;1;3;99,5\n")
    campaign = gl.read(path, decimal=",")
    assert campaign.diagnostics.rejected == {"objective not a number": 2}
    assert campaign.diagnostics.problems[0].startswith(f"{path}:2: expected an objective, got '1.234 (a point where")


def test_a_header_in_another_case_is_the_same_header(tmp_path):
    assert (
        runs(
            both_ways(
                write(tmp_path, NEUTRAL.replace("arm,instance,seed,time,objective", "Arm,INSTANCE,Seed,Time,Objective"))
            )
        )
        == TRUTH
    )


def test_a_status_of_others_stays_theirs(tmp_path):
    campaign = gl.read(write(tmp_path, "arm,instance,seed,time,objective,Status\na,i,1,1,3,OPTIMAL\n"))
    assert campaign.runs["Status"].to_list() == ["OPTIMAL"]


def test_runs_without_seeds_are_numbered_where_the_time_goes_back(tmp_path):
    text = "arm,instance,time,objective\na,i,1,9\na,i,2,8\na,i,0.5,7\nb,i,3,6\na,i,,\na,i,x,5\na,i,4,4\n"
    campaign = both_ways(write(tmp_path, text))
    assert {key: len(trace) for key, trace in runs(campaign).items()} == {
        "a/i/0": 2, "a/i/1": 1, "a/i/2": 0, "a/i/3": 2, "b/i/0": 1,
    }  # fmt: skip
    assert "no `seed` column: 5 runs numbered from 0, a run beginning where the time goes back" in campaign.notes()
    single = gl.read(write(tmp_path, "arm,instance,time,objective\na,i,1,9\na,j,0.5,8\n"))
    assert "no `seed` column: one run per arm and instance, seed 0" in single.notes()


def test_a_path_gives_the_seed_of_a_file_that_holds_one_run(tmp_path):
    path = write(tmp_path, "arm,instance,time,objective\na,i,1,9\na,i,2,8\n", "s7.csv")
    assert list(runs(import_logs([path], name="s{seed}.csv").campaign)) == ["a/i/7"]


def test_a_log_of_one_run_is_never_split(tmp_path):
    path = write(tmp_path, '{"time": 2, "objective": 9}\n{"time": 1, "objective": 8}\n', "log.jsonl")
    (trace,) = runs(import_logs([path], arm="a", instance="i").campaign).values()
    assert trace == [(1.0, 8.0), (2.0, 9.0)]


WIDE = "solver,instance,seed,t=1,2s,10\na,i,1,20,20,15\na,i,2,,30,x\nb,i,1,,,\n"


def test_one_row_per_run_and_one_column_per_time(tmp_path):
    campaign = both_ways(write(tmp_path, WIDE), columns="arm=solver")
    assert runs(campaign) == {
        "a/i/1": [(1.0, 20.0), (10.0, 15.0)], "a/i/2": [(2.0, 30.0), (10.0, None)], "b/i/1": [],
    }  # fmt: skip
    assert campaign.diagnostics.problems == (f"{tmp_path / 't.csv'}:3: expected an objective, got 'x' (run a/i/2)",)
    assert campaign.runs["resolution"].to_list() == [8.0] * 3
    assert "one row per run, 3 times from 1 to 10: a value counts from its column's time" in campaign.notes()


def test_rows_without_seeds_are_runs_of_their_own():
    frame = pl.DataFrame({"arm": ["a", "a", "b"], "instance": "i", "0.5": [9.0, 8.0, None], "1": [7.0, 8.0, 6.0]})
    assert runs(gl.read(frame)) == {"a/i/0": [(0.5, 9.0), (1.0, 7.0)], "a/i/1": [(0.5, 8.0)], "b/i/0": [(1.0, 6.0)]}


def test_wide_rows_of_one_key_are_refused():
    frame = pl.DataFrame({"arm": ["a", "a"], "instance": "i", "seed": 1, "1": [9.0, 8.0], "2": [7.0, 8.0]})
    with pytest.raises(TraceError, match=r"expected each run once, got 1 more than once: a/i/1"):
        gl.read(frame)


def test_a_wide_table_with_decimal_commas(tmp_path):
    path = write(tmp_path, "arm;instance;seed;0,5;1\na;i;1;12,5;11\n")
    assert runs(both_ways(path, decimal=",")) == {"a/i/1": [(0.5, 12.5), (1.0, 11.0)]}
    with pytest.raises(TraceError, match="expected columns"):
        gl.read(path)


def test_a_wrong_header_proposes_the_mapping_as_a_command(tmp_path):
    path = write(tmp_path, "solver,problem,elapsed_s,cost\na,i,1,2\n")
    with pytest.raises(TraceError) as caught:
        gl.read(path)
    command = f"gapline score {path} --columns arm=solver,instance=problem,time=elapsed_s,objective=cost"
    assert caught.value.hint == command
    assert runs(gl.read(path, columns=command.rsplit(maxsplit=1)[-1])) == {"a/i/0": [(1.0, 2.0)]}
    with pytest.raises(TraceError) as caught:
        import_logs([path])
    assert caught.value.hint == command.replace("score", "import", 1) + " -o campaign"


def test_what_cannot_be_guessed_is_left_open():
    assert propose(["who", "instance", "objective", "Elapsed Time"], source="a b.csv") == (
        "gapline score 'a b.csv' --columns 'time=Elapsed Time,arm=…'"
    )
    assert propose(["solver", "instance", "rep", "time", "objective"], source="frame") == (
        "columns={'arm': 'solver', 'seed': 'rep'}"
    )
    assert propose(["q"], source="t.csv") is None


def test_a_declared_column_replaces_one_of_that_name(tmp_path):
    path = write(tmp_path, "arm,instance,seed,time,wall,objective\na,i,1,99,1,5\n")
    campaign = gl.read(path, columns="time=wall")
    assert runs(campaign) == {"a/i/1": [(1.0, 5.0)]}
    assert "column 'time' of the file is left out: 'wall' was declared to be it" in campaign.notes()


def test_one_column_may_be_two():
    frame = pl.DataFrame({"name": ["x"], "seed": [1], "time": [1.0], "objective": [2.0]})
    assert runs(gl.read(frame, columns="arm=name,instance=name")) == {"x/x/1": [(1.0, 2.0)]}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("solver", "expected pairs such as arm=solver,time=elapsed, got 'solver'"),
        ("arm=a,arm=b", "got 'arm=b'"),
        ("solver=arm", "got 'solver'"),
        ("tim=elapsed", "got 'tim'"),
    ],
)
def test_mistakes_in_a_mapping_are_named(columns, message):
    with pytest.raises(UsageError, match=message):
        Dialect.parse(columns)


def test_a_column_that_is_not_there_and_a_mark_that_is_none(tmp_path):
    path = write(tmp_path, NEUTRAL)
    with pytest.raises(TraceError, match=r"expected the column 'cosst', declared as objective, got none"):
        gl.read(path, columns="objective=cosst")
    with pytest.raises(UsageError, match=r"--decimal: expected \. or , got ':'"):
        gl.read(path, decimal=":")


def test_a_campaign_has_no_columns_to_map(tmp_path):
    campaign = gl.read(write(tmp_path, NEUTRAL))
    with pytest.raises(UsageError, match="expected a table, got a campaign"):
        gl.read(campaign, columns="arm=solver")
    campaign.save(tmp_path / "c")
    with pytest.raises(UsageError, match="whose columns are known"):
        gl.read(tmp_path / "c", decimal=",")


def test_names_in_quotes_do_not_hide_the_separator():
    assert find_separator(b'"a;b;c",time,objective') == ","


def test_the_note_of_a_split_follows_the_arms_that_were_split(tmp_path):
    rows = "".join(f"h,i,1,{t},{9 - t},{s}\n" for s in (5, 24) for t in range(3)) + "g,i,1,1,9,5\n"
    path = write(tmp_path, "arm,instance,seed,time,objective,slices\n" + rows)
    for campaign in (gl.read(path), import_logs([path]).campaign):
        assert any("now 2 arms" in note for note in campaign.filter(arm="h *").notes())
        assert not any("now 2 arms" in note for note in campaign.filter(arm="g").notes())


def test_runs_given_one_by_one_are_numbered_as_they_come():
    given = [
        {"arm": "a", "instance": "i", "trace": [(1, 9.0), (2, 8.0)]},
        {"arm": "a", "instance": "i", "trace": [(3, 7.0)]},
    ]
    assert runs(gl.Campaign.from_runs(given)) == {"a/i/0": [(1.0, 9.0), (2.0, 8.0)], "a/i/1": [(3.0, 7.0)]}


@pytest.mark.parametrize("name", ["t.jsonl", "t.log"])
def test_records_of_other_names_are_mapped_too(tmp_path, name):
    path = write(tmp_path, '{"solver": "a", "instance": "i", "t": 1, "cost": 9}\n', name)
    campaign = import_logs([path], columns="arm=solver,time=t,objective=cost").campaign
    assert runs(campaign) == {"a/i/0": [(1.0, 9.0)]}


def test_columns_that_are_numbered_are_no_times():
    with pytest.raises(TraceError, match="expected columns arm, instance, seed, time, objective"):
        gl.read(pl.DataFrame({"arm": ["a"], "instance": ["i"], "t1": [9.0], "t2": [7.0]}))
