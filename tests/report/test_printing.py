import pytest

import gapline as gl
from gapline.report.analysis_tables import analysis_tables
from gapline.report.statements.remarks import negative_lines, note_lines
from gapline.report.tables.means import score_table
from gapline.report.writers.terminal import print_table
from report.report_studies import by_hand, synthetic_analyses


def test_arms_are_printed_with_ranks_and_other_groups_without(capsys):
    study = by_hand()
    print_table(score_table(study.summary))
    assert "Rank" in capsys.readouterr().out.replace("rank", "Rank")
    print_table(score_table(gl.summarise(study.scores[0], by="instance")))
    out = capsys.readouterr().out
    assert "instance" in out
    assert "rank" not in out


@pytest.mark.slow
def test_every_table_of_an_analysis_has_a_name_of_its_own_in_the_order_of_the_questions():
    names = [table.name for table in analysis_tables(synthetic_analyses())]
    assert len(names) == len(set(names))
    order = ["health", "pooled", "reversals", "references", "pairs", "robustness", "contrasts", "ranking", "neighbours"]
    assert [name for name in names if name in order] == order


def test_only_runs_below_zero_by_more_than_the_tolerance_are_listed():
    """Of b, the run on j with seed 1 ends at 19 against 20; nothing else is below its reference."""
    lines = negative_lines(by_hand().scores[0])
    assert any("b/j/1" in line for line in lines)
    assert not any(name in line for line in lines for name in ("a/i/1", "a/j/1", "b/j/2"))


def test_a_note_sends_nothing_to_the_terminal():
    assert note_lines(["\x1b[31mred"]) == ["note: \\u001b[31mred"]
