"""Merging campaigns: disjoint runs into one, whatever the order; clashes are listed and refused."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gapline as gl
import strategies
from gapline.campaign.columns import PartedColumn
from gapline.contract.tables import RunKey
from gapline.errors import TraceError
from gapline.traces.merge import gather_parts, merge_campaigns


def campaign(*seeds, arm="a", **more):
    return gl.Campaign.from_runs(
        [{"arm": arm, "instance": "i", "seed": s, "horizon": 9, "trace": [(1, 5.0 + s)], **more} for s in seeds]
    )


@given(strategies.campaigns(), st.lists(st.integers(0, 2), min_size=10, max_size=10), st.randoms(use_true_random=False))
def test_merging_the_parts_gives_the_whole_in_any_order(drawn, labels, random):
    runs, references = drawn
    whole = gl.Campaign.from_runs(runs)
    # An empty part list or a part without verdicts would read as another campaign; every trace here has verdicts.
    groups = [[r for r, label in zip(runs, labels, strict=False) if label == k] for k in range(3)]
    verdict_known = [group for group in groups if any(r["trace"] for r in group)]
    if sum(map(len, verdict_known)) < len(runs):
        return
    parts = [gl.Campaign.from_runs(group) for group in verdict_known]
    random.shuffle(parts)
    merged = gl.merge(parts)
    assert merged.digest() == whole.digest()
    assert len(merged) == len(whole)
    snapshot = gl.Snapshot.from_values(references, name="mine")
    mine = gl.score(gl.build_envelopes(merged), snapshot).frame
    assert mine.equals(gl.score(gl.build_envelopes(whole), snapshot).frame.select(mine.columns))
    assert merged.diagnostics.candidates == whole.diagnostics.candidates
    assert merged.diagnostics.rejected == whole.diagnostics.rejected


def test_clashing_runs_are_listed_and_refused():
    with pytest.raises(TraceError, match="got 2 in more than one source: a/i/2, a/i/3") as caught:
        gl.merge([campaign(1, 2, 3), campaign(2, 3, 4)])
    assert "rename an arm" in caught.value.hint


def test_facts_that_differ_are_refused():
    parts = [replace(campaign(s), facts={"checker": c}) for s, c in ((1, "v1"), (2, "v2"))]
    with pytest.raises(TraceError, match="expected one checker, got 'v1' and 'v2'"):
        gl.merge(parts)


def test_columns_that_only_one_source_has_are_null_in_the_other():
    merged = gl.merge([campaign(1, threads=4), campaign(2)])
    assert merged.runs["threads"].to_list() == [4, None]
    with_bound = gl.read([{"arm": "b", "instance": "i", "seed": 1, "time": 1.0, "objective": 5.0, "bound": 3.0}])
    assert gl.merge([campaign(1), with_bound]).bound.tolist()[1] == 3.0


def test_reasons_of_both_sources_survive_even_when_there_are_more_than_codes():
    def rejected(arm, count):
        return gl.read(
            [
                {
                    "arm": arm,
                    "instance": "i",
                    "seed": 1,
                    "time": float(k),
                    "objective": 5.0,
                    "valid": False,
                    "reason": f"{arm}{k}",
                }
                for k in range(count)
            ],
            allow_empty=True,
        )

    few = gl.merge([rejected("x", 3), rejected("y", 2)])
    assert [few.reasons[code] for code in few.reason.tolist()] == ["x0", "x1", "x2", "y0", "y1"]
    many = gl.merge([rejected("x", 200), rejected("y", 200)])
    assert many.diagnostics.rejected_count == 400
    assert len(many.reasons) <= 256
    assert many.reasons[many.reason[0]] == "x0"


def test_a_merged_campaign_is_saved_and_opened_as_it_is(tmp_path):
    merged = gl.merge([campaign(3, 1), campaign(2, arm="b")])
    merged.save(tmp_path / "c")
    assert gl.open(tmp_path / "c").digest() == merged.digest()


def test_interrupted_cells_stay_unless_another_source_has_the_run():
    run = {"arm": "a", "instance": "i", "seed": 1, "horizon": 9.0, "trace": [(1.0, 5.0)]}
    first = replace(gl.Campaign.from_runs([run]), interrupted=(RunKey("b", "i", 1), RunKey("a", "i", 2)))
    second = replace(gl.Campaign.from_runs([run | {"seed": 2}]), interrupted=(RunKey("a", "j", 1),))
    assert gl.merge([first, second]).interrupted == (("a", "j", 1), ("b", "i", 1))
    assert gl.merge([second, first]).digest() == gl.merge([first, second]).digest()


def test_small_campaigns_are_gathered_and_large_ones_stay_where_they_are():
    parts = [campaign(1, 3), campaign(2, arm="b")]
    small, large = merge_campaigns(parts), merge_campaigns(parts, in_memory=2)
    assert isinstance(small.time, np.ndarray)
    assert isinstance(large.time, PartedColumn)
    assert small.digest() == large.digest() == gather_parts(large).digest()
    assert isinstance(gather_parts(large).time, np.ndarray)
    assert gather_parts(large, in_memory=2) is large
    assert gather_parts(small, in_memory=99) is small
