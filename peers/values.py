"""The same question to gapline and to another tool, on the same traces: every difference is explained."""

import importlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

import gapline as gl
from gapline.measures.areas import area_over_curve, time_quality_hypervolume
from gapline.measures.attainment_surface import attainment_surface
from gapline.measures.compared_arms import compare_cells
from gapline.measures.improvement import arm_averages, probability_of_improvement
from gapline.measures.running_times import expected_running_time
from peers.traces import ARMS, HORIZON, REFERENCE, judged, per_run, score_matrix

Runs = list[dict[str, Any]]
# Sums in another order differ in their last bits; nothing else may.
ALIKE = 1e-12
GOAL = 0.05


@dataclass(frozen=True)
class SideBySide:
    """One measure by two tools: a value per arm, and how far apart all values are that were compared."""

    peer: str
    measure: str
    ours: dict[str, float | None]
    theirs: dict[str, float | None]
    values: int
    apart: float
    said: str = "None."
    explained: float | None = None

    @property
    def agrees(self) -> bool:
        """Whether the values are equal, or are once the named difference is taken out."""
        return (self.apart if self.explained is None else self.explained) <= ALIKE


@dataclass(frozen=True)
class Absent:
    """A tool that is not installed here."""

    peer: str
    why: str


def compare_values(runs: Runs) -> Iterator[SideBySide | Absent]:
    """Ask every tool that is installed."""
    for peer, module, why, questions in PEERS:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                importlib.import_module(module)
        except ImportError:
            yield Absent(peer, why)
            continue
        for question in questions:
            with warnings.catch_warnings():
                # Warnings of their own code, about their own dependencies.
                warnings.simplefilter("ignore")
                yield question(runs)


def by_pandas(runs: Runs) -> SideBySide:
    """Return the squeezed score as people write it with a groupby."""
    import pandas

    envelopes, snapshot = judged(runs)
    ours = per_run(envelopes, runs, gl.score(envelopes, snapshot).frame["squeezed"].to_numpy())
    rows = [(number, time, value) for number, run in enumerate(runs) for time, value in run["trace"]]
    table = pandas.DataFrame(rows, columns=["run", "time", "objective"])
    gap = (table["objective"] - REFERENCE) / (table["objective"] + REFERENCE)
    width = table.groupby("run")["time"].shift(-1).fillna(HORIZON) - table["time"]
    area = (gap * width).groupby(table["run"]).sum() + table.groupby("run")["time"].first()
    theirs = np.full(len(runs), np.nan)
    theirs[area.index] = area / HORIZON
    found = ~np.isnan(theirs)
    empty = int((~found).sum())
    return SideBySide(
        "pandas",
        "mean squeezed score",
        _means(runs, ours),
        _means(runs, theirs),
        int(found.sum()),
        _apart(ours[found], theirs[found]),
        f"A run that found nothing has no row, so its mean leaves {empty} of {len(runs)} runs out; gapline counts each"
        " as 1. Runs that found something: equal.",
    )


def by_ipet(runs: Runs) -> SideBySide:
    """Return the primal integral of IPET: per cent times seconds, brought to the mean gap."""
    envelopes, snapshot = judged(runs)
    scores = gl.score(envelopes, snapshot, kernels=["berthold"]).frame["berthold"].to_numpy()
    ours = per_run(envelopes, runs, scores)
    theirs = ipet_integrals(runs) / (100 * HORIZON)
    return SideBySide(
        "IPET",
        "primal integral (`berthold`), as the mean gap",
        _means(runs, ours),
        _means(runs, theirs),
        len(runs),
        _apart(ours, theirs),
        "None: its per cent times seconds are 100 · horizon times ours.",
    )


def ipet_integrals(runs: Runs) -> np.ndarray:
    """Return what IPET says of each run, in per cent times seconds."""
    from ipet.misc import integrals

    class TestRun:
        """The three facts of a run that IPET asks for."""

        def getProblemDataById(self, number: int, key: str) -> Any:
            known = {integrals.DEFAULT_HISTORYTOUSE: runs[number]["trace"], integrals.DEFAULT_XAFTERSOLVEKEY: HORIZON}
            return known.get(key, HORIZON)

    lines = (integrals.getProcessPlotData(TestRun(), number, reference=REFERENCE) for number in range(len(runs)))
    return np.array([integrals.calcIntegralValue(line) for line in lines])


def by_moocore_volume(runs: Runs) -> SideBySide:
    """Return the hypervolume of each run's front of time and gap."""
    import moocore

    envelopes, snapshot = judged(runs)
    worst = 1.0
    ours = per_run(envelopes, runs, time_quality_hypervolume(envelopes, snapshot, worst_gap=worst))
    theirs = np.zeros(len(runs))
    for number, run in enumerate(runs):
        if run["trace"]:
            front = np.array([(time, value / REFERENCE - 1) for time, value in run["trace"]])
            theirs[number] = moocore.hypervolume(front, ref=[HORIZON, worst]) / (HORIZON * worst)
    said = "None; it takes no empty set, so an empty run's 0 is put in by hand."
    return SideBySide(
        "moocore", "hypervolume of time and gap", _means(runs, ours), _means(runs, theirs), len(runs),
        _apart(ours, theirs), said,
    )  # fmt: skip


