"""Directory names that no arm or instance name can break out of."""

from hypothesis import given
from hypothesis import strategies as st

from gapline.contract.layout import file_slug, slug
from gapline.contract.tables import RunKey

names = st.text(min_size=1, max_size=400)


@given(names, names, st.integers(min_value=0, max_value=2**63))
def test_a_slug_is_a_short_plain_file_name(arm, instance, seed):
    name = slug(RunKey(arm, instance, seed))
    assert name.isascii()
    assert len(name) < 150
    assert not set(name) - set("abcdefghijklmnopqrstuvwxyz0123456789.-_")
    assert not name.startswith((".", "-"))


def test_names_that_look_alike_have_different_slugs():
    keys = [RunKey("A", "b", 1), RunKey("a", "b", 1), RunKey("a/", "b", 1), RunKey("a", "/b", 1), RunKey("а", "b", 1)]
    assert len({slug(key) for key in keys}) == len(keys)
    assert file_slug("1.0") != file_slug("1/0")
