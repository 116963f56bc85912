"""The evaluation design: the paper's own campaign as one contract gives the paper's own counts."""

import polars as pl
import pytest

from campaign.paper_campaign import write_campaign
from cli.worked_traces import as_json
from gapline.cli.app import run
from gapline.contract.plan import Plan, evaluation_design, panel_design
from gapline.contract.study_file import load_contract


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return write_campaign(tmp_path_factory.mktemp("paper"))


def test_the_papers_campaign_is_one_contract(study):
    """Four arms of 1,760 runs each, one of tier 2, ladders of 3 × 60 and 5 × 100 (the paper's evaluation design)."""
    contract = load_contract(study, files=True)
    plan = Plan.of(contract)
    design = evaluation_design(contract, plan)
    shown = design.select("evidence", "arms", "steps", "runs_each", "runs", "instances", "panels", "seeds", "horizon")
    assert shown.rows() == [
        ("tier 1", 4, "", "1,760", 7040, 212, 10, "5 or 10", "3,600 s"),
        ("tier 2", 1, "", "1,760", 1760, 212, 10, "5 or 10", "3,600 s"),
        ("slices ladder", 3, "slices 5, 24, 96", "60", 180, 6, 1, "10", "3,600 s"),
        ("threads ladder", 5, "threads 1, 2, 4, 8, 16", "100", 500, 10, 1, "10", "3,600 s"),
    ]
    assert design["threads"].to_list() == ["1", "1", "1", "1, 2, 4, 8, 16"]
    panels = panel_design(plan)
    assert dict(panels.group_by("seeds").agg(pl.col("instances").sum()).iter_rows()) == {"10": 140, "5": 72}


def test_status_shows_the_plan_before_anything_is_run(study, capsys):
    assert run(["status", str(study), "--plan"]) == 0
    shown = capsys.readouterr().out
    for part in ("Evaluation design: 9,480 runs", "4 × 1,760", "3 × 60", "5 × 100", "9,480.0 hours of solving"):
        assert part in shown
    code, document = as_json(capsys, "status", str(study), "--plan")
    assert code == 0
    assert document["planned"] == 9480 == sum(one["runs"] for one in document["instances"])
    assert len(document["instances"]) == 212
    assert document["digest"] == Plan.of(load_contract(study)).digest
    assert not (study / "journal").exists()
