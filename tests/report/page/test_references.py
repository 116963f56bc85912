"""The analysis reference at a shorter horizon is that of the command line: folded from what the runs had by then."""

import json

import pytest

from gapline.cli.app import run
from report.page_study import GOALS, KERNELS, PANELS


@pytest.mark.slow
@pytest.mark.parametrize("horizon", [12.5, 0.4])
@pytest.mark.parametrize("weighting", ["panel", "run"])
def test_a_shorter_horizon_folds_as_gapline_score_does(
    open_page, exact_file, exact_study, tmp_path, capsys, horizon, weighting
):
    """Means, final gaps, attainment and every run, to the last bit; at 0.4 s hardly anything was found."""
    exact_study.campaign.save(tmp_path / "campaign")
    exact_study.references[0].snapshot.save(tmp_path / "known.json")
    asked = ["score", tmp_path / "campaign", "--snapshot", tmp_path / "known.json", "--policy", "analysis",
             "--horizon", horizon, "--weighting", weighting, "--goal", GOALS[0], "--per-run", "--json"]  # fmt: skip
    asked += [word for kernel in KERNELS for word in ("--kernel", kernel)]
    assert run([str(word) for word in asked]) == 0
    printed = json.loads(capsys.readouterr().out)
    page = open_page(exact_file)
    page.choose(snapshot=1, horizon=horizon, weighting=weighting)
    runs = {(row["arm"], row["instance"], row["seed"]): row for row in printed["runs"]}
    for kernel in ("squeezed", "maxform", "dimacs:1.1"):
        page.choose(kernel=kernel)
        saved = {row["arm"]: row for row in page.saved("arms")}
        for arm in printed["arms"]:
            shown = saved[arm["arm"]]
            assert float(shown["mean"]) == arm["scores"][kernel]
            assert float(shown["attainment"]) == arm["attainment"][f"{GOALS[0]:g}"]
            assert (float(shown["final_gap"]) if shown["final_gap"] else None) == arm["final_gap"]
            assert (int(shown["late"]), int(shown["empty"])) == (arm["late"], arm["empty"])
            assert (shown["policy"], shown["digest"]) == ("analysis", "")
        assert f"folded here at {horizon:g} s" in page.text("#ranking-tools")
    for name in (name for names in PANELS.values() for name in names):
        page.change(page.page.locator("#instance-table button.link", has_text=name).click)
        for row in page.saved("runs"):
            wanted = runs[row["arm"], name, int(row["seed"])]
            assert float(row["score"]) == wanted["scores"]["dimacs:1.1"]
            assert (float(row["final_gap"]) if row["final_gap"] else None) == wanted["final_gap"]


def test_the_frozen_reference_stays_what_it_is_at_every_horizon(open_page, exact_file, exact_study):
    page = open_page(exact_file)
    page.choose(horizon=12.5)
    values = exact_study.references[0].snapshot.values
    assert {row["instance"]: float(row["reference"]) for row in page.table("instance-table")} == {
        name: entry.value for name, entry in values.items()
    }
    assert {row["digest"] for row in page.saved("arms")} == {exact_study.references[0].snapshot.digest}
