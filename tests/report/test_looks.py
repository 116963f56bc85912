from itertools import combinations

from gapline.report.looks import COLOURS, GREY, INKS, look_of, looks_of, with_grey
from report.report_studies import crowd


def marks(count):
    """Colour, dash and shape of so many arms."""
    return [look_of(place)[:3] for place in range(count)]


def test_colour_dash_and_shape_never_repeat_together():
    assert len(set(marks(512))) == 512


def test_any_two_marks_tell_64_arms_apart_so_that_lines_points_and_grey_print_do():
    for pair in combinations(range(3), 2):
        assert len({tuple(look[k] for k in pair) for look in marks(64)}) == 64


def test_eight_arms_share_nothing_on_paper_or_on_a_terminal():
    looks = [look_of(place) for place in range(8)]
    assert all(len(set(column)) == 8 for column in zip(*looks, strict=True))
    assert len(INKS) == len(COLOURS)


def test_an_arm_keeps_its_look_whoever_is_shown_beside_it():
    study = crowd()
    whole = looks_of(study.arms, study.arms)
    shown = study.without(study.arms[::2])
    left = shown.envelopes.runs["arm"].unique().sort().to_list()
    assert set(left) == set(study.arms[1::2])
    assert looks_of(left, shown.arms) == {arm: whole[arm] for arm in left}


def test_names_that_are_no_arms_count_from_the_first():
    assert looks_of(["panel 2", "panel 1"], ["a", "b"]) == {"panel 2": look_of(0), "panel 1": look_of(1)}


def test_only_colours_go_where_others_lead():
    looks = looks_of(["a", "b"])
    grey = with_grey(looks, ["b"])
    assert grey == {"a": looks["a"]._replace(colour=GREY), "b": looks["b"]}
    assert with_grey(looks, []) == looks
