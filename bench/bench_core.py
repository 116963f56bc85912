"""The pass campaign → envelopes → scores, its memory, its growth, curves, and what people use today."""

import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import polars as pl

import gapline as gl
from bench.timing import ratio
from bench.traces import make_campaign, references
from gapline.campaign.campaign import Campaign
from gapline.scoring.curve import curve_sum
from gapline.scoring.kernels import PAPER_KERNELS, parse_kernel

Row = tuple[str, float, float | None]


def run() -> list[Row]:
    rows = _pass_rows() + _curve_rows() + _neighbour_rows()
    return [*rows, _memory_row(1 / 3, 1.5), _memory_row(1.0, 2.0)]


def _score(campaign: Campaign, snapshot: gl.Snapshot) -> gl.Scores:
    return gl.score(gl.build_envelopes(campaign), snapshot, kernels=PAPER_KERNELS, goals=[0.01])


def _sum_columns(campaign: Campaign) -> float:
    return float(campaign.time.sum() + campaign.objective.sum())


def _pass_rows() -> list[Row]:
    campaign = make_campaign(runs=20_000, candidates=1000, improving=1 / 3)
    snapshot = references(campaign)
    half = campaign.filter(instance=sorted(campaign.runs["instance"].unique())[:100])
    envelopes = gl.build_envelopes(campaign)
    whole = ratio(lambda: _score(campaign, snapshot), lambda: _sum_columns(campaign))
    growth = ratio(lambda: _score(campaign, snapshot), lambda: _score(half, snapshot))
    other = references(campaign, 1050.0)
    again = ratio(lambda: gl.score(envelopes, other, kernels=PAPER_KERNELS), lambda: _score(campaign, snapshot))
    with tempfile.TemporaryDirectory() as folder:
        place = campaign.save(Path(folder) / "campaign")
        verified = ratio(lambda: gl.open(place), lambda: _sum_columns(campaign), repeats=5)
        scored = ratio(lambda: _score(gl.open(place), snapshot), lambda: _sum_columns(campaign), repeats=5)
    return [
        ("20 M candidates: envelope, five kernels, final gap, one goal / NumPy sum of two columns", whole, 6.0),
        ("opening 20 M candidates, every digest verified / the same sum", verified, None),
        ("opening, verifying and scoring them / the same sum", scored, None),
        ("twice the runs / half of them", growth, 2.2),
        ("a second reference, from the envelopes / the whole pass", again, None),
    ]


def _curve_rows() -> list[Row]:
    campaign = make_campaign(runs=20_000, candidates=250, improving=1.0)
    envelopes = gl.build_envelopes(campaign)
    snapshot = references(campaign)
    times = np.array(campaign.time)
    kernel = parse_kernel("squeezed")
    weights, values = np.full(len(envelopes), 1 / len(envelopes)), np.full(len(envelopes), 1100.0)

    def one_curve() -> object:
        return curve_sum(envelopes, values, weights, kernel=kernel).curve()

    def with_identity() -> object:
        return gl.mean_curve(envelopes, snapshot, by=[])

    return [
        (
            "mean curve of 20,000 runs, 5 M steps / np.sort of 5 M doubles",
            ratio(one_curve, lambda: np.sort(times)),
            14.0,
        ),
        ("the same through gl.mean_curve, area identity checked", ratio(with_identity, lambda: np.sort(times)), 14.0),
    ]


def _neighbour_rows() -> list[Row]:
    """What people use today, on the same traces: a pandas groupby, and iohinspector's area over the curve."""
    import pandas

    campaign = make_campaign(runs=1000, candidates=1000, improving=1 / 3)
    snapshot = references(campaign)
    run = np.repeat(np.arange(1000), 1000)
    frame = pandas.DataFrame({"run": run, "time": campaign.time, "objective": campaign.objective})

    def with_pandas() -> object:
        table = frame.assign(best=frame.groupby("run")["objective"].cummin())
        gap = (table["best"] - 1100.0) / (table["best"] + 1100.0)
        width = table.groupby("run")["time"].shift(-1).fillna(3600.0) - table["time"]
        area = (gap * width).groupby(table["run"]).sum() + table.groupby("run")["time"].first()
        return area / 3600.0

    ours = gl.score(gl.build_envelopes(campaign), snapshot).frame["squeezed"].to_numpy()
    assert np.allclose(np.asarray(with_pandas()), ours, rtol=0, atol=1e-9)
    rows: list[Row] = [
        (
            "a pandas groupby, one kernel, 1 M candidates / gapline, the same",
            ratio(with_pandas, lambda: gl.score(gl.build_envelopes(campaign), snapshot), repeats=5),
            None,
        )
    ]
    rows += _iohinspector_rows(campaign, snapshot)
    return rows


