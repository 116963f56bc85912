"""Text that a terminal shows and never obeys; names that are the same everywhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.text import counted, model_name, printable


@given(st.text())
def test_whatever_comes_in_a_terminal_can_show_it(text):
    shown = printable(text)
    assert shown.isprintable()
    assert shown == text or not text.isprintable()


def test_escapes_and_bidi_marks_are_spelled_out():
    assert printable("a\x1b[2Jb\u202ec\n") == "a\\u001b[2Jb\\u202ec\\u000a"


def test_one_is_singular_and_none_is_not():
    assert [counted(n, "run") for n in (0, 1, 2)] == ["0 runs", "1 run", "2 runs"]


@pytest.mark.parametrize(
    "suffix", [".opb", ".osil", ".cnf", ".fzn", ".pip", ".wbo", ".zpl", ".mps", ".lp", ".cip", ".WCNF"]
)
@pytest.mark.parametrize("packed", ["", ".gz", ".bz2"])
def test_a_model_is_named_without_the_suffixes_of_its_file(suffix, packed):
    assert model_name(f"normalized-t3.11{suffix}{packed}") == "normalized-t3.11"
