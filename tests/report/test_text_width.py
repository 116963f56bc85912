import re

from hypothesis import given
from hypothesis import strategies as st

from gapline.report.canvas import break_lines, text_width


def laid_out(text, weight):
    """Return the width of a text as the layout of drawings measures it."""
    import vl_convert

    mark = {"type": "text", "align": "left", "fontSize": 10, "fontWeight": weight}
    spec = {
        "data": {"values": [{"t": text}]}, "mark": mark, "width": 1, "height": 1, "padding": 0,
        "encoding": {"text": {"field": "t"}, "x": {"value": 0}, "y": {"value": 0}},
        "config": {"view": {"stroke": None}},
    }  # fmt: skip
    return float(re.search(r'width="([\d.]+)"', vl_convert.vegalite_to_svg(spec))[1])


def test_text_is_as_wide_as_the_layout_says():
    """Kerning makes it narrower, and rounding up to a pixel wider."""
    letters = "".join(map(chr, range(0x21, 0x7F)))
    for text in (
        letters,
        "kayros-adaptive-large-neighbourhood",
        "Mean convergence: smaller is better",
        "−0.52345 of 30",
    ):
        for weight in ("normal", "bold"):
            ours, theirs = text_width(text, 10, bold=weight == "bold"), laid_out(text, weight)
            assert 0.92 * ours <= theirs <= 1.02 * ours + 1, (text, weight)


@given(st.text(alphabet="ab-_ .M", max_size=60), st.integers(1, 20), st.booleans())
def test_lines_are_the_text_and_none_is_too_long(text, most, marks):
    lines = break_lines(text, most, len, marks=marks)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(len(line) <= most for line in lines)
