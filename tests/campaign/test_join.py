"""Campaigns read as one: the runs in the order of their keys, the columns where they were."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gapline as gl
import strategies
from gapline.campaign.assembly import RunTrace, campaign_from_traces
from gapline.campaign.columns import PartedColumn
from gapline.campaign.join import join_campaigns, join_reasons
from gapline.errors import TraceError


def divided(campaign: gl.Campaign, labels: list[int]) -> list[gl.Campaign]:
    """Divide the runs of a campaign by label, each group with columns of its own."""
    masks = [[label == k for label in labels[: len(campaign)]] for k in sorted(set(labels[: len(campaign)]))]
    return [replace(campaign, runs=campaign.runs.filter(mask)).compact() for mask in masks]


@given(strategies.whole_traces(), st.lists(st.integers(0, 4), min_size=20, max_size=20), st.data())
def test_the_parts_read_as_one_equal_the_whole_row_for_row(drawn, labels, data):
    whole = campaign_from_traces(RunTrace(**one) for one in drawn[0])
    parts = data.draw(st.permutations(divided(whole, labels)))
    joined = join_campaigns(parts)
    assert joined.digest() == whole.digest()
    assert joined.runs.drop("first").equals(whole.runs.drop("first"))
    again = joined.compact()
    assert all(isinstance(column, np.ndarray) for column in again.columns.values())
    assert again.runs.equals(whole.runs)
    for name, column in whole.columns.items():
        if name != "reason":
            assert again.columns[name].tobytes() == column.tobytes()


def rejected(arm: str, *reasons: str) -> gl.Campaign:
    run = {"arm": arm, "instance": "i", "seed": 1, "objective": 5.0, "valid": False}
    return gl.read([run | {"time": float(k), "reason": why} for k, why in enumerate(reasons)], allow_empty=True)


def plain(arm: str, **more: float) -> gl.Campaign:
    return gl.read([{"arm": arm, "instance": "i", "seed": 1, "time": 1.0, "objective": 5.0, **more}])


def test_no_column_that_all_have_is_copied():
    parts = [plain("a"), plain("b", bound=3.0)]
    joined = join_campaigns(parts)
    for name in ("time", "objective", "verdict"):
        held = getattr(joined, name).parts
        assert all(np.shares_memory(part, getattr(one, name)) for part, one in zip(held, parts, strict=True))
    assert joined.bound.parts[0].strides == (0,)
    assert np.array_equal(np.asarray(joined.bound), [np.nan, 3.0], equal_nan=True)


def test_codes_of_different_tables_are_read_as_the_reasons_that_they_were():
    parts = [rejected("a", "late", "odd"), rejected("b", "heavy", "late"), plain("c")]
    joined = join_campaigns(parts)
    assert joined.reasons == ("", "late", "odd", "heavy")
    assert [joined.reasons[code] for code in joined.reason] == ["late", "odd", "heavy", "late", ""]
    # The first table is that of the whole: its codes are what they were.
    assert joined.reason.parts[0] is parts[0].reason
    assert join_reasons(parts)[1] == [[0, 1, 2], [0, 3, 1], []]


def test_reasons_beyond_those_that_a_code_can_name_are_pooled():
    joined = join_campaigns([rejected(arm, *(f"{arm}{k:03}" for k in range(200))) for arm in ("x", "y")])
    assert len(joined.reasons) == 241
    assert joined.reasons[int(joined.reason.max())] == "other reasons"
    assert joined.reasons[joined.reason[0]] == "x000"


def test_a_join_of_joins_is_the_join_of_all():
    a, b, c = rejected("a", "late"), plain("b", bound=2.0), rejected("c", "odd")
    nested, flat = join_campaigns([join_campaigns([a, b]), c]), join_campaigns([a, b, c])
    assert nested.digest() == flat.digest()
    assert isinstance(nested.time, PartedColumn)
    assert len(nested.time.parts) == 3
    assert nested.runs.equals(flat.runs)
    assert nested.diagnostics == flat.diagnostics


def test_runs_that_were_filtered_are_joined_without_the_others():
    both = gl.merge([plain("a"), plain("b")]).filter(arm="b")
    joined = join_campaigns([both, plain("c")])
    assert joined.digest() == gl.merge([plain("b"), plain("c")]).digest()


def test_what_is_refused_of_sources_is_refused_of_parts():
    with pytest.raises(TraceError, match="got 1 in more than one source: a/i/1"):
        join_campaigns([plain("a"), plain("a")])
    other = replace(plain("b"), facts={"checker": "v2"})
    with pytest.raises(TraceError, match="expected one checker, got 'v1' and 'v2'"):
        join_campaigns([replace(plain("a"), facts={"checker": "v1"}), other])
