"""Tables of the classical measures."""

import re

import gapline as gl
from gapline.report.tables.measures import neighbour_tables
from gapline.study.analyse import analyse
from report.classical_study import classical
from report.report_studies import report_of


def tables_of(analysis):
    return {table.name: table for table in neighbour_tables(analysis)}


def test_tier_two_is_described_and_never_ranked_rated_or_paired():
    tables = tables_of(classical())
    assert list(tables) == ["neighbours", "averages", "ranks", "ratings", "neighbour-pairs"]
    for name in ("neighbours", "averages"):
        assert "other" in tables[name].frame["arm"].to_list()
    for name in ("ranks", "ratings"):
        assert sorted(tables[name].frame["arm"]) == ["best", "fair", "good", "slow"]
    assert "other" not in {*tables["neighbour-pairs"].frame["a"], *tables["neighbour-pairs"].frame["b"]}


def test_the_words_below_the_ranks_are_those_of_the_tests():
    """Six instances of one mind but for one: best and good swap there."""
    table = tables_of(classical())["ranks"]
    assert [[cell.text for cell in row] for row in table.rows][:2] == [
        ["best", "1.167", "1.0"],
        ["good", "1.833", "2.0"],
    ]
    assert table.notes[0].startswith("Friedman chi-square")
    assert "exact" in table.notes[0]
    assert table.notes[1].startswith("No difference shown within: best – good")


def test_declared_pairs_come_first_and_exploratory_p_stand_in_brackets():
    table = tables_of(classical())["neighbour-pairs"]
    assert [(heading, len(rows)) for heading, rows in table.parts] == [("declared", 2), ("exploratory", 4)]
    for heading, rows in table.parts:
        for row in rows:
            assert row[3].text.startswith("(") == (heading == "exploratory")
    notes = [row[-1].text for row in table.rows]
    assert "p 0.0312 is the smallest that 6 instances can give" in notes


def test_the_interval_of_a_probability_has_the_digits_of_the_probability():
    """With many instances it is narrower than a percent, and would seem not to hold its own value."""
    for row in tables_of(classical())["neighbour-pairs"].rows:
        value, ends = row[5].text, row[6].text
        assert re.fullmatch(r"[0-9]+\.[0-9] %", value)
        assert ends == "–" or re.fullmatch(r"[0-9]+\.[0-9] % to [0-9]+\.[0-9] %", ends)


def test_an_arm_that_never_lost_is_named_below_the_ratings():
    assert tables_of(classical())["ratings"].notes[0].startswith("Best, good never lost to fair, slow")


def test_the_k_of_par_and_the_shifts_are_named():
    study = classical().study
    table = tables_of(analyse(study, par=2, shift=1, score_shift=0.5))
    assert "par2" in table["neighbours"].frame.columns
    assert "a miss costs 2 horizons; geometric mean of times + 1 s" in table["neighbours"].notes[0]
    assert "score + 0.5, minus 0.5" in table["averages"].notes[0]


def test_a_kernel_without_a_score_of_every_run_has_no_ranks_and_says_why():
    runs = [
        {"arm": arm, "instance": "i", "seed": 1, "horizon": 10, "trace": [(2, 30.0)]} for arm in ("a", "b")
    ]  # fmt: skip
    snapshot = gl.Snapshot.from_values({"i": 10.0}, name="mine")
    analysis = analyse(report_of(gl.Campaign.from_runs(runs), snapshot, kernels=["raw"]))
    assert list(tables_of(analysis)) == ["neighbours", "averages"]
    document = analysis.neighbours_document()
    assert document["ranks"] is document["ratings"] is document["neighbour_pairs"] is None
    assert "raw" in document["no_ranks"]


def test_berthold_beyond_its_envelope_ranks_nothing():
    runs = [
        {"arm": arm, "instance": i, "seed": 1, "horizon": 10, "trace": [(2, z)]}
        for arm, z in (("a", 9.0), ("b", 11.0)) for i in "ij"
    ]  # fmt: skip
    snapshot = gl.Snapshot.from_values({"i": 10.0, "j": 10.0}, name="mine")
    analysis = analyse(report_of(gl.Campaign.from_runs(runs), snapshot, kernels=["berthold"]))
    assert analysis.ranks is analysis.ratings is analysis.neighbour_pairs is None
    assert analysis.no_ranks == "berthold counts beating the reference as a loss, and 2 runs beat it: shown, not ranked"
