import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from gapline.reference.canonical import canonical_json, content_digest

scalars = (
    st.none()
    | st.booleans()
    | st.integers(1 - 2**53, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.floats(1e-8, 1e-2)
    | st.floats(1e15, 1e23)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
)
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
documents = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4), max_leaves=12
)


@given(documents)
def test_the_fast_way_writes_what_rfc8785_writes(document):
    assert canonical_json(document) == rfc8785.dumps(document)


def test_cases_where_the_two_ways_could_differ():
    document = {
        "\ue000": [1e21, 1e20, 1e-6, 1e-7, 5e-324, 1.7976931348623157e308, -0.0, 0.1, 9007199254740993.0],
        "\U0001f600": '\x7f\x1f\b\f\n\r\t"\\/\u2028é',
        "z": {"B": 1, "a": True, "A": None},
    }
    assert canonical_json(document) == rfc8785.dumps(document)
    for part in document.values():
        assert canonical_json(part) == rfc8785.dumps(part)


def test_the_day_and_the_digest_are_not_covered():
    assert content_digest({"a": 1, "created": "x", "digest": "y"}) == content_digest({"a": 1})
    assert content_digest({"a": {"created": "x"}}) != content_digest({"a": {}})
