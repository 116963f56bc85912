"""The page judges another choice as Python would: the same draws, the same rules, in a worker of its own."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import gapline as gl
from gapline.report.facts import make_statements
from gapline.report.page.build import JUDGE_SCRIPTS, write_page
from gapline.report.page.seal import read_part
from gapline.scoring.kernels import kernel_range
from gapline.statistics.bootstrap import Bootstrap, arm_intervals
from gapline.statistics.contrasts import contrasts
from gapline.statistics.estimate import Method
from gapline.statistics.intervals import DrawnSums, generator_start
from report.page_reader import number
from report.page_study import ARMS, make_study

DRAWS, SEED, LEVEL = 300, 7, 0.9
# Student's t takes logarithms and roots from the browser, whose last bits may be others than those of Python.
ULPS_OF_T = 2e-14
BY_TAILS = (Method.SKEW_T, Method.T)


@pytest.fixture(scope="module")
def judge(browser):
    """Return a function that evaluates an expression over what the worker runs."""
    script = "\n".join(read_part(f"script/{name}.js") for name in JUDGE_SCRIPTS[:-1])
    tab = browser.new_page()
    yield lambda expression, given=None: tab.evaluate(f"(given) => {{ {script}\nreturn {expression} }}", given)
    tab.close()


def given_to_worker(boot, method, pairs):
    return {
        "names": list(boot.cells.arms), "panels": list(boot.cells.panels), "arms": len(boot.cells.arms),
        "units": len(boot.cells.units), "panel": boot.cells.panel.tolist(), "counts": boot.counts.ravel().tolist(),
        "means": np.where(boot.counts > 0, boot.means, 0.0).ravel().tolist(), "weighting": boot.weighting.value,
        "method": method, "level": LEVEL, "draws": boot.draws, "generator": generator_start(boot.seed),
        "spares": generator_start([boot.seed, 1]),
        "range": [None if np.isinf(end) else end for end in kernel_range(boot.kernel)],
        "pairs": [{"a": a, "b": b, "declared": k == 0} for k, (a, b) in enumerate(pairs)],
    }  # fmt: skip


def close_to(found, wanted, width, method):
    """Say whether two numbers agree: to the last bit, or where tails are asked for within some bits of the width."""
    if found is None or wanted is None or isinstance(found, str) or method not in BY_TAILS:
        return found == wanted
    return abs(found - wanted) <= ULPS_OF_T * max(abs(wanted), width)


@pytest.mark.parametrize("weighting", ["panel", "instance", "run"])
@pytest.mark.parametrize("lacking", [True, False])
def test_intervals_and_contrasts_are_pythons(judge, study, weighting, lacking):
    """Of every method; with an arm that lacks an instance, whose draws take spare ones, and without."""
    scores = make_study(lacking=True).scores[0] if lacking else study.scores[0]
    pairs = [(a, b) for k, a in enumerate(ARMS) for b in ARMS[k + 1 :]]
    boot = Bootstrap(scores, weighting=weighting, draws=DRAWS, seed=SEED)
    for method in Method:
        found = judge("judgeAll(given)", given_to_worker(boot, method.value, pairs))
        spans = arm_intervals(boot, method=method, level=LEVEL).frame.to_dicts()
        chosen = {"declared": pairs[:1], "exploratory": pairs[1:]}
        tested = contrasts(boot, **chosen, method=method, level=LEVEL).frame.to_dicts()
        for name, ours, theirs in (("intervals", found["intervals"], spans), ("contrasts", found["contrasts"], tested)):
            assert len(ours) == len(theirs) > 0
            for mine, wanted in zip(ours, theirs, strict=True):
                width = 0.0 if wanted["low"] is None else wanted["high"] - wanted["low"]
                same = {key: close_to(mine[key], wanted[key], width, method) for key in mine if key in wanted}
                assert all(same.values()), (name, method, mine, wanted)
                value = "mean" if name == "intervals" else "difference"
                assert mine[value] == wanted[value], "the mean itself is exact under every method"


def test_draws_are_numpys_to_the_last_bit(judge):
    generator = np.random.default_rng(2)
    strata = np.array([2, 0, 1, 0, 2, 0, 1])
    values = generator.normal(size=(7, 3))
    present = np.array([True, False, True, True, True, True, False])
    given = {"strata": strata.tolist(), "values": values.ravel().tolist(), "present": present.tolist(),
             "all": [True] * 7,
             "how": {"draws": 200, "generator": generator_start(5), "spares": generator_start([5, 1])}}  # fmt: skip
    sums = DrawnSums(strata, values, draws=200, seed=5)
    for mark, mask in (("given.all", None), ("given.present", present)):
        call = f"drawnSums(given.strata, given.values, 3, given.how, {mark}).map((part) => [...part])"
        assert judge(call, given) == [part.ravel().tolist() for part in sums.over(mask)]


def test_sums_are_rounded_once(judge):
    generator = np.random.default_rng(3)
    lists = [[], [0.1] * 10, [1e16, 1.0, -1e16, 0.1], [1.0, 2.0**-53, 2.0**-106], [1.0, 2.0**-53, -(2.0**-106)]]
    lists += [(generator.normal(size=200) * 10.0 ** generator.integers(-20, 20, 200)).tolist() for _ in range(20)]
    assert [float(found) for found in judge("given.map(exactSum)", lists)] == [math.fsum(values) for values in lists]


@pytest.mark.slow
@pytest.mark.parametrize("choice", [{"kernel": "maxform"}, {"weighting": "run"}, {"snapshot": 1, "horizon": 12.5}])
def test_another_choice_shows_its_own_intervals_and_never_an_older_one(open_page, exact_file, exact_study, choice):
    study, page = exact_study, open_page(exact_file)
    before = {row["arm"]: row["95 % interval"] for row in page.table("ranking")}
    page.choose(**choice)
    envelopes = gl.build_envelopes(study.campaign, horizon=choice.get("horizon"))
    snapshot = study.references[0].snapshot
    if choice.get("snapshot"):
        snapshot = gl.analysis_snapshot(snapshot, envelopes)
    kernel = choice.get("kernel", "squeezed")
    scores = gl.score(envelopes, snapshot, kernels=[kernel])
    boot = Bootstrap(scores, weighting=choice.get("weighting", "panel"), draws=study.draws, seed=study.seed)
    wanted = {row["arm"]: row for row in arm_intervals(boot).frame.to_dicts()}
    saved = {row["arm"]: row for row in page.saved("arms")}
    for row in page.table("ranking"):
        span = wanted[row["arm"]]
        if span["low"] is None:
            assert row["95 % interval"] == "–"
            continue
        assert row["95 % interval"] != before[row["arm"]]
        assert row["95 % interval"] == f"{span['low']:.5f} to {span['high']:.5f}"
        for end in ("low", "high"):
            assert float(saved[row["arm"]][end]) == pytest.approx(span[end], rel=0, abs=ULPS_OF_T)
    tested = {(row["a"], row["b"]): row for row in contrasts(boot, declared=study.declared).frame.to_dicts()}
    for row in page.table("contrast-table"):
        pair = tested[row["arm a"], row["arm b"]]
        assert number(row["a − b"]) == pytest.approx(pair["difference"], abs=5.1e-6)
        if pair["low"] is None:
            assert (row["95 % interval"], row["excludes 0"], row["kind"]) == ("–", "–", pair["reason"])
        else:
            apart = pair["low"] > 0 or pair["high"] < 0
            assert row["excludes 0"] == ("yes" if apart else "no")
            assert number(row["95 % interval"].split(" to ")[0]) == pytest.approx(pair["low"], abs=5.1e-6)
            assert float(row["p (Holm)"].strip("()")) == pytest.approx(pair["p_holm"] or pair["p"], abs=5.1e-4)
    assert page.page.locator(".stale:visible").count() == 0
    assert page.page.locator("#classical .block").first.is_hidden(), "of the declared choice alone"


def test_while_a_worker_is_at_it_no_interval_stands_anywhere(open_page, page_file):
    page = open_page(page_file)
    # The worker is held back until it is let go: what the page shows in between is what a reader of a slow one sees.
    page.page.evaluate(
        """() => { const post = Worker.prototype.postMessage;
                   Worker.prototype.postMessage = function (message) {
                       window.letGo = () => post.call(this, message) } }"""
    )
    page.page.select_option("#kernel", "maxform")
    page.page.wait_for_function("() => window.letGo")
    assert {row["95 % interval"] for row in page.table("ranking")} == {"…"}
    assert {row["excludes 0"] for row in page.table("contrast-table")} == {"…"}
    assert page.page.locator("#ranking .forest .span").count() == 0
    assert "being computed" in page.text("#subline")
    page.page.evaluate("() => window.letGo()")
    page.page.wait_for_function("() => !document.querySelector('.pending')")
    assert " to " in page.table("ranking")[0]["95 % interval"]


@pytest.mark.slow
def test_the_headline_of_another_choice_is_pythons(open_page, tmp_path):
    """Word for word what a report under that choice would say, where arms are told apart and where they are not."""
    study = make_study(above=0.001, contrasts=(("alpha", "gamma"),))
    both = study.without(["beta"])
    page = open_page(write_page(both, tmp_path / "page.html"))
    said = set()
    for kernel in both.kernels[:4]:
        for weighting in ("panel", "instance", "run"):
            page.choose(kernel=kernel, weighting=weighting)
            kernels = (kernel, *(name for name in both.kernels if name != kernel))
            python = make_statements(replace(both, kernels=kernels, weighting=weighting)).headline
            assert page.text("#headline") == python.text
            assert page.text("#subline") == python.detail
            said.add(python.text)
    assert len(said) > 4


def test_intervals_that_hold_together_are_not_shown_for_another_choice(open_page, tmp_path):
    study = replace(make_study(), simultaneous=True)
    page = open_page(write_page(study, tmp_path / "page.html"))
    assert " to " in page.table("contrast-table")[0]["95 % interval"]
    page.choose(kernel="maxform")
    row = page.table("contrast-table")[0]
    assert row["95 % interval"] == "–"
    assert "computed by Python alone" in row["kind"]


def test_a_browser_without_workers_shows_none_and_says_so(open_page, page_file):
    page = open_page(page_file)
    page.page.evaluate("() => { window.Worker = function () { throw new Error('no workers here') } }")
    page.choose(kernel="maxform")
    assert {row["95 % interval"] for row in page.table("ranking")} == {"–"}
    assert "this browser could not compute them (no workers here)" in page.text("#ranking-caption")
    assert json.dumps(page.saved("arms")).count('"low": ""') == len(ARMS)
