import json
from itertools import combinations

import gapline as gl
from gapline import figures
from gapline.report.curves import study_curves
from gapline.report.looks import COLOURS, GREY, INKS, look_of, looks_of, with_grey
from gapline.report.page.data import page_data
from gapline.report.terminal_plot import StepCurve, plot_steps
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


def test_page_figures_notebook_and_terminal_agree_about_an_arm_that_is_shown_alone():
    study = gl.open_study(crowd(20).campaign, snapshots=list(crowd(20).stored), arm="solver 1[13]", draws=50)
    looks = {"solver 11": look_of(11), "solver 13": look_of(13)}
    assert page_data(study).head["arms"] == list(looks)
    found = page_data(study).head["looks"]
    assert [(one["colour"], one["dash"], one["shape"]) for one in found] == [look[:3] for look in looks.values()]
    curves = study_curves(study, by=["arm"])
    text = plot_steps(
        [StepCurve(key[0], time, value) for key, time, value in curves.mean.groups()],
        end=10.0, title="gap", colour=True, letters=True, arms=curves.arms,
    )  # fmt: skip
    assert "[magenta]L[/] solver 11   [cyan]N[/] solver 13" in text
    for chart in (curves.draw(), figures.mean_convergence(study)):
        drawn = json.dumps(chart.to_dict())
        scale = json.dumps({"domain": list(looks), "range": [look.colour for look in looks.values()]})
        assert scale in drawn
