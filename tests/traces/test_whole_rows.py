"""A CSV file cut anywhere gives what was written, or says that it does not know."""

import csv
import io
import random

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gapline as gl
from gapline.cli.app import run
from gapline.contract.tables import VerdictCode
from gapline.errors import TraceError
from gapline.traces import blocks
from gapline.traces.blocks import count_fields
from traces.neutral_traces import write

HEADER = "arm,instance,seed,time,objective,valid,horizon"
TEXT = (
    HEADER + '\na,i,1,1.25,1951,true,30\na,i,1,12.5,951,true,30\nb,i,12,3.5,"1042",true,30\nb,i,12,17.5,958,true,30\n'
)


def accepted(campaign):
    """Return the candidates that may be scored, with their runs."""
    for arm, instance, seed, horizon, first, count in campaign.runs.select(
        "arm", "instance", "seed", "horizon", "first", "count"
    ).iter_rows():
        for k in range(first, first + count):
            if campaign.verdict[k] != VerdictCode.INVALID:
                yield arm, instance, seed, horizon, float(campaign.time[k]), float(campaign.objective[k])


def columns_in(order, text=TEXT):
    return pl.read_csv(io.StringIO(text), infer_schema=False).select(order.split(",")).write_csv()


@pytest.mark.slow
@pytest.mark.parametrize(
    "order",
    [HEADER, "valid,horizon,arm,instance,time,objective,seed", "horizon,valid,seed,arm,instance,time,objective"],
)
def test_a_file_cut_anywhere_gives_no_number_that_was_never_written_without_a_word(order, tmp_path):
    """Cut at a line end it is a shorter file; cut elsewhere the last row is named, and refused under `strict`."""
    text, path = columns_in(order), tmp_path / "t.csv"
    written = set(accepted(read_text(text, path)))
    told = 0
    for cut in range(len(order) + 1, len(text)):
        if text[cut - 1] == "\n":
            continue
        path.write_text(text[:cut])
        try:
            found = gl.read(path, allow_empty=True)
        except TraceError:
            continue
        known = found.diagnostics
        last_line = text[:cut].count("\n") + 1
        assert known.problem_count >= 1
        assert any(problem.startswith(f"{path}:{last_line}: expected ") for problem in known.problems)
        # Without a line end, only a row with all its fields is believed.
        if set(accepted(found)) - written:
            assert len(next(csv.reader([text[:cut].rsplit("\n", 1)[1]]))) == 7
        with pytest.raises(TraceError, match="--strict: expected no problems, got"):
            gl.read(path, strict=True)
        told += 1
    assert told > 80


def read_text(text, path):
    path.write_text(text)
    return gl.read(path)


def test_a_cut_row_is_a_rejected_candidate_of_its_run_and_its_last_cell_is_not_believed(tmp_path):
    path = tmp_path / "t.csv"
    campaign = read_text(TEXT[: TEXT.index("958") + 1], path)
    assert campaign.diagnostics.rejected == {"row cut short": 1}
    assert campaign.diagnostics.problems == (f"{path}:5: expected 7 fields, got 5 where the file ends (run b/i/12)",)
    assert 9.0 not in campaign.objective.tolist()
    assert campaign.runs["count"].to_list() == [2, 2]


def test_a_row_cut_inside_its_key_belongs_to_no_run_and_is_counted(tmp_path):
    """Seed 1 of a row that said 12 would be a run that never was."""
    path = tmp_path / "t.csv"
    campaign = read_text(TEXT[: TEXT.rindex("b,i,12") + 5], path)
    assert list(map(str, campaign.keys())) == ["a/i/1", "b/i/12"]
    assert campaign.diagnostics.problems == (
        f"{path}:5: expected 7 fields, got 3 where the file ends (of no run: left out)",
    )


def test_a_last_row_without_a_line_end_is_kept_named_and_counted(tmp_path):
    campaign = read_text(TEXT.rstrip("\n"), tmp_path / "t.csv")
    assert campaign.objective.tolist() == [1951, 951, 1042, 958]
    (problem,) = campaign.diagnostics.problems
    assert ":5: expected a line end, got the end of the file" in problem
    assert campaign.diagnostics.rejected == {}


