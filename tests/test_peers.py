"""gapline and other tools: their values agree on the same traces, or the difference is the one that the page names."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from peers import costs, values
from peers.costs import Cost
from peers.features import FEATURES, NO, PART, YES
from peers.page import features_part, others_part, page_text, values_part
from peers.traces import draw_runs
from peers.values import SideBySide, compare_values

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "compared.md"


@pytest.fixture(scope="module")
def compared():
    """The measures of every tool that is installed here."""
    rows = compare_values(draw_runs(instances=6, seeds=5, steps=20))
    return [row for row in rows if isinstance(row, SideBySide)]


def test_every_difference_is_explained_and_the_page_has_these_values(compared):
    """The table of the page is made again and is the same to its last digit."""
    assert {row.peer for row in compared} >= {"pandas", "moocore", "cocopp", "iohinspector", "rliable"}
    assert [(row.measure, row.apart, row.explained) for row in compared if not row.agrees] == []
    # A difference that is explained away is a difference: the explanation is needed.
    assert all(row.apart > 1e-3 for row in compared if row.explained is not None)
    page = PAGE.read_text(encoding="utf-8")
    for line in values_part(compared).splitlines():
        # How far sums differ in their last bits depends on the processor.
        first, *_ = re.split(r" \| [\de.-]+ \| \d+ \|$| What is left then: ", line)
        assert first in page


def test_a_wrong_value_is_not_explained_away(compared):
    (area,) = [row for row in compared if "area over the curve" in row.measure]
    assert area.agrees
    assert not replace(area, explained=1e-9).agrees
    assert not replace(area, explained=None).agrees


def test_a_tool_that_is_missing_is_said_to_be(monkeypatch):
    monkeypatch.setattr(values, "PEERS", [("gone", "no_such_module", "nobody has it", ())])
    (row,) = values.compare_values([])
    assert row == values.Absent("gone", "nobody has it")
    assert "**gone** is not installed here: nobody has it." in values_part([row])


def test_costs_are_ratios_of_the_same_job(monkeypatch):
    """One job of each side in a process of its own, on few runs: both numbers are there."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(costs, "JOBS", {"area": costs.JOBS["area"]})
    (cost,) = costs.measure_costs(20)
    assert (cost.peer, cost.job, cost.few, cost.runs) == ("iohinspector", "area over the curve of every run", 20, 20)
    assert min(cost.time_of_few, cost.time, cost.memory) > 0


def test_the_page_says_who_is_faster_on_few_runs_and_on_many():
    slow, quick = (
        Cost(peer, "a job", 60, 2000, few, many, memory)
        for peer, few, many, memory in (("one", 0.5, 12.3, 1.0), ("two", 2.0, 0.25, 0.75))
    )
    text = page_text([], [slow, quick], runs=0)
    assert "| one | a job | 0.5 | 12 | 2,000 | 1 |" in text
    assert "Faster than gapline on 60 runs: one (a job); on many: two (a job). In less memory: two (a job)." in text


def test_the_page_has_the_features_and_where_others_are_better_as_they_are_written_here():
    """What is measured is renewed by `make compare-peers` alone; this needs no measuring."""
    page = PAGE.read_text(encoding="utf-8")
    assert others_part() in page
    assert page.endswith(features_part() + "\n")


def test_what_a_tool_costs_is_measured_where_it_is_installed(monkeypatch):
    job = costs.JOBS["area"]._replace(module="no_such_module")
    monkeypatch.setattr(costs, "JOBS", {"gone": job})
    assert costs.measure_costs(20) == []


def test_every_row_of_the_features_leads_to_what_shows_it():
    for row in [row for group in FEATURES.values() for row in group]:
        assert row.state in (YES, PART, NO)
        assert bool(row.note) or row.state != PART, f"{row.what}: which part?"
        if row.shown.startswith("tests/"):
            assert (ROOT / row.shown).is_file(), row
            continue
        name, _, anchor = row.shown.partition("#")
        text = (ROOT / "docs" / name).read_text(encoding="utf-8")
        heads = {
            re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in re.findall(r"^#+ (.*)$", text, re.M)
        }
        assert not anchor or anchor in heads, row
