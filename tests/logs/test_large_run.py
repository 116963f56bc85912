"""A long run assembled in parts is the run assembled at once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gapline.campaign.assembly import RunTrace, campaign_from_traces
from gapline.contract.tables import VerdictCode
from gapline.logs.spool import campaign_from_large, in_steps

EVENTS = st.lists(
    st.tuples(
        st.sampled_from([0.0, 1.0, 1.5, 2.0, 50.0, np.inf, np.nan, -1.0]),
        st.sampled_from([3.0, 4.0, np.nan, np.inf, -1.0]),
        st.sampled_from([int(VerdictCode.VALID), int(VerdictCode.INVALID), int(VerdictCode.BOUND)]),
        st.sampled_from(["", "heavy", "late"]),
    ),
    min_size=1,
    max_size=12,
)


@given(EVENTS, st.booleans(), st.sampled_from([1, 2, 5, 100]))
def test_parts_change_nothing(events, in_order, step):
    if in_order:
        events = sorted(events, key=lambda event: (np.isnan(event[0]), event[0]))
    time, objective, verdict, reason = map(list, zip(*events, strict=True))
    trace = RunTrace(
        np.array(time), np.array(objective), np.array(verdict, np.uint8), "a", "i", 1, horizon=10.0,
        reason=reason, carried={"clock": "wall"},
    )  # fmt: skip
    whole, parts = campaign_from_traces([trace]), campaign_from_large(trace, step=step)
    assert parts.digest() == whole.digest()
    assert parts.diagnostics == whole.diagnostics
    assert parts.runs.equals(whole.runs)


def test_slices_cover_a_column_once():
    assert [list(range(7))[part] for part in in_steps(7, 3)] == [[0, 1, 2], [3, 4, 5], [6]]
