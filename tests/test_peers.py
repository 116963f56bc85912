"""gapline and other tools: their values agree on the same traces, or the difference is the one that the page names."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from peers import costs, values
from peers.features import FEATURES, NO, PART, YES
from peers.page import values_part
from peers.traces import draw_runs
from peers.values import SideBySide, compare_values

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
    assert (cost.peer, cost.job) == ("iohinspector", "area over the curve of every run, 20 runs")
    assert cost.time > 0
    assert cost.memory > 0


def test_every_row_of_the_features_leads_to_what_shows_it():
    page = PAGE.read_text(encoding="utf-8")
    for row in [row for group in FEATURES.values() for row in group]:
        assert row.state in (YES, PART, NO)
        assert bool(row.note) or row.state != PART, f"{row.what}: which part?"
        assert f"| {row.what} | " in page
        if row.shown.startswith("tests/"):
            assert (ROOT / row.shown).is_file(), row
            continue
        name, _, anchor = row.shown.partition("#")
        text = (ROOT / "docs" / name).read_text(encoding="utf-8")
        heads = {
            re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in re.findall(r"^#+ (.*)$", text, re.M)
        }
        assert not anchor or anchor in heads, row
