import pytest

from gapline.errors import UsageError
from gapline.report.canvas import Canvas, parse_width


@pytest.mark.parametrize("width", ["colum", "-3", "1e9x", "", True])
def test_a_width_that_is_none_is_refused(width):
    with pytest.raises(UsageError, match=r"width: expected column, page or centimetres, got"):
        parse_width(width)


@pytest.mark.parametrize("choices", [{"width": 1.0}, {"width": 1e6}, {"font_size": 0.1}, {"font_size": float("nan")}])
def test_what_nobody_could_read_is_refused(choices):
    with pytest.raises(UsageError, match="expected"):
        Canvas(**choices)


def test_choices_come_back_from_their_document_and_others_are_refused():
    canvas = Canvas(width=8.5, title=False, caption=True, font_size=9.0, grey=True)
    assert Canvas.of(canvas.document()) == canvas
    for wrong in ({"width": "8"}, {"width": True}, {"grey": 1}, {"colour": 1}, [1], "x"):
        with pytest.raises(UsageError, match="drawing: expected a choice of"):
            Canvas.of(wrong)