def test_short_rows_are_rejected_candidates_and_a_run_that_found_nothing_stays_empty(tmp_path):
    path = write(tmp_path, ["a,i,1,1,20,true,30", "a,i,1,2,19", "b,i,1", "", "a,i,1,3,18,true,30"])
    campaign = gl.read(path)
    assert [problem.split(": ", 1)[1] for problem in campaign.diagnostics.problems] == [
        "expected 7 fields, got 5 (run a/i/1)",
        "expected 7 fields, got 3 (run b/i/1)",
    ]
    assert campaign.diagnostics.rejected == {"row cut short": 1}
    assert campaign.runs["count"].to_list() == [3, 0]
    assert gl.build_envelopes(campaign, horizon=30).objective.tolist() == [20, 18]


def test_a_header_with_more_columns_than_any_row_is_refused(tmp_path):
    path = write(tmp_path, ["a,i,1,1,20", "a,i,1,2,19"], header=HEADER)
    with pytest.raises(TraceError, match=r"bad\.csv: expected 7 fields in a row, .* got at most 5 in every row"):
        gl.read(path)


def test_a_quoted_cell_that_never_ends_is_cut(tmp_path):
    text = HEADER + ',panel\na,i,1,1,20,true,30,"p, q"\nb,i,1,1,20,true,30,"p, '
    campaign = read_text(text, tmp_path / "t.csv")
    assert campaign.runs["panel"].to_list() == ["p, q", "all"]
    assert ":3: expected a closing quote, got the end of the file" in campaign.diagnostics.problems[0]
    assert campaign.diagnostics.rejected == {"row cut short": 1}


def test_a_table_with_a_column_per_time_keeps_what_was_whole_before_the_cut(tmp_path):
    campaign = read_text("arm,instance,seed,1,10,100\na,i,1,900,800,700\nb,i,1,950,851,7", tmp_path / "t.csv")
    assert campaign.objective.tolist() == [900, 800, 700, 950, 851, 7]
    assert campaign.diagnostics.problem_count == 1
    campaign = read_text("arm,instance,seed,1,10,100\na,i,1,900,800,700\nb,i,1,950,85", tmp_path / "t.csv")
    assert campaign.objective.tolist() == [900, 800, 700, 950]
    assert campaign.diagnostics.problem_count == 1


def test_lines_are_counted_from_the_top_of_the_file(tmp_path):
    campaign = read_text("\n\n" + TEXT + "a,i,1,40,7", tmp_path / "t.csv")
    assert ":8: expected 7 fields, got 5 where" in campaign.diagnostics.problems[0]


def test_every_command_that_reads_traces_takes_strict(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(TEXT.rstrip("\n"))
    (tmp_path / "refs.csv").write_text("instance,value\ni,900\n")
    for command in (["score"], ["curve"]):
        assert run([*command, "t.csv", "--references", "refs.csv"]) == 0
        assert run([*command, "t.csv", "--references", "refs.csv", "--strict"]) == 1
        assert "--strict: expected no problems, got 1: t.csv:5: " in capsys.readouterr().err
    assert run(["import", "t.csv", "-o", "campaign", "--strict"]) == 1
    assert "--strict: expected no problems, got 1: t.csv:5: " in capsys.readouterr().err
    assert not (tmp_path / "campaign").exists()
    assert run(["import", "t.csv", "-o", "campaign"]) == 0
    assert "1 problem while reading:\n  t.csv:5: expected a line end" in capsys.readouterr().out
    assert run(["score", "campaign", "--references", "refs.csv", "--strict"]) == 1


def test_a_references_file_without_a_last_line_end_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(TEXT)
    (tmp_path / "refs.csv").write_text("instance,value\ni,900")
    assert run(["score", "t.csv", "--references", "refs.csv"]) == 0
    assert "note: refs.csv: expected a line end after the last row, got none" in capsys.readouterr().out


cells = st.text(st.sampled_from('ab1 ,;\n"'), max_size=4)


@given(st.lists(st.lists(cells, min_size=1, max_size=5), min_size=1, max_size=8), st.sampled_from([",", ";"]))
def test_fields_are_counted_as_the_csv_module_writes_them(rows, separator):
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    assert count_fields(text.getvalue().encode(), separator).tolist() == [len(row) for row in rows]


def test_the_count_does_not_depend_on_where_a_block_ends(monkeypatch):
    draw = random.Random(3)
    for _ in range(50):
        data = bytes(draw.choices(b'a,"\n', weights=[4, 4, 1, 2], k=60))
        whole = count_fields(data, ",").tolist()
        for size in (1, 2, 7):
            monkeypatch.setattr(blocks, "BLOCK", size)
            assert count_fields(data, ",").tolist() == whole
        monkeypatch.undo()
