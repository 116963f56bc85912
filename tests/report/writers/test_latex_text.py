import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.report.writers import latex_text
from gapline.report.writers.latex_text import comment, escape, number_cell
from report.writers.test_latex import BARE, needs_latex, typeset


@given(st.text())
def test_escaped_text_leaves_nothing_for_latex_to_obey(text):
    out = escape(text)
    bare = re.sub(
        r"\\symbol\{34\}|\\[a-z]+(?:\{\})?|\\[{}$&#%_]|\$-\$|\$\\[A-Za-z]+\$|\$[\^_]\{[0-9-]\}\$|\{[\[\]*'`]\}", "", out
    )
    assert not set(bare) & set("\\{}$&#%_^~")
    assert "\n" not in out


def test_a_comment_cannot_be_ended_by_what_it_holds():
    text = comment(["a\n\\input{x}", "b\r\\evil", "c\x0b d"])
    assert all(line.startswith("% ") for line in text.split("\n") if line)
    assert "\r" not in text


@needs_latex
def test_every_letter_of_the_keyboard_and_far_beyond_compiles(tmp_path):
    letters = "".join(
        map(
            chr,
            [
                *range(0x20, 0x180),
                *range(0x391, 0x3D7),
                *range(0x2190, 0x2270),
                *range(0x2070, 0x2090),
                0x2264,
                0x4E2D,
                0x1F600,
                0x202E,
                0x7,
                0xA0,
            ],
        )
    )
    typeset(tmp_path, escape(letters))


@needs_latex
def test_plain_letters_need_booktabs_alone(tmp_path):
    typeset(
        tmp_path, escape("".join(map(chr, range(0x20, 0x7F))) + "Λ ≤ × − … ab" + "0123456789abcdef" * 4), packages=BARE
    )


def test_math_is_math():
    assert escape("|Δ| ≤ θ → ∞, 10⁹") == "\\textbar{}$\\Delta$\\textbar{} $\\le$ $\\theta$ $\\to$ $\\infty$, 10$^{9}$"
    assert escape("Λλθϱ") == "$\\Lambda$$\\lambda$$\\theta$$\\varrho$"
    assert number_cell("-0.5") == "$-$0.5"
    assert number_cell("[-0.5, -0.1]") == "{[}$-$0.5, $-$0.1{]}"
    assert number_cell("2.0e+06") == "$2.0\\times10^{6}$"
    # A name in a column of numbers keeps its hyphens.
    assert number_cell("early-log:0.1") == "early-log:0.1"


@given(st.text(alphabet="ab09 .,:;()+/=?!-_%&" + "f" * 3, max_size=80))
def test_plain_cells_come_out_as_if_every_letter_had_been_looked_at(text):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(latex_text, "_PLAIN", re.compile("(?!)"))
        looked_at = escape(text)
    assert escape(text) == looked_at
