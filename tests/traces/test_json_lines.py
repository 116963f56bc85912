"""Lines that are all alike give what they give when every line is looked at first."""

import pytest
from hypothesis import HealthCheck, given, settings

from gapline.traces import neutral
from gapline.traces.json_lines import OddLineError, read_alike
from profiles import examples
from traces.odd_tables import as_jsonl, in_blocks, outcome, tables


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 500, 2000])
@given(table=tables())
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_of_lines_gives_what_it_gives_when_each_is_looked_at(size, table, tmp_path, monkeypatch):
    path = tmp_path / "t.jsonl"
    path.write_bytes(as_jsonl(*table))
    with monkeypatch.context() as patched:
        in_blocks(patched, size)
        alike = outcome(path)
        patched.setattr(neutral, "_read_alike", lambda *_, **__: None)
        assert alike == outcome(path)


def test_lines_that_are_alike_become_columns_of_their_types():
    lines = b'{"arm":"a","seed":1,"time":2,"valid":true,"x":null}\n{"seed":2,"time":0.5,"valid":null,"arm":"b"}\r\n'
    ((table, line),) = read_alike(b"\xef\xbb\xbf" + lines, source="t")
    assert line == 1
    assert table.rows() == [("a", 1, 2.0, True, None), ("b", 2, 0.5, None, None)]
    assert [str(kind) for kind in table.dtypes] == ["String", "Int64", "Float64", "Boolean", "Float64"]


@pytest.mark.parametrize(
    "lines",
    [
        b"",
        b"\n",
        b'{"x":1}\n\n{"x":2}\n',
        b'{"x":1}{"x":2}\n',
        b'{"x":1}{"x":\n2}\n',
        b'{"x":\n1}\n',
        b'{"x":1}\n{"x":1.5}\n'.replace(b"1.5", b'"1"'),
        b'{"x":[1]}\n',
        b'{"x":NaN}\n',
        b'{"time":9007199254740993}\n',
        b'{"x":9223372036854775808}\n',
        b"[1]\n",
        b'{"x":1}\n{"x":1,"y":2',
        b'{"a\\"b":1}\n',
        b"\xff\n",
    ],
)
def test_other_lines_are_given_up(lines):
    with pytest.raises(OddLineError):
        list(read_alike(lines, source="t"))


def test_what_comes_behind_the_lines_that_are_believed_is_looked_at_too():
    with pytest.raises(OddLineError):
        list(read_alike(b'{"x":1}\n' * 2000 + b'{"x":1,"y":2}\n', source="t"))
