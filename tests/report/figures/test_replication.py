"""The figure of a replication: two intervals for each pair."""

import pytest
from msgspec.structs import replace

from gapline.report.drawing import style, write_drawing
from gapline.report.figures.replication import MOST_PAIRS, draw_replication, replication_figure
from gapline.study.replication import Agreement, Conclusion, Measured
from study.test_replication import found


def pairs(*agreements):
    told = Measured(instances=8, difference=-0.2, low=-0.3, high=-0.1)
    return tuple(
        Conclusion(a="a", b=f"b{k}", declared=True, old=told, new=told, order_agrees=True, agreement=agreement)
        for k, agreement in enumerate(agreements)
    )


def test_each_pair_has_a_row_there_and_one_here_and_contradicted_ones_come_first():
    figure = replication_figure(found(conclusions=pairs(Agreement.AGREES, Agreement.CONTRADICTS)))
    assert figure.data.select("pair", "where", "difference", "agreement").rows() == [
        ("a − b1", "there", -0.2, "contradicts"), ("a − b1", "here", -0.2, "contradicts"),
        ("a − b0", "there", -0.2, "agrees"), ("a − b0", "here", -0.2, "agrees"),
    ]  # fmt: skip
    assert "both scored at 10 s" in figure.caption


def test_a_pair_without_a_difference_is_not_drawn_and_many_are_cut():
    none = replace(pairs(Agreement.NOT_TESTED)[0], new=Measured(instances=0))
    assert replication_figure(found(conclusions=(none,))).data.height == 0
    figure = replication_figure(found(conclusions=pairs(*[Agreement.AGREES] * (MOST_PAIRS + 3))))
    assert figure.data.height == 2 * MOST_PAIRS
    assert figure.caption.endswith("; 3 more pairs in the table")


def test_it_is_drawn(tmp_path):
    pytest.importorskip("vl_convert")
    figure = replication_figure(found(conclusions=pairs(Agreement.AGREES, Agreement.SAME_SIGN)))
    write_drawing(style(draw_replication(figure)), tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    assert all(word in text for word in ("there", "here", "a − b0", "a − b1"))
