"""Names that are shortened: never longer than their place, never alike, and written out below."""

from hypothesis import given
from hypothesis import strategies as st

from crowded_traces import crowd_names
from gapline.report.writers.terminal import MOST_NAMES, legend_lines, short_names
from gapline.terminal import cells

NAMES = st.lists(st.text(alphabet="ab-…中", min_size=1, max_size=60), unique=True, min_size=1, max_size=30)


@given(NAMES, st.integers(4, 30))
def test_every_form_fits_and_no_two_are_alike(names, room):
    found = short_names(names, room)
    assert list(found) == names
    assert all(cells(short) <= room for short in found.values())
    assert len(set(found.values())) == len(names)
    assert all(short == name for name, short in found.items() if cells(name) <= room)


def test_names_that_differ_in_the_middle_are_told_apart():
    names = crowd_names(20)
    found = short_names(names, 16)
    assert len(set(found.values())) == 20
    assert all("…" in found[name] for name in names if len(name) == 60)


def test_a_name_as_long_as_the_line_has_it_to_itself():
    name = "x" * 60
    assert legend_lines({name: "xx…x"}, 60) == ["names in full:", "  xx…x =", name]
    assert legend_lines({name: "xx…x"}, 80) == ["names in full:", f"  xx…x = {name}"]
    assert legend_lines({}, 60) == []


def test_very_many_names_are_counted_and_not_listed():
    many = {f"name-{k}" * 5: f"n…{k}" for k in range(MOST_NAMES + 1)}
    assert legend_lines(many, 80, how="-o FILE.csv has them") == ["41 names are shortened; -o FILE.csv has them"]
