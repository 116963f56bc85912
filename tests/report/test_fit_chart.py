import copy
import re

from hypothesis import given
from hypothesis import strategies as st

from gapline.report.canvas import Canvas
from gapline.report.drawing import alt, style, titled
from gapline.report.fit_chart import GREYS, fit_spec, svg_width, words_of
from gapline.report.looks import COLOURS


def bars(names, colour="#0072B2"):
    rows = [{"arm": name, "x": k} for k, name in enumerate(names)]
    chart = alt.Chart(alt.Data(values=rows)).mark_bar(color=colour)
    chart = chart.encode(x="x:Q", y=alt.Y("arm:N", sort=None, scale=alt.Scale(domain=names)))
    return style(titled(chart.properties(width=400, height={"step": 20}), "A title", "a caption")).to_dict()


def drawn(spec, **choices):
    import vl_convert

    return fit_spec(spec, Canvas(**choices), vl_convert.vegalite_to_svg)


def test_a_drawing_is_as_wide_as_asked_and_its_letters_keep_their_size():
    spec = bars(["a", "bc"])
    before = copy.deepcopy(spec)
    widths = {width: drawn(spec, width=width) for width in (8.5, 12.0, 17.5)}
    assert all(width * 96 / 2.54 - 4 <= svg_width(one) <= width * 96 / 2.54 for width, one in widths.items())
    assert len({tuple(sorted(set(re.findall(r'font-size="(\d+)px"', one)))) for one in widths.values()}) == 1
    assert spec == before, "what was given is not changed"


def test_parts_that_would_be_too_narrow_are_set_below_each_other():
    part = alt.Chart(alt.Data(values=[{"x": 1}])).mark_point().encode(x="x:Q", y="x:Q").properties(width=280)
    spec = style(titled(alt.hconcat(part, part, part), "T", "c")).to_dict()
    heights = {width: float(re.search(r' height="([\d.]+)"', drawn(spec, width=width))[1]) for width in (8.5, 17.5)}
    assert heights[8.5] > 2 * heights[17.5]


def test_letters_are_as_large_as_asked():
    assert 'font-size="22px"' in drawn(bars(["a"]), font_size=16.5)


def test_a_long_name_is_broken_and_a_very_long_one_shortened_in_the_middle_and_told_apart():
    names = ["short", "kayros-adaptive-large", *(f"kayros-adaptive-{letter * 80}-search" for letter in "xy")]
    texts = re.findall(r"<tspan[^>]*>([^<]*)</tspan>", drawn(bars(names), width=8.5))
    assert "…" in "".join(texts)
    assert "kayros-adaptive-" in texts
    assert len([text for text in texts if "…" in text]) == 2


def test_grey_has_no_colours_and_arms_keep_greys_of_their_own():
    drawing = drawn(bars(["a"], COLOURS[1]), grey=True)
    colours = {one.lower() for one in re.findall(r"#[0-9a-fA-F]{6}", drawing)}
    assert all(one[1:3] == one[3:5] == one[5:7] for one in colours)
    assert GREYS[1] in colours
    assert len(set(GREYS)) == len(COLOURS)


def test_words_are_those_of_all_parts():
    one = alt.Chart(alt.Data(values=[{"x": 1}])).mark_point().encode(x="x:Q")
    both = alt.vconcat(titled(one, "First", "one"), titled(one, "Second", "two")).to_dict()
    assert [words.title for words in words_of(both)] == ["First", "Second"]


@given(st.lists(st.text(alphabet="aM_- 中", min_size=1, max_size=70), min_size=1, max_size=6, unique=True))
def test_two_names_never_become_one(names):
    spec = titled(
        alt.Chart(alt.Data(values=[])).mark_bar().encode(y=alt.Y("arm:N", scale=alt.Scale(domain=names))), "T", "c"
    ).to_dict()
    seen = []
    fit_spec(spec, Canvas(width=8.5), lambda one: seen.append(one) or '<svg width="320">')
    assert len(set(seen[0]["encoding"]["y"]["scale"]["domain"])) == len(names)
