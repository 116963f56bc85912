"""Reference sensitivity, against the slow way."""

import pytest

from planted import EXPECTED as WANT


def test_reference_shift_equals_the_slow_one(document, slow):
    references = document["references"]
    assert references["changed"] == WANT["changed"]
    assert references["instances"] == WANT["instances"]
    for row in references["shift"]:
        assert row["from"] == pytest.approx(slow.pooled(row["arm"], row["kernel"], "given"), abs=1e-13)
        assert row["to"] == pytest.approx(slow.pooled(row["arm"], row["kernel"], "analysis"), abs=1e-13)
    assert all(row["to"] == 0 for row in references["negative"])
