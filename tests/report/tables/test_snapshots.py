"""Values of snapshots as tables: to the last digit, with the same decimals below each other."""

import gapline as gl
from gapline.references.diff import diff_snapshots
from gapline.references.history import snapshot_log
from gapline.report.tables.snapshots import difference_table, step_table, value_table
from report.chain_store import make_chain
from report.report_studies import rows_of
from terminal_laws import ragged


def snapshot(name, **values):
    entries = {key: {"value": value, "certified": key == "b", "source": f"from {key}"} for key, value in values.items()}
    return gl.Snapshot.from_entries(entries, name=name, store={"name": "s"})


def test_values_are_exact_and_line_up():
    table = value_table(snapshot("x", a=10.0, b=0.125).values)
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["a", "10.000", "no", "from a"], ["b", "0.125", "yes", "from b"],
    ]  # fmt: skip
    assert ragged(table) == []


def test_changes_stand_by_their_kind():
    found = diff_snapshots(snapshot("old", a=10.0, b=2.0), snapshot("new", a=9.5, b=2.0, c=1.0))
    table = difference_table(found.classes())
    assert [heading for heading, _ in table.parts] == ["improved: 1", "added: 1"]
    first, second = rows_of(table)
    assert (first["instance"].text, first["old"].text, first["new"].text) == ("a", "10.0", "9.5")
    assert (second["old"].text, second["certified"].text) == ("–", "")
    assert table.frame["change"].to_list() == ["improved", "added"]


def test_steps_stand_below_their_instance(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_chain(tmp_path)
    table = step_table(snapshot_log("march.json", "a", "b").steps, None)
    assert [heading for heading, _ in table.parts] == ["a", "b"]
    assert [row["value"].text for row in rows_of(table)][:3] == ["8.0", "9.0", "10.0"]
    assert table.frame["instance"].to_list()[:3] == ["a", "a", "a"]
