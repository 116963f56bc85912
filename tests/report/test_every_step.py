"""Every step of long curves: piece by piece the rows of the whole curve, within any budget."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from gapline.files.memory import limited_memory
from gapline.report import curves
from gapline.report.curves import EveryStep, study_mean_curve
from report.report_studies import by_hand


@pytest.mark.slow
@pytest.mark.parametrize("budget", [128, 7 * 128, None])
@pytest.mark.parametrize("by", [[], ["arm"], ["arm", "seed"]])
@pytest.mark.parametrize("relative", [False, True])
def test_the_pieces_are_the_whole_curve(budget, by, relative, monkeypatch):
    study = by_hand()
    whole = study_mean_curve(study, by=by, relative=relative).frame
    monkeypatch.setattr(curves, "AT_ONCE", 2)
    with limited_memory(budget):
        pieces = list(EveryStep(study, tuple(by), relative).frames())
    assert max(piece.height for piece in pieces) == 2
    assert_frame_equal(pl.concat(pieces), whole, check_exact=True)


def test_documents_have_one_entry_for_each_curve():
    study = by_hand()
    found = EveryStep(study, ("arm",), False).documents()
    whole = study_mean_curve(study, by=["arm"], relative=False)
    assert [(one["arm"],) for one in found] == [key for key, *_ in whole.groups()]
    assert [one["value"] for one in found] == [value.tolist() for *_, value in whole.groups()]
