"""Numbers read as numbers give what text gives, to the bit and to the letter."""

import pytest
from hypothesis import HealthCheck, given, settings

from gapline.traces import table_formats
from gapline.traces.columns import PLAIN, Dialect
from gapline.traces.typed_rows import number_columns, read_typed
from profiles import examples
from traces.odd_tables import SIZES, as_csv, in_blocks, outcome, tables


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@given(table=tables())
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_read_with_types_gives_what_it_gives_as_text(size, table, tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    for end in ("\n", ""):
        path.write_bytes(as_csv(*table, end=end))
        with monkeypatch.context() as patched:
            in_blocks(patched, size)
            typed = outcome(path)
            patched.setattr(table_formats, "read_typed", lambda *_, **__: None)
            assert typed == outcome(path)


def test_a_clean_block_is_read_with_types_and_only_the_odd_one_as_text(tmp_path, monkeypatch):
    rows = ["a,i,1,1,9", "a,i,1,2,8", "a,i,1,-3,7", "a,i,1,4,6"]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["arm,instance,seed,time,objective", *rows, ""]))
    seen = []

    def watched(*args, **kwargs):
        seen.append(read_typed(*args, **kwargs) is not None)
        return read_typed(*args, **kwargs)

    in_blocks(monkeypatch, 1)
    monkeypatch.setattr(table_formats, "read_typed", watched)
    outcome(path)
    # A block of three rows, one of them with a time before the start, and a block of the last one.
    assert seen == [False, True]


def test_numbers_are_the_columns_of_candidates_that_stand_once_and_mean_nothing_else():
    names = ["arm", "time", "Objective", "bound", "Claimed", "size"]
    assert number_columns(names, PLAIN) == {"time": "time", "Objective": "objective", "bound": "bound"}
    assert number_columns([*names, "Time"], PLAIN) == {"Objective": "objective", "bound": "bound"}
    assert number_columns(names, Dialect.parse("time=size,panel=bound")) == {
        "time": "time",
        "Objective": "objective",
        "size": "time",
    }
    assert number_columns(names, Dialect.parse("time=size,panel=size")) == {
        "time": "time",
        "Objective": "objective",
        "bound": "bound",
    }
    assert number_columns(names, Dialect.parse(decimal=",")) == {}


@pytest.mark.parametrize("cell", ["-1", "inf", "nan", "1e400", "x", " ", "9007199254740992", "1_0", "1 "])
def test_a_block_with_an_odd_cell_is_no_table_of_numbers(cell):
    assert read_typed(f"time,b\n1,b\n{cell},b\n".encode(), {"time": "time"}, separator=",") is None


def test_nothing_is_nothing_in_both():
    table = read_typed(b'time,b\n,b\n"",b\n1,b\n', {"time": "time"}, separator=",")
    assert table is not None
    assert table["time"].to_list() == [None, None, 1.0]
