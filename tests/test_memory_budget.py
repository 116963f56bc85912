"""Whatever the memory budget, the parts, the threads and the workers: the same results, to the last bit."""

import json
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import gapline as gl
from gapline.campaign.campaign import Campaign
from gapline.campaign.columns import PartedColumn
from gapline.errors import UsageError
from gapline.files.memory import limited_memory
from gapline.study import Study, open_study
from gapline.study.analyse import analyse
from strategies import KERNELS, campaigns

# Bytes that hold one candidate at a time, seven, and all: arrays of the first two lie in scratch files.
ONE, SEVEN = 128, 7 * 128
BUDGETS = [ONE, SEVEN, None]
# Each example is a whole analysis, several times over.
WITHOUT_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)


class Shuffled:
    """Workers that are this process, and finish in any order; what they are told and answer goes through pickle."""

    def __init__(self, seed: int, width: int = 3) -> None:
        self._random, self._width = random.Random(seed), width

    def width(self) -> int:
        return self._width

    def run(self, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        import pickle

        for number in self._random.sample(range(len(tasks)), len(tasks)):
            said = pickle.loads(pickle.dumps((function, tasks[number])))
            yield number, pickle.loads(pickle.dumps(said[0](*said[1])))


def within(budget: int | None) -> Any:
    return limited_memory(budget) if budget else nullcontext()


def answers(open_it: Callable[[], Study]) -> dict[str, Any]:
    """Everything that is computed from the steps and candidates of a study."""
    study = open_it()
    found: dict[str, Any] = {"runs": study.scores[0].frame, "means": study.summary.frame, "notes": study.notes()}
    found["alarms"] = [alarm.document() for alarm in study.alarms]
    for relative in (False, True):
        if relative or not study.relative:
            curve = gl.mean_curve(study.envelopes, study.snapshot, kernel=study.kernels[0], relative=relative)
            found[f"curve {relative}"] = curve.frame
            found[f"attained {relative}"] = gl.attainment_curve(
                study.envelopes, study.snapshot, relative=relative, goals=[0.01, 0.5]
            ).frame
    found["tables"] = json.dumps(analyse(study).document(), sort_keys=True, default=str)
    return found


def assert_same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if isinstance(value, pl.DataFrame):
            assert_frame_equal(found[name], value, check_exact=True)
        else:
            assert found[name] == value, name


def in_parts(campaign: Campaign, parts: int, seed: int) -> Campaign:
    """Cut the runs into parts at random, as if each part had been imported by itself."""
    whole = campaign.compact()
    owner = np.random.default_rng(seed).integers(0, parts, len(whole))
    first, columns = np.zeros(len(whole), np.int64), {name: [] for name in whole.columns}
    at = 0
    for part in range(parts):
        for pieces in columns.values():
            pieces.append([])
        for row in np.flatnonzero(owner == part).tolist():
            low, count = whole.runs["first"][row], whole.runs["count"][row]
            first[row] = at
            at += count
            for name, column in whole.columns.items():
                columns[name][-1].append(column[low : low + count])
    empty = {name: column[:0] for name, column in whole.columns.items()}
    cut = {name: PartedColumn([np.concatenate([empty[name], *p]) for p in lists]) for name, lists in columns.items()}
    return Campaign.from_arrays(
        runs=whole.runs.with_columns(first=pl.Series(first)),
        reasons=whole.reasons,
        facts=whole.facts,
        diagnostics=whole.diagnostics,
        **cut,
    )


def opened(source: Any, references: dict[str, float], **choices: Any) -> Callable[[], Study]:
    snapshot = gl.Snapshot.from_values(references, name="drawn")
    drawn: dict[str, Any] = {"sense": "min", "allow_empty": True}  # some rise, and of some every candidate is invalid
    choices = {"snapshots": [snapshot], "kernels": KERNELS, "goals": [0.01, 0.5]} | drawn | choices
    return lambda: open_study(source, **choices)


@pytest.mark.slow
@given(campaigns(horizon=30.0, max_runs=12), st.integers(0, 9))
@settings(max_examples=6, deadline=None, phases=WITHOUT_SHRINKING)
def test_no_result_depends_on_budget_or_parts(drawn, seed):
    runs, references = drawn
    campaign = Campaign.from_runs(runs)
    expected = answers(opened(campaign, references))
    for budget in BUDGETS[:2]:
        with within(budget):
            assert_same(answers(opened(campaign, references)), expected)
    for parts in (1, 2, 5):
        with within(random.Random(seed).choice(BUDGETS)):
            assert_same(answers(opened(in_parts(campaign, parts, seed), references)), expected)


@pytest.mark.slow
@given(campaigns(max_runs=12), st.integers(0, 9))
@settings(max_examples=5, deadline=None, phases=WITHOUT_SHRINKING)
def test_no_result_depends_on_who_passes_over_the_steps(tmp_path_factory, drawn, seed):
    runs, references = drawn
    campaign = Campaign.from_runs([run | {"host": "slow"} for run in runs])
    place = campaign.save(tmp_path_factory.mktemp("held") / "campaign")
    negated = {"negate": runs[0]["arm"], "kernels": ["berthold"], "missing": "empty"}
    choices = random.Random(seed).choice([{}, negated, {"time_scale": "slow=0.5", "horizon": 0.004}])
    expected = answers(opened(str(place), references, **choices))
    for budget in BUDGETS:
        with within(budget):
            assert_same(answers(opened(str(place), references, workers=Shuffled(seed), **choices)), expected)


@pytest.mark.slow
def test_hierarchies_bounds_and_rejections_in_pieces():
    """Passes over what is not scored: dual bounds, reasons, components."""
    size = 60
    rng = np.random.default_rng(5)
    counts = rng.integers(0, 9, size)
    total = int(counts.sum())
    first = np.cumsum(counts) - counts
    rows = [
        {"arm": "ab"[k % 2], "instance": f"i{k // 4}", "seed": k % 4 // 2, "horizon": 30.0, "size": 5.0}
        for k in range(size)
    ]
    table = pl.DataFrame(rows).with_columns(first=pl.Series(first), count=pl.Series(counts))
    time = np.concatenate([np.sort(rng.uniform(0, 35, c)) for c in counts])
    primary, secondary = rng.integers(2, 5, total).astype(float), rng.uniform(10, 30, total)
    columns = {
        "time": time,
        "objective": 1000 * primary + secondary,
        "verdict": rng.choice([0, 1, 1, 1], total).astype(np.uint8),
        "reason": rng.integers(0, 3, total).astype(np.uint8),
        "bound": rng.uniform(1000, 2500, total),
    }
    columns["reason"][columns["verdict"] == 1] = 0
    campaign = Campaign.from_arrays(runs=table, reasons=("", "capacity", "window"), **columns)
    pair = Campaign.from_arrays(runs=table, **columns | {"reason": None}, primary=primary, secondary=secondary)
    references = {f"i{k}": 2011.0 for k in range(15)}
    for source, transform in ((campaign, ()), (pair, "hierarchical:1000")):
        expected = answers(opened(source, references, transform=transform))
        for budget in BUDGETS[:2]:
            with within(budget):
                assert_same(answers(opened(source, references, transform=transform)), expected)
                again = in_parts(source, 3, budget)
                assert_same(answers(opened(again, references, transform=transform)), expected)


def test_workers_need_columns_that_lie_in_files():
    campaign = Campaign.from_runs([{"arm": "a", "instance": "i", "seed": 1, "horizon": 9, "trace": [(1, 5.0)]}])
    with pytest.raises(UsageError, match="expected one campaign directory or study") as caught:
        opened(campaign, {"i": 4.0}, workers=Shuffled(1))()
    assert "gapline import" in caught.value.hint


def test_a_campaign_that_changed_meanwhile_is_refused_by_the_workers(tmp_path):
    runs = [{"arm": "a", "instance": "i", "seed": s, "horizon": 9, "trace": [(1, 5.0)]} for s in range(4)]
    place = Campaign.from_runs(runs).save(tmp_path / "campaign")
    study = opened(str(place), {"i": 4.0}, workers=Shuffled(1))()
    from gapline.envelope.worker_steps import _steps
    from gapline.errors import IntegrityError

    _steps.clear()
    Campaign.from_runs(runs[:3]).save(place, overwrite=True)
    with pytest.raises(IntegrityError, match="changed meanwhile"):
        _ = study.scores
