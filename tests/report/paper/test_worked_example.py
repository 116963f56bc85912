from gapline.report.paper.examples import HORIZON, worked_figure, worked_table


def test_the_worked_example_is_the_papers_table():
    cells = [[cell.text for cell in row[2:]] for row in worked_table().rows]
    assert cells == [
        ["1", "1.00", "1.00", "1.00", "10.0", "100.0", "–"],
        ["0", "0.41", "0.53", "0.53", "10.0", "75.3", "–"],
        ["0", "-0.10", "-0.17", "0.23", "-18.3", "-16.0", "-0.16"],
    ]


def test_the_worked_figure_holds_to_the_horizon():
    figure = worked_figure()
    assert set(figure.objectives["series"]) == {"Run 2", "Run 3"}
    for part in figure.gaps.partition_by("run", "series"):
        assert part["time"].max() == HORIZON
