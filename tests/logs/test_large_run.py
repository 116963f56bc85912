"""A long run assembled in parts is the run assembled at once."""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from gapline.campaign.assembly import RunTrace, campaign_from_traces
from gapline.contract.tables import RUN_KEY, VerdictCode
from gapline.logs.spool import Spool

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
    whole = campaign_from_traces([trace])
    for in_memory in (0, 5, 100):
        spool = Spool(in_memory=in_memory)
        spool.add_large(trace, step=step)
        parts = spool.finish(whole.runs.select(RUN_KEY), facts={}, diagnostics=spool.diagnostics)
        assert parts.digest() == whole.digest()
        assert parts.diagnostics == whole.diagnostics
        assert parts.runs.equals(whole.runs.select(parts.runs.columns))
        assert parts.runs.width == whole.runs.width


def test_a_large_run_lies_between_others_as_it_came():
    others = [RunTrace([1.0], [float(seed)], arm="", instance="", seed=seed) for seed in (1, 3)]
    large = RunTrace(np.arange(7.0), np.arange(7.0, 0, -1), arm="", instance="", seed=2)
    spool = Spool(in_memory=4)
    spool.add(campaign_from_traces(others[:1]))
    spool.add_large(large, step=2)
    spool.add(campaign_from_traces(others[1:]))
    names = pl.DataFrame({"arm": ["c", "b", "a"], "instance": "i", "seed": 1})
    campaign = spool.finish(names, facts={}, diagnostics=spool.diagnostics)
    assert campaign.runs["count"].to_list() == [1, 7, 1]
    assert campaign.objective.tolist() == [3.0, *range(7, 0, -1), 1.0]
