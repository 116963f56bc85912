"""Means of arms while cells are open, and pairs that nothing can change any more."""

import random
from fractions import Fraction

import pytest

import oracle
from gapline.live.state import LiveStudy
from live_studies import live_study, still


def bounds_of(state, kernel="squeezed"):
    found = state["bounds"][kernel]
    return {one["arm"]: (one["low"], one["high"], one["open"]) for one in found["arms"]}, found["pairs"]


def test_a_pair_is_decided_when_no_open_run_can_change_its_order(tmp_path):
    with live_study(tmp_path / "study", instances={"i1": 10.0}, seeds=(1, 2), certified=["i1"]) as study:
        live = LiveStudy(study.path, clock=still)
        live.look()
        study.run("a/i1/1", [(0.0, 11.0)])
        study.run("a/i1/2", [(0.0, 12.0)])
        study.run("b/i1/1", [(6.0, 30.0)])
        ends, (pair,) = bounds_of(live.look())
        # The other run of b may still be at the optimum all the time: (0.8 + 0) / 2 and more.
        assert ends["a"][0] == ends["a"][1] == pytest.approx((1 / 21 + 2 / 22) / 2)
        assert ends["b"][:2] == pytest.approx((0.4, 0.9))
        assert pair == {"a": "a", "b": "b", "decided": True, "better": "a"}


@pytest.mark.slow
@pytest.mark.parametrize(("weighting", "seed"), [("panel", 1), ("panel", 2), ("instance", 3), ("run", 4)])
def test_the_final_means_lie_inside_at_random_moments(tmp_path, seed, weighting):
    """Random campaigns, cut at random moments: runs begin, go on and end in any order."""
    chance = random.Random(seed)
    values = {"i1": 10.0, "i2": 7.0, "j1": 20.0}
    with live_study(tmp_path / "study", instances=values, seeds=(1, 2), certified=["i2"]) as study:
        text = (study.path / "study.toml").read_text()
        (study.path / "study.toml").write_text(text + f'\n[aggregate]\nweighting = "{weighting}"\n')
        # Its stamps are drawn and not measured: here no time goes by.
        live = LiveStudy(study.path, clock=still)
        live.look()
        seen, final, steps = [], {}, {}
        names = [str(cell.key) for cell in study.cells]
        open_runs, waiting = {}, chance.sample(names, len(names))
        while waiting or open_runs:
            if waiting and (not open_runs or chance.random() < 0.4):
                name = waiting.pop()
                study.begin(name)
                open_runs[name] = 0.0
                steps[name] = []
            else:
                name = chance.choice(sorted(open_runs))
                star = values[name.split("/")[1]]
                open_runs[name] += chance.random() * 4
                if open_runs[name] > 10 or chance.random() < 0.15:
                    study.end(name)
                    del open_runs[name]
                    score = oracle.integral(oracle.envelope([(t, z, True) for t, z in steps[name]], 10.0), star, 10.0)
                    final[name] = score
                else:
                    # Not below a certified optimum: that would be an alarm.
                    value = star * chance.uniform(1.0 if star == 7.0 else 0.4, 3.0)
                    study.say(name, open_runs[name], value)
                    steps[name].append((open_runs[name], value))
            seen.append(live.look())
        state = live.look()
        live.close()
    cells = {cell.key: cell.instance.panel for cell in study.cells}
    for arm in ("a", "b"):
        mine = [(panel, key.instance, final[str(key)]) for key, panel in cells.items() if key.arm == arm]
        exact = oracle.mean(mine, weighting=weighting)
        for moment in seen:
            low, high, _ = bounds_of(moment)[0][arm]
            assert Fraction(low) <= exact + Fraction(1e-13)
            assert exact <= Fraction(high) + Fraction(1e-13)
        low, high, left = bounds_of(state)[0][arm]
        assert (left, low) == (0, high)
        (row,) = [row for row in state["arms"] if row["arm"] == arm]
        assert row["scores"]["squeezed"] == low
        for moment in seen:
            (pair,) = bounds_of(moment)[1]
            if pair["decided"]:
                assert pair["better"] == bounds_of(state)[1][0]["better"]


def test_descriptive_arms_are_in_no_pair(tmp_path):
    with live_study(tmp_path / "study", arms=("a", "b", "c")) as study:
        text = (study.path / "study.toml").read_text()
        (study.path / "study.toml").write_text(text.replace('name = "c"', 'name = "c"\ntier = 2'))
        study.run("a/i1/1", [(0.0, 11.0)])
        live = LiveStudy(study.path, clock=still)
        _, pairs = bounds_of(live.look())
        assert [(pair["a"], pair["b"]) for pair in pairs] == [("a", "b")]


def test_without_a_reference_nothing_is_bounded(tmp_path):
    with live_study(tmp_path / "study") as study:
        (study.path / "references" / "known.json").unlink()
        state = LiveStudy(study.path, clock=still).look()
        assert bounds_of(state)[0]["a"] == (None, None, 2)
