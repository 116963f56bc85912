"""Test cases in JUnit's XML, as CI systems read it; without times, so that the same result is the same file."""

from collections.abc import Sequence
from typing import NamedTuple
from xml.etree import ElementTree

from gapline.model.text import printable
from gapline.terminal import visible


class Case(NamedTuple):
    """A test case: passed, failed with a sentence, or in error where nothing could be judged."""

    group: str
    name: str
    failure: str | None = None
    error: str | None = None
    output: str = ""


def to_junit(suite: str, cases: Sequence[Case]) -> bytes:
    """Return a suite of test cases as XML; characters that XML has no place for are made visible.

    >>> to_junit("s", [Case("g", "a < b")]).decode().split("\\n")[2].strip()
    '<testsuite name="s" tests="1" failures="0" errors="0" skipped="0">'
    """
    root = ElementTree.Element("testsuites")
    counts = {
        "tests": len(cases),
        "failures": sum(case.failure is not None for case in cases),
        "errors": sum(case.error is not None for case in cases),
        "skipped": 0,
    }
    head = {"name": printable(suite)} | {name: str(number) for name, number in counts.items()}
    group = ElementTree.SubElement(root, "testsuite", head)
    for case in cases:
        place = {"classname": printable(case.group), "name": printable(case.name)}
        element = ElementTree.SubElement(group, "testcase", place)
        for kind, text in (("failure", case.failure), ("error", case.error)):
            if text is not None:
                first = printable(text.split("\n", 1)[0])
                ElementTree.SubElement(element, kind, {"message": first}).text = visible(text)
        if case.output:
            ElementTree.SubElement(element, "system-out").text = visible(case.output)
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"
