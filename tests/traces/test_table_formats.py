"""Every carrier of a trace gives the same campaign, and one that is broken is refused with its name."""

import pytest

import gapline as gl
from gapline.errors import TraceError
from traces.neutral_traces import CARRIERS, table, write

# Made by libraries that `make test` does without.
OTHERS = ("as_pyarrow", "as_duckdb")


@pytest.mark.parametrize(
    "carrier",
    [pytest.param(one, marks=pytest.mark.slow) if one.__name__ in OTHERS else one for one in CARRIERS],
)
def test_every_carrier_gives_the_same_campaign(carrier, tmp_path):
    campaign = gl.read(carrier(tmp_path))
    assert list(map(str, campaign.keys())) == ["a/i/1", "a/j/1", "b/i/7"]
    assert campaign.runs["count"].to_list() == [3, 0, 1]
    assert campaign.runs["panel"].to_list() == ["p", "q", "p"]
    assert campaign.runs["horizon"].to_list() == [30.0, 60.0, 30.0]
    assert campaign.time.tolist() == [0.5, 2.0, 3.0, 1.0]
    assert campaign.objective.tolist() == [30.0, 25.5, 20.0, 12.0]
    assert campaign.verdict.tolist() == [1, 1, 0, 2]
    assert campaign.digest() == gl.read(table()).digest()
    found = campaign.diagnostics
    assert (found.runs, found.empty, found.candidates, found.unchecked) == (3, 1, 4, 1)
    assert found.rejected == {"declared invalid": 1}
    assert found.problem_count == 0


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", '"abc"', "true", "[1]"])
def test_a_bad_number_in_jsonl_is_rejected_and_the_run_goes_on(number, tmp_path):
    """What json.dumps of other programs writes for NaN and infinity is no JSON, and still no reason to lose a file."""
    path = tmp_path / "t.jsonl"
    line = '{"arm": "a", "instance": "i", "seed": 1, "horizon": 30, "time": %s, "objective": %s}\n'
    path.write_text(line % (0.5, 30) + line % (1.5, number) + line % (2.5, 20), encoding="utf-8")
    campaign = gl.read(path)
    assert campaign.diagnostics.rejected_count == 1
    assert campaign.diagnostics.candidates == 3
    assert campaign.diagnostics.problems[0].startswith(f"{path}:2: expected ")
    assert gl.build_envelopes(campaign).objective.tolist() == [30.0, 20.0]


def test_a_column_twice_is_refused(tmp_path):
    path = write(tmp_path, ["a,i,1,1,20,7"], header="arm,instance,seed,time,objective,time")
    with pytest.raises(TraceError, match=r"bad\.csv.*time"):
        gl.read(path)


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet", "t.arrow"])
@pytest.mark.parametrize(
    "content", [b"", b"\x00\xff\xfe garbage", b"PAR1", b"ARROW1\x00\x00", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd\x00"]
)
def test_a_file_that_is_no_trace_is_refused_with_its_name(name, content, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(TraceError) as caught:
        gl.read(path)
    assert str(path) in str(caught.value)


def test_invalid_utf8_is_refused_with_the_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"arm,instance,seed,time,objective\na,i,1,1,20\n\xff\xfe,i,1,2,10\n")
    with pytest.raises(TraceError, match=r"t\.csv"):
        gl.read(path)


@pytest.mark.parametrize("line", ["[1, 2]", "7", "{", '{"arm": "a"', "null", '{"arm": "a"} {"arm": "b"}'])
def test_a_line_that_is_no_object_is_refused_with_its_number(line, tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text(
        '{"arm": "a", "instance": "i", "seed": 1, "time": 1, "objective": 2}\n' + line + "\n", encoding="utf-8"
    )
    with pytest.raises(TraceError, match=r"t\.jsonl:2: expected one JSON object"):
        gl.read(path)
