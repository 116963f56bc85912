import pytest

from gapline.errors import UsageError
from gapline.model.version import VERSION
from gapline.report.drawing import arm_scales, load_altair, titled, write_drawing


def test_more_arms_than_colours_still_differ():
    colour, dash = arm_scales([f"arm {k}" for k in range(40)])
    looks = [(shade, tuple(stroke)) for shade, stroke in zip(colour.range, dash.range, strict=True)]
    assert len(set(looks)) == 40


def test_a_caption_is_broken_at_spaces_and_ends_with_the_version_in_one_piece():
    chart = titled(load_altair().Chart().mark_point(), "A title", "word " * 60, width=400).to_dict()["title"]
    assert all(len(line) <= 400 * 115 // 640 for line in chart["subtitle"])
    assert chart["subtitle"][-1].endswith(f"gapline {VERSION}")


def test_a_chart_is_written_in_the_form_of_its_name_and_another_is_refused(tmp_path):
    alt = load_altair()
    chart = alt.Chart(alt.Data(values=[{"x": 1}])).mark_point().encode(x="x:Q")
    paths = [tmp_path / f"chart.{form}" for form in ("svg", "png", "pdf")]
    write_drawing(chart, *paths)
    starts = [path.read_bytes()[:4] for path in paths]
    assert starts == [b"<svg", b"\x89PNG", b"%PDF"]
    with pytest.raises(UsageError, match=r"got \.gif"):
        write_drawing(chart, tmp_path / "other.svg", tmp_path / "chart.gif")
    assert not (tmp_path / "other.svg").exists()
