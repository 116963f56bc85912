"""Every schema is one that Polars takes, and names mean one thing."""

import polars as pl

from gapline.contract import tables
from gapline.contract.tables import FAILED, RUN_KEY, RUN_RECORD, RUNS, RunKey, RunStatus


def schemas():
    return {name: value for name, value in vars(tables).items() if name.isupper() and isinstance(value, dict)}


def test_every_schema_makes_an_empty_table():
    assert len(schemas()) > 15
    for name, schema in schemas().items():
        assert pl.DataFrame(schema=schema).width == len(schema), name


def test_one_column_has_one_type_in_every_table_of_runs():
    both = RUNS.keys() & RUN_RECORD.keys()
    assert {name: RUNS[name] for name in both} == {name: RUN_RECORD[name] for name in both}
    assert set(RUN_KEY) <= RUNS.keys()


def test_a_run_that_hit_its_time_limit_has_not_failed():
    assert set(FAILED) == {"crashed", "memory-limit", "killed", "lost"}
    assert RunStatus.TIME_LIMIT not in FAILED


def test_a_run_is_named_by_its_key():
    assert str(RunKey("hgs", "X-n101-k25", 3)) == "hgs/X-n101-k25/3"