def by_moocore_surface(runs: Runs) -> SideBySide:
    """Return the median attainment surface: every corner is compared, the gap at the end is shown."""
    import moocore

    # An empty set does not exist there: the surfaces are those of the runs that found something.
    found = [run for run in runs if run["trace"]]
    envelopes, snapshot = judged(found)
    surface = attainment_surface(envelopes, snapshot, levels=(0.5,))
    ours, theirs, apart, values = {}, {}, 0.0, 0
    for arm in ARMS:
        sets = [run["trace"] for run in found if run["arm"] == arm]
        points = [(time, value / REFERENCE - 1) for trace in sets for time, value in trace]
        numbers = np.repeat(np.arange(len(sets)), [len(trace) for trace in sets])
        corners = moocore.eaf(np.array(points), numbers, percentiles=[50])[:, :2]
        corners = corners[np.argsort(corners[:, 0])]
        mine = surface.filter(pl.col("arm") == arm).select("time", "gap").to_numpy()
        apart = max(apart, _apart(mine, corners)) if mine.shape == corners.shape else np.inf
        values += mine.size
        ours[arm], theirs[arm] = float(mine[-1, 1]), float(corners[-1, 1])
    empty = len(runs) - len(found)
    said = f"None among runs that found something; its sets cannot be empty, so {empty} runs are left out here."
    return SideBySide("moocore", "gap that half of the runs end with (EAF)", ours, theirs, values, apart, said)


def by_cocopp(runs: Runs) -> SideBySide:
    """Return the expected running time to a goal."""
    from cocopp import toolsstats

    envelopes, snapshot = judged(runs)
    ours = dict(expected_running_time(envelopes, snapshot, goals=(GOAL,)).select("arm", "ert").iter_rows())
    theirs = {}
    for arm in ARMS:
        hits = [_hit(run["trace"], GOAL) for run in runs if run["arm"] == arm]
        spent = [HORIZON if hit is None else hit for hit in hits]
        value = float(toolsstats.sp(spent, issuccessful=[hit is not None for hit in hits])[0])
        theirs[arm] = None if np.isinf(value) else value
    return SideBySide(
        "cocopp", f"expected running time to a gap of {100 * GOAL:g} %, s", ours, theirs, len(ARMS),
        _apart_of(ours, theirs),
        "None where a run succeeds; where none does it says infinity, gapline says that there is no such time.",
    )  # fmt: skip


