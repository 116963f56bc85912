"""Runs by name: the best, the worst, the rejected and the failed."""

from gapline.report.tables.health import telling_tables
from report.page_study import make_study
from report.report_studies import by_hand


def test_runs_are_named_in_their_order():
    """a/i/1 falls to its reference half-way: 1/3 for half the time; b/j/1 ends below its reference of 20."""
    tables = {table.name: table for table in telling_tables(by_hand().scores[0])}
    best = [[cell.text for cell in row] for row in tables["best-runs"].rows]
    assert best[0][:7] == ["b", "j", "p", "1", "unknown", "-0.02564", "-5.00 %"]
    # The worst that found something; the empty run is among the failed.
    worst = [[cell.text for cell in row] for row in tables["worst-runs"].rows]
    assert worst == best[::-1] or sorted(worst) == sorted(best)
    assert worst[0][:4] == ["a", "i", "p", "2"]
    assert [[cell.text for cell in row][:4] for row in tables["failed-runs"].rows] == [["b", "i", "p", "2"]]
    assert [[cell.text for cell in row][:4] for row in tables["rejected-runs"].rows] == [["b", "j", "p", "2"]]
    assert tables["rejected-runs"].notes[0] == "1 of 8 runs have rejected candidates."


def test_a_long_list_is_cut_and_says_so():
    tables = {table.name: table for table in telling_tables(make_study().scores[0], most=3)}
    assert [len(table.rows) for table in tables.values()] == [3, 3, 3, 1]
    assert "The first 3; tables/runs.csv has all." in tables["best-runs"].notes
    assert not any("The first" in note for note in tables["failed-runs"].notes)
    rejected = tables["rejected-runs"].frame["rejected"].to_list()
    assert rejected == sorted(rejected, reverse=True)
