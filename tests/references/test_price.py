import pytest

from gapline.references.fold_candidates import put_price
from gapline.references.freeze import Moved


@pytest.mark.parametrize(
    ("priced", "reason", "moved", "left"),
    [
        (100.0, "", None, {"value": 100.0, "certified": True}),
        (100.0 + 1e-9, "", None, {"value": 100.0 + 1e-9, "certified": True, "stored": 100.0}),
        (101.0, "", Moved("i", 100.0, 101.0, "certificate withdrawn"),
         {"value": 101.0, "certified": False, "stored": 100.0}),
        (None, "too late", Moved("i", 100.0, None, "too late; certificate withdrawn"),
         {"value": None, "certified": False, "stored": 100.0, "stated": "infeasible: too late"}),
    ],
)  # fmt: skip
def test_the_price_of_the_checker_stands_in_the_entry(priced, reason, moved, left):
    entry = {"value": 100.0, "certified": True, "checker": "somebody else"}
    assert put_price("i", entry, priced, reason, tolerance=1e-9) == moved
    assert entry == left
