"""PAR-k and shifted geometric means, by hand."""

import math

import pytest

from gapline.errors import UsageError
from gapline.measures.running_times import penalised_mean
from measures.timed_runs import SNAPSHOT, envelopes_of


def test_par_and_geometric_mean_by_hand():
    envelopes = envelopes_of({("a", "i"): [2, None], ("a", "j"): [5, 5]})
    frame = penalised_mean(envelopes, SNAPSHOT, factor=10)
    assert frame.row(0) == ("a", 0.01, 4, 1, pytest.approx((51 + 5) / 2))
    mean = penalised_mean(envelopes, SNAPSHOT, factor=1, shift=1.0)["mean"][0]
    assert mean == pytest.approx(math.exp((math.log(3) + math.log(11) + 2 * math.log(6)) / 4) - 1)
    with pytest.raises(UsageError, match="factor"):
        penalised_mean(envelopes, SNAPSHOT, factor=0.5)
    with pytest.raises(UsageError, match="shift"):
        penalised_mean(envelopes, SNAPSHOT, factor=1, shift=0.0)
