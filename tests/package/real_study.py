"""A small study that real solvers ran and a real checker judged, with its results."""

from pathlib import Path

from gapline.generate import write_instances
from gapline.references.snapshot import Snapshot
from gapline.report.write import write_report
from gapline.run.campaign import run_study
from gapline.study import open_study

CONTRACT = """
seeds = [1, 2]
[study]
name = "small"
title = "A small study"
[objective]
checker = "cvrp"
[time]
horizon = 60
[reference]
snapshot = "references/known.json"
[aggregate]
contrasts = [["few", "many"]]
[aggregate.bootstrap]
draws = 200
[[instances]]
path = "instances/small-n30-1.vrp"
panel = "p"
[[instances]]
path = "instances/small-n30-2.vrp"
panel = "q"
[[arms]]
name = "few"
solver = "pyvrp"
options = { iterations = 5 }
[[arms]]
name = "many"
solver = "pyvrp"
options = { iterations = 150 }
"""


def make_study(folder: Path) -> Path:
    """Run a study of eight runs, each of some iterations, and write its report."""
    written = write_instances("cvrp", folder / "instances", name="small", customers=30, count=2)
    names = [Path(path).stem for path in written]
    (folder / "references").mkdir()
    known = {name: {"value": 100.0, "certified": False} for name in names}
    Snapshot.from_entries(known, name="known", store={"name": "test"}).save(folder / "references" / "known.json")
    (folder / "study.toml").write_text(CONTRACT)
    report = run_study(folder)
    assert (report.done, report.left, report.problems) == (8, 0, [])
    write_report(open_study(str(folder)), folder / "results", formats=("svg", "png"))
    return folder