def by_iohinspector_times(runs: Runs) -> SideBySide:
    """Return expected running times, which are other than ours by the empty runs alone."""
    from iohinspector import metrics

    rows = [
        (number, run["arm"], time, value / REFERENCE - 1)
        for number, run in enumerate(runs)
        for time, value in run["trace"]
    ]
    data = pl.DataFrame(rows, schema=["data_id", "algorithm_name", "evaluations", "raw_y"], orient="row")
    found = metrics.aggregate_running_time(
        data, f_min=0.01, f_max=0.4, scale_f_log=False, eval_max=HORIZON, return_as_pandas=False
    )
    goals = sorted(found["raw_y"].unique().to_list())
    theirs = {(row["algorithm_name"], row["raw_y"]): row["ERT"] for row in found.iter_rows(named=True)}
    theirs = {key: None if value is None or np.isinf(value) else float(value) for key, value in theirs.items()}
    # Its goals are gaps that were reached, compared to the last bit.
    ours = _running_times(runs, goals)
    without = _running_times([run for run in runs if run["trace"]], goals)
    shown = goals[len(goals) // 2]
    empty = sum(not run["trace"] for run in runs)
    return SideBySide(
        "iohinspector",
        f"expected running time to a gap of {100 * shown:.2f} %, s",
        {arm: ours[arm, shown] for arm in ARMS},
        {arm: theirs[arm, shown] for arm in ARMS},
        len(theirs),
        _apart_of(ours, theirs),
        f"It has no row for the {empty} runs that found nothing, so the time that they spent is missing; without them:"
        " equal.",
        _apart_of(without, theirs),
    )


def by_iohinspector_area(runs: Runs) -> SideBySide:
    """Return the area over the convergence curve, in which a late start counts as an early one."""
    from iohinspector import metrics

    envelopes, snapshot = judged(runs)
    areas = area_over_curve(envelopes, snapshot, lower=0.0, upper=1.0, logarithmic=False)
    ours = per_run(envelopes, runs, areas)
    rows = [
        (number, run["arm"], str(number), time, 1 - min(max(value / REFERENCE - 1, 0.0), 1.0))
        for number, run in enumerate(runs)
        for time, value in run["trace"]
    ]
    names = ["data_id", "algorithm_name", "function_name", "evaluations", "eaf"]
    data = pl.DataFrame(rows, schema=names, orient="row")
    found = metrics.get_aocc(data, eval_max=HORIZON, return_as_pandas=False)
    theirs = np.full(len(runs), np.nan)
    theirs[found["function_name"].cast(pl.Int64).to_numpy()] = found["AOCC"].to_numpy()
    # The time before the first candidate is given the quality of that candidate.
    first = [run["trace"][0] if run["trace"] else (0.0, REFERENCE) for run in runs]
    credit = np.array([time / HORIZON * (1 - min(value / REFERENCE - 1, 1.0)) for time, value in first])
    there = ~np.isnan(theirs)
    empty = int((~there).sum())
    return SideBySide(
        "iohinspector",
        "area over the curve (AOCC), larger is better",
        _means(runs, ours),
        _means(runs, theirs),
        int(there.sum()),
        _apart(ours[there], theirs[there]),
        "The time before the first candidate gets the quality of that candidate, so that a late starter comes out"
        f" better; that area taken out: equal. {empty} runs that found nothing have no row; gapline gives them 0.",
        _apart(ours[there] + credit[there], theirs[there]),
    )


def by_rliable_mean(runs: Runs) -> SideBySide:
    """Return the interquartile mean of the scores."""
    from rliable import metrics

    scores = gl.score(*judged(runs))
    averages = arm_averages(compare_cells(scores), draws=10).frame
    ours = dict(averages.select("arm", "iqm").iter_rows())
    theirs = {arm: float(metrics.aggregate_iqm(score_matrix(runs, scores, arm))) for arm in ARMS}
    return SideBySide(
        "rliable", "interquartile mean of scores", ours, theirs, len(ARMS), _apart_of(ours, theirs),
        "None; it needs as many runs of every task, gapline takes unbalanced ones.",
    )  # fmt: skip


def by_rliable_chance(runs: Runs) -> SideBySide:
    """Return the probability that an arm does better than the first one."""
    from rliable import metrics

    scores = gl.score(*judged(runs))
    first, *others = ARMS
    pairs = [(arm, first) for arm in others]
    chances = probability_of_improvement(compare_cells(scores), pairs, weighting="instance")
    ours = {arm: chance.value for arm, chance in zip(others, chances, strict=True)}
    # Larger is better there.
    matrices = {arm: -score_matrix(runs, scores, arm) for arm in ARMS}
    theirs = {arm: float(metrics.probability_of_improvement(matrices[arm], matrices[first])) for arm in others}
    return SideBySide(
        "rliable", f"probability of a better score than {first}", ours, theirs, len(others), _apart_of(ours, theirs),
        "None. Intervals are of other things: it draws other runs of the same tasks, gapline other instances.",
    )  # fmt: skip


def _running_times(runs: Runs, goals: list[float]) -> dict[tuple[str, float], float | None]:
    frame = expected_running_time(*judged(runs), goals=goals, tolerance=0.0)
    return {(arm, goal): ert for arm, goal, ert in frame.select("arm", "goal", "ert").iter_rows()}


def _hit(trace: list[tuple[float, float]], goal: float) -> float | None:
    return next((time for time, value in trace if value - REFERENCE <= goal * REFERENCE), None)


def _means(runs: Runs, values: np.ndarray) -> dict[str, float | None]:
    """Return the mean of each arm over the runs that have a value."""
    arms = np.array([run["arm"] for run in runs])
    return {arm: float(np.nanmean(values[arms == arm])) for arm in ARMS}


def _apart(ours: np.ndarray, theirs: np.ndarray) -> float:
    return float(np.abs(ours - theirs).max())


def _apart_of(ours: dict[Any, float | None], theirs: dict[Any, float | None]) -> float:
    """Return the largest difference; a value that only one of the two has is infinitely far off."""
    lacking = any((ours[key] is None) != (value is None) for key, value in theirs.items())
    both = [abs(ours[key] - value) for key, value in theirs.items() if value is not None and ours[key] is not None]
    return float("inf") if lacking else max(both, default=0.0)


_PIP = "pip install '.[dev]' brings it"
PEERS: list[tuple[str, str, str, tuple[Callable[[Runs], SideBySide], ...]]] = [
    ("pandas", "pandas", _PIP, (by_pandas,)),
    ("IPET", "ipet", "it is on no package index: `make compare-peers IPET=CHECKOUT` uses a checkout of it", (by_ipet,)),
    ("moocore", "moocore", _PIP, (by_moocore_volume, by_moocore_surface)),
    ("cocopp", "cocopp", _PIP, (by_cocopp,)),
    ("iohinspector", "iohinspector", _PIP, (by_iohinspector_times, by_iohinspector_area)),
    ("rliable", "rliable", _PIP, (by_rliable_mean, by_rliable_chance)),
]
