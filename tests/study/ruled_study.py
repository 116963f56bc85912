"""A study by contract whose campaign nobody had to run, for tests of what is decided about it."""

import gapline as gl
from gapline.contract.study_file import load_contract
from gapline.journal.register import declare, register_plan
from gapline.references.snapshot import Snapshot

CONTRACT = """
seeds = [1, 2]
[study]
name = "rules"
[objective]
validation = "solver"
[time]
horizon = 10
[reference]
snapshot = "known.json"
{reference}
{tables}
[[instances]]
path = "i.txt"
[[instances]]
path = "j.txt"
horizon = 5
[[arms]]
name = "a"
solver = "command"
command = ["a"]
[[arms]]
name = "b"
solver = "command"
command = ["b"]
[[arms]]
name = "c"
solver = "command"
command = ["c"]
tier = 2
"""
CELLS = [(arm, instance, seed) for arm in "abc" for instance in "ij" for seed in (1, 2)]


def campaign_of(cells=CELLS, *, objective=12.0):
    return gl.Campaign.from_runs(
        [
            {"arm": a, "instance": i, "seed": s, "horizon": {"i": 10.0, "j": 5.0}[i], "status": "finished"}
            | {"trace": [(1.0, objective)]}
            for a, i, s in cells
        ]
    )


def write_study(folder, *, tables="", reference="", cells=CELLS, objective=12.0, ran=True, before=None):
    """Write a study whose reference is a certified 10 on both instances; `journal` is there where it was run by us."""
    entries = {name: {"value": 10.0, "certified": True} for name in "ij"}
    (folder / "known.json").unlink(missing_ok=True)
    Snapshot.from_entries(entries, name="known", store={"name": "test"}).save(folder / "known.json")
    if before is not None:
        (folder / "study.toml").write_text(CONTRACT.format(reference=reference, tables=before))
        register_plan(folder, declare(folder, load_contract(folder), known={}))
    (folder / "study.toml").write_text(CONTRACT.format(reference=reference, tables=tables))
    campaign_of(cells, objective=objective).save(folder / "campaign", overwrite=True)
    if ran:
        (folder / "journal").mkdir(exist_ok=True)
    return folder
