"""The bytes that a digest is taken of, and the JSON that is read back."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.errors import SnapshotError
from gapline.files.digests import content_digest, parse_document

edges = st.floats(1e-8, 1e-2) | st.floats(1e15, 1e23) | st.integers(1 - 2**53, 2**53 - 1)
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
scalars = st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | edges | names
documents = st.dictionaries(names, scalars | st.dictionaries(names, scalars, max_size=4), max_size=4)


def test_the_digest_is_that_of_rfc8785_bytes():
    """Sorted by UTF-16 units, shortest digits, exponents from 1e21 on: as the standard writes it."""
    document = {
        "\ue000": [1e21, 1e20, 1e-6, 1e-7, -0.0, 10.0],
        "\U0001f600": 'é"\n',
        "z": {"B": 1, "a": True, "A": None},
    }
    written = (
        '{"z":{"A":null,"B":1,"a":true},"\U0001f600":"é\\"\\n",'
        '"\ue000":[1e+21,100000000000000000000,0.000001,1e-7,0,10]}'
    )
    assert content_digest(document) == "sha256:" + hashlib.sha256(written.encode()).hexdigest()


@given(documents, st.randoms())
def test_the_order_of_the_keys_does_not_matter(document, random):
    shuffled = list(document.items())
    random.shuffle(shuffled)
    assert content_digest(dict(shuffled)) == content_digest(document)


def test_the_day_and_the_digest_are_not_covered():
    assert content_digest({"a": 1, "created": "x", "digest": "y"}) == content_digest({"a": 1})
    assert content_digest({"a": {"created": "x"}}) != content_digest({"a": {}})


def test_what_json_cannot_hold_is_refused():
    for value in (2**60, float("nan"), "\ud800"):
        with pytest.raises(SnapshotError, match="mine: expected content that JSON can hold"):
            content_digest({"name": "mine", "a": value})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "a": 2}', "expected each key once, got 'a' again"),
        ('{"a": NaN}', "expected finite numbers, got NaN"),
        ("[1]", "expected a JSON object, got list"),
        ("{", "expected JSON"),
    ],
)
def test_a_document_that_readers_could_take_in_two_ways_is_refused(text, message):
    with pytest.raises(SnapshotError, match=message):
        parse_document(text, "s.json")


def test_integers_beyond_doubles_are_read_as_the_nearest_double():
    assert parse_document('{"a": 9007199254740993}', "s")["a"] == 9007199254740992.0
