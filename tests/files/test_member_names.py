"""Names in archives of others: none leads out of the folder, and no two become one file."""

import unicodedata
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.files.archives import clashing_names, wrong_name

NAMES = st.lists(st.text("aAb/.\\\u00e9\u0301\u202e\n:", max_size=6), max_size=6)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("a/b.txt", None),
        (".zenodo.json", None),
        ("für/ä", None),
        ("", "no name of a file"),
        ("/", "no name of a file"),
        ("a\u202etxt.exe", "no name of a file"),
        ("a\u2066b", "no name of a file"),
        ("a\x00b", "no name of a file"),
        ("\udcff", "no name of a file"),
        ("/etc/passwd", "outside of the archive"),
        ("a/../b", "outside of the archive"),
        ("c:/x", "outside of the archive"),
        ("x" * 256, "a name that is too long"),
        ("ä" * 128, "a name that is too long"),
        ("/".join(["x" * 200] * 6), "a name that is too long"),
    ],
)
def test_a_name_is_one_of_a_file_in_a_folder_or_says_why_not(name, why):
    assert wrong_name(name) == why


@given(NAMES)
def test_what_is_accepted_stays_inside_and_apart(names):
    kept = [name for name in names if wrong_name(name) is None]
    for name in kept:
        parts = PurePosixPath(name).parts
        assert ".." not in parts
        assert not PurePosixPath(name).is_absolute()
    if clashing_names(kept):
        return
    folded = [unicodedata.normalize("NFC", name.removesuffix("/").casefold()) for name in kept]
    assert len(set(folded)) == len(folded)
    files = {fold for name, fold in zip(kept, folded, strict=True) if not name.endswith("/")}
    parents = {str(parent) for fold in folded for parent in PurePosixPath(fold).parents}
    assert not files & parents


def test_twins_are_named():
    assert clashing_names(["é", "e\u0301"]) == [("e\u0301", "there twice")]
    assert clashing_names(["STRASSE", "straße"]) == [("straße", "there twice")]
    assert clashing_names(["a/b/c", "A"]) == [("A", "a file and a folder")]
    assert clashing_names(["a/", "a/b", "c"]) == []
