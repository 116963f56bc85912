"""The picture of mean ranks."""

from gapline.report.figures.critical_difference import draw_ranks, rank_figure, rank_picture
from report.classical_study import classical


def test_arms_stand_at_their_mean_ranks_and_no_name_lies_on_another():
    ranks = classical().ranks
    picture = rank_picture(ranks)
    means = dict(ranks.frame.select("arm", "mean_rank").iter_rows())
    assert {arm: x for arm, x, _, _ in picture.stems} == means
    assert len({(y, side) for _, _, y, side in picture.stems}) == len(means)
    # Farther out is higher: no stem crosses the line of another name.
    left = [(x, y) for _, x, y, side in picture.stems if side == "left"]
    right = [(x, y) for _, x, y, side in picture.stems if side == "right"]
    assert left == sorted(left)
    assert [x for x, _ in right] == sorted((x for x, _ in right), reverse=True)


def test_bars_span_the_cliques_above_all_names():
    ranks = classical().ranks
    picture = rank_picture(ranks)
    means = dict(ranks.frame.select("arm", "mean_rank").iter_rows())
    assert [(low, high) for low, high, _ in picture.bars] == [(means[c[0]], means[c[-1]]) for c in ranks.cliques]
    assert max(y for _, _, y in picture.bars) < min(y for _, _, y, _ in picture.stems)


def test_the_figure_names_every_arm_and_the_critical_difference():
    figure = rank_figure(classical().ranks)
    words = " ".join(figure.data["text"])
    assert all(arm in words for arm in ("best", "good", "fair", "slow"))
    assert f"critical difference {classical().ranks.critical_difference:.2f}" in words
    assert "Friedman" in figure.caption
    assert draw_ranks(figure).to_dict()["layer"]
