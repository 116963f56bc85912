"""Batches of runs become one campaign, the same one whether they wait in memory or on disk."""

import tracemalloc

import numpy as np
import polars as pl
import pytest

import gapline as gl
from gapline.campaign.assembly import RunTrace
from gapline.campaign.diagnostics import Diagnostics
from gapline.campaign.store import open_campaign
from gapline.logs.importer import build_import, import_logs
from gapline.logs.spool import Spool
from gapline.logs.survey import survey_logs
from traces.small_logs import dimacs


@pytest.mark.parametrize("in_memory", [0, 2, 100])
def test_runs_come_out_under_their_names_in_the_order_of_the_keys(in_memory):
    spool = Spool(in_memory=in_memory)
    for seed, (time, bound) in enumerate([([1.0, 2.0], None), ([], None), ([3.0], [0.5])]):
        spool.add_run(RunTrace(time, [9.0] * len(time), arm="", instance="", seed=seed, bound=bound))
        spool.flush()
    names = pl.DataFrame({"arm": ["c", "b", "a"], "instance": ["i"] * 3, "seed": [1, 1, 1]})
    campaign = spool.finish(names, facts={}, diagnostics=Diagnostics())
    assert list(map(str, campaign.keys())) == ["a/i/1", "b/i/1", "c/i/1"]
    assert campaign.runs["count"].to_list() == [1, 0, 2]
    assert campaign.time.tolist() == [3.0, 1.0, 2.0]
    np.testing.assert_array_equal(campaign.bound, [0.5, np.nan, np.nan])


def test_reasons_of_all_batches_share_one_list_of_codes():
    spool = Spool()
    for arm, reason in (("a", "late"), ("b", "heavy"), ("c", "late")):
        row = {"arm": arm, "instance": "i", "seed": 1, "time": 1.0, "objective": 2.0, "valid": False, "reason": reason}
        spool.add(gl.read([row], allow_empty=True))
    assert list(spool.reasons) == ["", "late", "heavy"]
    assert spool.diagnostics.rejected == {"late": 2, "heavy": 1}


def many(folder, files, rows):
    blocks = {
        f"f{number}_dot_out": dimacs(
            f"I{files - number}", rows="".join(f"{1090 - k / 100:.2f} 1 {k / 10:.1f}\n" for k in range(rows))
        )
        for number in range(files)
    }
    return folder(**blocks)


def test_batches_and_spilling_change_nothing(folder):
    logs = many(folder, 7, 50)
    (logs / "bad.out").write_text(dimacs("J", rows="x 1 1.0\n1000.0 1 2.0\n"))
    whole = import_logs([logs]).campaign
    for batch, in_memory in ((1, 10**9), (120, 10**9), (1, 0), (120, 100)):
        pieces = build_import(survey_logs([logs], batch=batch, in_memory=in_memory)).campaign
        assert pieces.digest() == whole.digest()
        assert pieces.diagnostics == whole.diagnostics
        assert pieces.runs.equals(whole.runs)


@pytest.mark.slow
def test_memory_is_bounded_by_the_largest_file(folder, tmp_path):
    peaks = []
    for files in (4, 24):
        logs = many(folder, files, 8000)
        tracemalloc.start()
        campaign = build_import(survey_logs([logs], batch=1, in_memory=0)).campaign
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert campaign.candidates == files * 8000
    assert peaks[1] < 1.3 * peaks[0]
    stored = open_campaign(campaign.save(tmp_path / "campaign"))
    assert np.array_equal(stored.time, campaign.time)
