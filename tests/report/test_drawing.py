import sys

import pytest

from gapline.contract.version import VERSION
from gapline.errors import EnvironmentLacksError, UsageError
from gapline.report.drawing import alt, look_channels, titled, write_drawing
from gapline.report.looks import GREY, look_of


def test_scales_give_the_looks_of_arms_in_the_order_of_the_names():
    arms = [f"arm {k}" for k in range(40)]
    names = ["arm 33", "arm 2"]
    channels = look_channels("arm", names, "color", "fill", "strokeDash", "shape", arms=arms, lead=["arm 2"])
    scales = {name: channel["scale"] for name, channel in channels.items()}
    last, second = look_of(33), look_of(2)
    assert all(scale.domain == names for scale in scales.values())
    assert scales["color"].range == scales["fill"].range == [GREY, second.colour]
    assert scales["strokeDash"].range == [list(last.dash), list(second.dash)]
    assert scales["shape"].range == [last.shape, second.shape]


def test_a_caption_is_broken_at_spaces_and_ends_with_the_version_in_one_piece():
    chart = titled(alt.Chart().mark_point(), "A title", "word " * 60, width=400).to_dict()["title"]
    assert all(len(line) <= 400 * 115 // 640 for line in chart["subtitle"])
    assert chart["subtitle"][-1].endswith(f"gapline {VERSION}")


def test_a_chart_is_written_in_the_form_of_its_name_and_another_is_refused(tmp_path):
    chart = alt.Chart(alt.Data(values=[{"x": 1}])).mark_point().encode(x="x:Q")
    paths = [tmp_path / f"chart.{form}" for form in ("svg", "png", "pdf")]
    write_drawing(chart, *paths)
    starts = [path.read_bytes()[:4] for path in paths]
    assert starts == [b"<svg", b"\x89PNG", b"%PDF"]
    with pytest.raises(UsageError, match=r"got \.gif"):
        write_drawing(chart, tmp_path / "other.svg", tmp_path / "chart.gif")
    assert not (tmp_path / "other.svg").exists()


def test_without_what_draws_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(EnvironmentLacksError, match="altair is not installed"):
        alt.Chart()
