"""Columns that come in parts are the same whether they are held or lie in scratch files."""

import numpy as np
import pytest

from gapline.files.memory import limited_memory
from gapline.traces.blocks import GrowingColumns

PARTS = [{"time": np.arange(n, dtype=np.float64), "kept": np.arange(n) % 2 == 0} for n in (3, 0, 5, 1)]


@pytest.mark.parametrize("budget", [1, 300, 1 << 30])
def test_columns_do_not_depend_on_the_budget(budget):
    with limited_memory(budget):
        gathered = GrowingColumns()
        for number, part in enumerate(PARTS, start=1):
            gathered.add(part)
            for name, column in part.items():
                whole = gathered.whole(name)
                np.testing.assert_array_equal(whole, np.concatenate([one[name] for one in PARTS[:number]]))
                assert whole.dtype == column.dtype
    assert gathered.names == ["time", "kept"]
    np.testing.assert_array_equal(gathered.take("kept"), np.concatenate([part["kept"] for part in PARTS]))
    assert gathered.names == ["time"]


def test_one_part_is_taken_as_it_is():
    with limited_memory(1):
        gathered = GrowingColumns()
        gathered.add(PARTS[0])
        assert gathered.take("time") is PARTS[0]["time"]


def test_beyond_the_budget_columns_are_mapped():
    with limited_memory(1):
        gathered = GrowingColumns()
        gathered.add(PARTS[0])
        gathered.add(PARTS[2])
        assert isinstance(gathered.take("time"), np.memmap)