def _iohinspector_rows(campaign: Campaign, snapshot: gl.Snapshot) -> list[Row]:
    from iohinspector.metrics import get_aocc

    first = campaign.filter(instance="i00*")
    whole = first.compact()
    number = np.repeat(np.arange(len(whole)), whole.runs["count"].to_numpy())
    best = np.concatenate([np.minimum.accumulate(piece) for piece in np.split(np.array(whole.objective), len(whole))])
    frame = pl.DataFrame(
        {
            "data_id": number,
            "evaluations": np.ceil(whole.time).astype(np.int64),
            "eaf": 1.0 - (best - 1100.0) / (best + 1100.0),
            "function_name": ["f"] * len(number),
            "algorithm_name": ["a"] * len(number),
        }
    )

    def theirs() -> object:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return get_aocc(frame, eval_max=3600)

    mine = ratio(theirs, lambda: gl.score(gl.build_envelopes(first), snapshot), repeats=3)
    early, late = _late_start(theirs=True), _late_start(theirs=False)
    return [
        ("iohinspector's get_aocc / gapline, the same traces", mine, None),
        ("how much better a run that starts late comes out under get_aocc (it is dominated)", early, None),
        ("the same under gapline (it must not come out better)", late, 0.0),
    ]


def _late_start(*, theirs: bool) -> float:
    """Return how much better a run with 1.1 from 90 s on comes out than one that also has 10 from 1 s on."""
    traces = {1: [(1, 10.0), (90, 1.1)], 2: [(90, 1.1)]}
    if theirs:
        from iohinspector.metrics import get_aocc

        def area(trace: list[tuple[int, float]]) -> float:
            frame = pl.DataFrame(
                {
                    "data_id": [1] * len(trace),
                    "evaluations": [time for time, _ in trace],
                    "eaf": [1.0 - (z - 1.0) / (z + 1.0) for _, z in trace],
                    "function_name": ["f"] * len(trace),
                    "algorithm_name": ["a"] * len(trace),
                }
            )
            return float(np.asarray(get_aocc(frame, eval_max=100)["AOCC"])[0])

        return area(traces[2]) - area(traces[1])
    runs = [{"arm": "a", "instance": "i", "seed": s, "horizon": 100.0, "trace": trace} for s, trace in traces.items()]
    scores = gl.score(gl.build_envelopes(gl.Campaign.from_runs(runs)), gl.Snapshot.from_values({"i": 1.0}, name="late"))
    by_seed = dict(scores.frame.select("seed", "squeezed").iter_rows())
    return float(by_seed[1] - by_seed[2])


_MEMORY = """
import sys
import gapline as gl
from bench.bench_core import _score
from bench.traces import make_campaign, references
small = make_campaign(runs=20, candidates=10, improving=1.0)
_score(small, references(small))
campaign = gl.open(sys.argv[1])
snapshot = references(campaign)
columns = sum(column.nbytes for column in campaign.columns.values())
# Touch the mapped columns first: they count as much as what the pass adds to them.
total = float(campaign.time.sum() + campaign.objective.sum() + campaign.verdict.sum())
def peak():
    # Not ru_maxrss: that one remembers the process which started us.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024
before = peak()
_score(campaign, snapshot)
print((columns + peak() - before) / columns)
"""


def _memory_row(improving: float, limit: float) -> Row:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        campaign = make_campaign(runs=20_000, candidates=1000, improving=improving)
        campaign.save(f"{folder}/campaign")
        del campaign
        command = [sys.executable, "-c", _MEMORY, f"{folder}/campaign"]
        # The small campaign is scored by compiled code too: what Numba itself takes is there before.
        environment = os.environ | {"GAPLINE_COMPILE": "always"}
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    share = "all" if improving == 1 else "a third"
    return f"peak memory of the pass / the columns, where {share} of the candidates improve", float(done.stdout), limit
