"""A study whose contract has a ladder, made without a solver: two arms, a ladder of slices on one instance."""

from dataclasses import replace

import gapline as gl
from gapline.contract.study_file import load_contract
from gapline.journal.plan_coverage import planned_cells

CONTRACT = """
seeds = 2
[study]
name = "ladders"
[objective]
checker = "cvrp"
[time]
horizon = 10
[[instances]]
path = "i.vrp"
panel = "p"
[[instances]]
path = "j.vrp"
panel = "p"
[[arms]]
name = "mine"
solver = "pyvrp"
[[arms]]
name = "other"
solver = "ortools"
[[arms]]
name = "sliced {slices}"
solver = "vrp-cli"
tier = TIER
ladder = {slices = [96, 5, 24]}
instances = ["i"]
"""
# arm, instance, seed -> (time, objective, valid); of `sliced 24` the second seed was never run.
TRACES = {
    ("mine", "i", 1): [(1, 12.0, True)],
    ("mine", "i", 2): [(2, 11.0, True)],
    ("mine", "j", 1): [(1, 24.0, True)],
    ("mine", "j", 2): [(1, 22.0, True)],
    ("other", "i", 1): [(4, 30.0, True)],
    ("other", "i", 2): [(4, 30.0, True)],
    ("other", "j", 1): [(4, 60.0, True)],
    ("other", "j", 2): [(4, 60.0, True)],
    ("sliced 96", "i", 1): [(3, 12.0, True), (4, 9.0, False)],
    ("sliced 96", "i", 2): [(5, 14.0, True)],
    ("sliced 5", "i", 1): [(1, 8.0, False), (2, 7.0, False)],
    ("sliced 5", "i", 2): [],
    ("sliced 24", "i", 1): [(6, 15.0, True)],
}


def ladder_study(folder, *, tier=2, wanted=None, **choices):
    """Open the runs under the contract, `wanted` being the patterns of a filter."""
    (folder / "study.toml").write_text(CONTRACT.replace("TIER", str(tier)))
    contract = load_contract(folder)
    runs = [
        {"arm": arm, "instance": instance, "seed": seed, "panel": "p", "horizon": 10.0, "tier": tier if "sliced" in arm
         else 1, "status": "time-limit", "trace": trace}
        for (arm, instance, seed), trace in TRACES.items()
    ]  # fmt: skip
    campaign = gl.Campaign.from_runs(runs).filter(**(wanted or {}))
    snapshot = gl.Snapshot.from_values({"i": 10.0, "j": 20.0}, name="mine")
    study = gl.open_study(campaign, snapshots=[snapshot], **({"draws": 50, "goals": [0.2]} | choices))
    cells = planned_cells(campaign, contract, wanted or {})
    missing = int((cells["state"] == "missing").sum())
    coverage = replace(study.coverage, planned=cells.height, missing=missing)
    return replace(study, contract=contract, planned=cells, coverage=coverage)
