"""What a study says of itself: taken as written, and every mistake in it named at once."""

import datetime
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaign.contracts import SMALL, mistakes_of, write
from gapline.contract.metadata import USUAL_LICENCES, identifier_kind, orcid_digit
from gapline.contract.study_file import load_contract

WHOLE = """[study]
title = "Round trips, any time"
description = "Which solver is ahead when time is short."
licence = "CC-BY-4.0"
keywords = ["anytime", "routing"]
version = "1.2"
date = 2026-08-01
authors = [
  { given = "Ada", family = "Lovelace", orcid = "0000-0002-1825-0097", affiliation = "Engines", email = "a@b.org" },
  { name = "The Analytical Society" },
]
related = [
  { identifier = "10.1000/182", relation = "isSupplementTo" },
  { identifier = "arXiv:2301.00001v2", relation = "isDescribedBy", kind = "arxiv" },
  { identifier = "https://example.org/a?b=1", relation = "references" },
  { identifier = "swh:1:dir:4b825dc642cb6eb9a060e54bf8d69288fbee4904", relation = "isIdenticalTo" },
]
"""


def with_study(lines: str) -> str:
    return SMALL.replace("[study]\n", f"[study]\n{lines}\n")


def test_everything_is_read_as_written(tmp_path):
    study = load_contract(write(tmp_path, SMALL.replace("[study]\n", WHOLE))).study
    assert (study.name, study.licence, study.version, study.date) == ("small", "CC-BY-4.0", "1.2", "2026-08-01")
    ada, society = study.authors
    assert (ada.full_name, ada.sorted_name, ada.is_person) == ("Ada Lovelace", "Lovelace, Ada", True)
    assert (society.full_name, society.sorted_name, society.is_person) == (*["The Analytical Society"] * 2, False)
    assert [(one.told_kind, one.bare, one.url) for one in study.related] == [
        ("doi", "10.1000/182", "https://doi.org/10.1000/182"),
        ("arxiv", "2301.00001v2", "https://arxiv.org/abs/2301.00001v2"),
        ("url", "https://example.org/a?b=1", "https://example.org/a?b=1"),
        (
            "swhid",
            "swh:1:dir:4b825dc642cb6eb9a060e54bf8d69288fbee4904",
            "https://archive.softwareheritage.org/swh:1:dir:4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        ),
    ]


def test_a_contract_needs_none_of_it(tmp_path):
    study = load_contract(write(tmp_path, SMALL)).study
    assert (study.title, study.description, study.licence, study.version, study.date) == ("", "", None, None, None)
    assert study.authors == study.keywords == study.related == []


def test_all_mistakes_are_named_at_once(tmp_path):
    lines = """license = "MIT"
version = 1.0
date = "1 August 2026"
keywords = ["a", "b", "a", ""]
authors = [
  { given = "Ada", famly = "Lovelace", orcid = "0000-0002-1825-0098" },
  { name = "A Society", orcid = "0000-0002-1825-0097", email = "nobody" },
  { affiliation = "Somewhere" },
  { given = "Ada", name = "Ada" },
]
related = [
  { identifier = "my paper", relation = "isSupplmentTo" },
  { identifier = "10.1000/182", relation = "cites", kind = "arxiv" },
  { identifier = "10.1000/182", relation = "cites" },
]"""
    found = mistakes_of(tmp_path, with_study(lines))
    assert [one for one in found if "relation" not in one] == [
        "study.authors[0].orcid: expected an ORCID whose digits fit its last one, which would be 7, "
        "got '0000-0002-1825-0098'",
        "study.authors[0].famly: unknown field; did you mean 'family'?",
        "study.authors[1].email: expected an address such as ada@example.org, got 'nobody'",
        "study.keywords[3]: expected at least 1 character, got ''",
        "study.version: expected a valid string, got 1.0",
        "study.date: expected a day such as 2026-08-01, got '1 August 2026'",
        "study.related[0].identifier: expected a DOI (10.…/…), an arXiv number (arXiv:2301.00001), a SWHID (swh:1:…) "
        "or a URL, got 'my paper'",
        "study.license: unknown field; did you mean 'licence'?",
        "study.authors[1].orcid: expected given and family beside it, since only people have one, got name",
        "study.authors[2]: expected given and family of a person, or the name of a group, got neither",
        "study.authors[3].name: expected nothing beside given and family, got 'Ada'",
        "study.related[1].kind: expected 'doi' for '10.1000/182', got 'arxiv'",
        "study.keywords[2]: expected each once, got 'a' again",
    ]
    first, second = [one for one in found if "relation" in one]
    assert first.startswith("study.related[0].relation: expected 'isCitedBy', 'cites', ")
    assert first.endswith("got 'isSupplmentTo'; did you mean 'isSupplementTo'?")
    assert second == "study.related[2]: expected each once, got relation cites of '10.1000/182' again"


@pytest.mark.parametrize(
    ("given", "near"),
    [
        ("cc-by-4.0", "CC-BY-4.0"),
        ("CC-BY-4", "CC-BY-4.0"),
        ("mit", "MIT"),
        ("Apache 2.0", "Apache-2.0"),
        ("hpnd-uc", "HPND-UC"),
        ("MIT OR Apache-2.0", "Apache-2.0"),
        ("LicenseRef-mine", None),
        ("", None),
    ],
)
def test_a_licence_is_one_of_the_list_as_the_list_spells_it(tmp_path, given, near):
    (found,) = mistakes_of(tmp_path, with_study(f'licence = "{given}"'))
    expected = "expected the identifier of one licence as in https://spdx.org/licenses, such as CC-BY-4.0"
    hint = f"; did you mean '{near}'?" if near else ""
    assert found == f"study.licence: {expected}, got '{given}'{hint}"


@pytest.mark.parametrize("name", [*USUAL_LICENCES, "HPND-UC"])
def test_licences_of_the_list_are_taken(tmp_path, name):
    assert load_contract(write(tmp_path, with_study(f'licence = "{name}"'))).study.licence == name


@pytest.mark.parametrize("given", ["20260801", "2026-W31-6", "2026-02-30", "2026-08-01T12:00:00Z", ""])
def test_a_date_is_a_day(tmp_path, given):
    (found,) = mistakes_of(tmp_path, with_study(f'date = "{given}"'))
    assert found == f"study.date: expected a day such as 2026-08-01, got '{given}'"
    (found,) = mistakes_of(tmp_path, with_study("date = 2026-08-01T12:00:00Z"))
    moment = datetime.datetime(2026, 8, 1, 12, tzinfo=datetime.UTC)
    assert found == f"study.date: expected a day such as 2026-08-01, got {moment!r}"


@pytest.mark.parametrize(
    "shape", ["authors = 3", "authors = [1]", "related = [[]]", "keywords = 'a'", "authors = [{}]"]
)
def test_wrong_shapes_are_mistakes_not_crashes(tmp_path, shape):
    assert mistakes_of(tmp_path, with_study(shape))


def test_an_orcid_may_be_its_address(tmp_path):
    lines = 'authors = [{ family = "Hawking", orcid = "https://orcid.org/0000-0002-9079-593X" }]'
    assert load_contract(write(tmp_path, with_study(lines))).study.authors[0].orcid == "0000-0002-9079-593X"


@given(st.text(string.digits, min_size=15, max_size=15), st.integers(0, 14), st.sampled_from(string.digits))
def test_any_one_digit_changed_changes_the_last(digits, place, other):
    """What the check digit is for: a digit mistyped is always found, and so are two neighbours swapped."""
    changed = digits[:place] + other + digits[place + 1 :]
    assert (orcid_digit(changed) == orcid_digit(digits)) == (changed == digits)
    swapped = digits[:place] + digits[place : place + 2][::-1] + digits[place + 2 :]
    assert (orcid_digit(swapped) == orcid_digit(digits)) == (swapped == digits)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("doi:10.5281/zenodo.1234", "doi"),
        ("https://doi.org/10.5281/zenodo.1234", "doi"),
        ("https://arxiv.org/abs/math.GT/0309136", "arxiv"),
        ("2301.00001", None),
        ("swh:1:dir:4b825dc642cb6eb9a060e54bf8d69288fbee490", None),
        ("ftp://example.org/a", None),
        ("http://example.org/a b", None),
        ("", None),
    ],
)
def test_identifiers_are_told_by_their_form(text, kind):
    assert identifier_kind(text) == kind
