from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.report.statements.comparison import Case, to_junit

HOSTILE = "a]]>&<b attr=\"'\x1b[2J\x00\ud800\ufffe\u202e\n\r\tname"


def test_cases_are_counted_and_sentences_kept():
    text = to_junit("s", [Case("g", "one"), Case("g", "two", failure="no\nreally"), Case("g", "three", error="oh")])
    suite = ElementTree.fromstring(text).find("testsuite")
    assert suite.attrib == {"name": "s", "tests": "3", "failures": "1", "errors": "1", "skipped": "0"}
    one, two, three = suite
    assert list(one) == []
    assert (two.find("failure").get("message"), two.find("failure").text) == ("no", "no\nreally")
    assert three.find("error").text == "oh"
    # A time would make two equal results two files.
    assert b"time" not in text


@given(st.text() | st.just(HOSTILE))
def test_any_name_is_well_formed_and_shown(name):
    case = Case(name, name, failure=name, output=name)
    found = ElementTree.fromstring(to_junit(name, [case])).find("testsuite/testcase")
    assert found.get("name").isprintable()
    if name.isprintable():
        assert found.get("name") == found.get("classname") == name
    assert (found.find("failure") is not None) == (case.failure is not None)


@pytest.mark.parametrize("letter", ["\x00", "\x1b", "\ud800", "\uffff", "\x85"])
def test_letters_that_xml_has_no_place_for_are_made_visible(letter):
    found = ElementTree.fromstring(to_junit("s", [Case("g", f"a{letter}b", output=f"x{letter}y")]))
    assert found.find("testsuite/testcase").get("name") == f"a\\u{ord(letter):04x}b"
    assert found.find("testsuite/testcase/system-out").text == f"x\\u{ord(letter):04x}y"
