import polars as pl
import pytest

from gapline.report.paper.scale import landmark_table, scale_figure, shape_figure


def test_the_landmarks_are_the_papers_table():
    cells = [[cell.text for cell in row] for row in landmark_table().rows]
    assert cells == [
        ["-50%", "-33.33%"], ["-10%", "-5.26%"], ["-5%", "-2.56%"], ["0", "0"], ["5%", "2.44%"], ["10%", "4.76%"],
        ["100%", "33.33%"],
    ]  # fmt: skip


def test_the_tangent_touches_at_the_reference_and_the_landmarks_are_thirds():
    figure = scale_figure()
    assert figure.landmarks["squeezed"].to_list() == pytest.approx([1 / 3, -1 / 3])
    assert all(tangent >= exact - 1e-12 for _, exact, tangent in figure.curve.iter_rows())


def test_shapes_coincide_where_the_paper_says_so():
    wide = shape_figure().data.unique(["kernel", "ratio"]).pivot("kernel", index="ratio", values="gap").drop_nulls()
    above, below = wide.filter(pl.col("ratio") >= 1), wide.filter(pl.col("ratio") < 1)
    assert above["maxform"].to_list() == pytest.approx(above["berthold"].to_list())
    assert below["maxform"].to_list() == pytest.approx(below["raw"].to_list())
    assert wide.filter(pl.col("ratio") >= 1.1)["dimacs:1.1"].to_list() == pytest.approx(
        [0.1] * wide.filter(pl.col("ratio") >= 1.1).height
    )
