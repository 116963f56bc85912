"""Results that say other numbers than the journals do are refused, with the command that renews them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gapline as gl
from gapline.errors import GaplineError
from gapline.package.pack import differing_numbers, refuse_stale_results
from gapline.report.write import write_report


@pytest.fixture
def reported(study, made):
    """A study with its own results, and the folder of its package."""
    write_report(gl.open_study(str(study)), study / "results", formats=("svg",))
    return study, made.folder


def edit(path, change):
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


@pytest.mark.slow
def test_results_of_the_same_numbers_pass_though_the_hosts_have_other_names(reported):
    study, folder = reported
    assert (
        json.loads((study / "results" / "results.json").read_text())["campaign"]
        != (json.loads((folder / "results" / "results.json").read_text())["campaign"])
    )
    refuse_stale_results(*reported)


@pytest.mark.slow
def test_another_number_is_refused_with_its_place(reported):
    study, folder = reported

    def better(document):
        document["readings"][0]["arms"][0]["scores"]["squeezed"] *= 0.99

    edit(study / "results" / "results.json", better)
    with pytest.raises(GaplineError, match=r"readings\[0\].arms\[0\].scores.squeezed is") as refused:
        refuse_stale_results(study, folder)
    assert refused.value.hint == f"renew them: gapline report {study}"


@pytest.mark.slow
def test_results_that_cannot_be_read_are_refused(reported):
    study, folder = reported
    (study / "results" / "results.json").write_text("{")
    with pytest.raises(GaplineError, match="expected results, got"):
        refuse_stale_results(study, folder)


def test_a_study_without_results_passes(tmp_path):
    refuse_stale_results(tmp_path, tmp_path)


NUMBERS = st.recursive(
    st.floats(-10, 10) | st.none() | st.booleans() | st.text(max_size=2),
    lambda one: st.lists(one, max_size=3) | st.dictionaries(st.sampled_from("abc"), one, max_size=3),
    max_leaves=8,
)


@given(NUMBERS)
def test_nothing_differs_from_itself(value):
    assert list(differing_numbers(value, value)) == []


@given(st.dictionaries(st.sampled_from("abc"), NUMBERS, min_size=1), st.data())
def test_a_changed_number_is_found(document, data):
    name = data.draw(st.sampled_from(sorted(document)))
    found = list(differing_numbers(document | {name: 20.0}, document | {name: 21.0}))
    assert found == [(name, 20.0, 21.0)]


def test_a_list_that_is_shorter_differs():
    assert list(differing_numbers({"a": [1, 2]}, {"a": [1]})) == [("number of a", 2, 1)]
    assert list(differing_numbers({"a": None}, {"a": 1})) == [("a", None, 1)]
