from fractions import Fraction

import pytest

from gapline.campaign.campaign import Campaign
from gapline.contract.tables import RunKey
from gapline.envelope.build import build_envelopes
from gapline.references.snapshot import Snapshot
from gapline.scoring.printed_integrals import check_stated_integrals


def campaign():
    return Campaign.from_runs(
        [
            {"arm": "a", "instance": "i", "seed": 0, "horizon": 100, "trace": [(10, 1080.0), (50, 1020.5)]},
            {"arm": "a", "instance": "j", "seed": 0, "horizon": 100, "trace": []},
            {"arm": "a", "instance": "k", "seed": 0, "horizon": 100, "trace": [(1, 5.0)]},
        ]
    )


def test_the_largest_difference_is_reported_with_its_run():
    exact = float((10 * Fraction(1, 10) + 40 * Fraction(8, 100) + 50 * Fraction(205, 10000)) / 100)
    stated = {
        RunKey("a", "i", 0): ("dimacs:1.1", exact),
        RunKey("a", "j", 0): ("dimacs:1.1", 0.11),
        RunKey("a", "k", 0): ("dimacs:1.1", 0.5),
    }
    snapshot = Snapshot.from_values({"i": 1000.0, "j": 10.0}, name="s")
    check = check_stated_integrals(build_envelopes(campaign()), snapshot, stated)
    # k has no reference; the empty run j scores 0.1 and claims 0.11
    assert (check.checked, check.run, check.kernel) == (2, RunKey("a", "j", 0), "dimacs:1.1")
    assert check.largest == pytest.approx(0.01)
    only = check_stated_integrals(build_envelopes(campaign()), snapshot, {RunKey("a", "i", 0): ("dimacs:1.1", exact)})
    assert only.largest <= 1e-15


def test_nothing_to_compare():
    snapshot = Snapshot.from_values({"other": 1.0}, name="s")
    assert check_stated_integrals(build_envelopes(campaign()), snapshot, {}) is None
    stated = {RunKey("a", "i", 0): ("dimacs:1.1", 0.1)}
    assert check_stated_integrals(build_envelopes(campaign()), snapshot, stated) is None
