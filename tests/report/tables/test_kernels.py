import pytest

from gapline.report.tables.kernels import kernel_tables, larger_first
from gapline.study.analyse import analyse
from report.report_studies import by_hand, crowd, rows_of, synthetic_analyses


def tables_of(analysis):
    return {t.name: t for t in kernel_tables(analysis)}


def test_counts_of_arms_and_of_all_stand_under_each_reference():
    """Of a 30 and 60 never come below 1.1 times 10 and 20; of b 12 and the empty run; 19 against 20 is below zero."""
    tables = tables_of(analyse(by_hand()))
    table = tables["saturation"]
    assert [heading for heading, _ in table.parts] == ["given", "analysis"]
    first = {row[0].text: [cell.text for cell in row[1:]] for row in table.parts[0][1]}
    assert first == {"a": ["4", "2", "2"], "b": ["4", "2", "1"], "all arms": ["8", "4", "3"]}
    assert [column.head for column in table.columns] == ["arm", "runs", "dimacs:1.1", "dimacs:2"]
    signs = tables["signs"]
    frozen, folded = ({row[0].text: row[2].text for row in rows} for _, rows in signs.parts)
    assert (frozen, folded) == ({"a": "0", "b": "1", "all arms": "1"}, {"a": "0", "b": "0", "all arms": "0"})
    assert all("8 runs." in table.notes for table in tables.values())


def test_ratios_are_of_the_pooled_means_the_larger_on_top():
    analysis = synthetic_analyses()
    table = tables_of(analysis)["ratios"]
    means = {(r["arm"], r["kernel"], r["reference"]): r["score"] for r in analysis.metrics.pooled.to_dicts()}
    for name, (_, rows) in zip(analysis.labels, table.parts, strict=True):
        for row in rows:
            above, below = row[0].text, row[1].text
            assert means[above, "squeezed", "given"] >= means[below, "squeezed", "given"]
            want = means[above, "squeezed", name] / means[below, "squeezed", name]
            assert float(row[2].text) == pytest.approx(want, abs=0.005)
    assert not any("sliced" in cell.text for row in table.rows for cell in row)


def test_a_kernel_out_of_its_envelope_is_marked_in_both_tables_of_ratios():
    tables = tables_of(synthetic_analyses())
    for name in ("ratios", "kernel-ratios"):
        frozen, folded = ([row["berthold"].text for row in rows] for rows in _by_part(tables[name]))
        assert any("†" in text for text in frozen)
        assert not any("†" in text for text in folded)
        assert any(note.startswith("†") for note in tables[name].notes)


def test_a_ratio_with_a_mean_of_zero_or_below_is_a_dash():
    from dataclasses import replace

    study = by_hand()
    beaten = replace(study, kernels=("squeezed", "dimacs:1.1"))
    analysis = analyse(beaten)
    metric = analysis.metrics
    values = metric.pooled["score"].to_list()
    lowered = replace(metric, pooled=metric.pooled.with_columns(score=metric.pooled["score"] - max(values)))
    vars(analysis)["metrics"] = lowered
    table = tables_of(analysis)["ratios"]
    assert {cell.text for row in table.rows for cell in row[2:]} == {"–"}


def test_two_means_alike_keep_their_order():
    means = {("a", "k", "r"): 0.5, ("b", "k", "r"): 0.5, ("c", "k", "r"): None}
    assert larger_first("a", "b", means, "k", "r") == ("a", "b")
    assert larger_first("c", "a", means, "k", "r") == ("a", "c")


def _by_part(table):
    heads = [column.head for column in table.columns]
    return [[dict(zip(heads, row, strict=True)) for row in rows] for _, rows in table.parts]


def test_every_row_has_a_cell_for_each_column():
    for table in tables_of(synthetic_analyses()).values():
        assert len(rows_of(table)) == len(table.rows) > 0


def test_of_many_arms_each_stands_beside_the_best_and_the_csv_has_every_pair():
    analysis = analyse(crowd(14))
    table = tables_of(analysis)["ratios"]
    means = dict(
        analysis.metrics.pooled.filter(kernel="squeezed", reference="given").select("arm", "score").iter_rows()
    )
    best = min(means, key=means.get)
    assert [row[1].text for row in table.parts[0][1]] == [best] * 13
    assert table.frame.select("a", "b").unique().height == 91
    assert "Of 91 pairs those with the smallest mean; the CSV has all." in table.notes
