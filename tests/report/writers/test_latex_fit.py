import re

from hypothesis import given
from hypothesis import strategies as st

from gapline.report.table import Column, Table, one_part
from gapline.report.writers.latex import SIZES, TEXT_WIDTH, broken, fit, measure
from gapline.report.writers.latex_text import BREAK, escape
from report.writers.test_latex import BARE, PREAMBLE, needs_latex, typeset


@needs_latex
def test_texts_are_no_wider_than_they_are_measured_in_any_size(tmp_path):
    """LaTeX says how wide it sets each letter and all of them, plain and bold, in both encodings of the fonts."""
    letters = [*map(chr, range(0x21, 0x7F)), *"−≤θΛ×†ïłÆ中"]
    texts = [*letters, "".join(letters), "kayros-adaptive-search", "0.12345", "PARALLEL_HGS_2012"]
    asked = "".join(
        f"\\setbox0\\hbox{{{size.command} {bold}{escape(text)}}}\\typeout{{W {n} \\the\\wd0}}\n"
        for size in SIZES for bold in ("", "\\bfseries ") for n, text in enumerate(texts)
    )  # fmt: skip
    for packages in (PREAMBLE, BARE):
        found = re.findall(r"W (\d+) ([\d.]+)pt", typeset(tmp_path, asked, packages=packages))
        wanted = [(size, bold) for size in SIZES for bold in (False, True) for _ in texts]
        assert len(found) == len(wanted)
        for (n, points), (size, bold) in zip(found, wanted, strict=True):
            text = texts[int(n)]
            # A letter of another size may be a little wider than in ours; words are not.
            most = measure(text, size, bold=bold) * (1.09 if len(text) == 1 else 1.0)
            assert float(points) <= most, (text, size.command, bold)


@given(st.lists(st.text(alphabet="aMW-_ .%中", min_size=1, max_size=60), min_size=1, max_size=12), st.integers(1, 6))
def test_no_piece_of_a_table_is_wider_than_the_text(names, numbers):
    columns = [Column("arm", text=True), *(Column(name) for name in names)]
    rows = [["M" * 60, *["0.12345"] * len(names)]] * numbers
    fitted = fit(Table("t", "T", tuple(columns), one_part(rows), None))
    assert all(fitted.width(piece) <= TEXT_WIDTH + 0.1 for piece in fitted.pieces)


@given(st.text(alphabet="aMW-_/ .%{", max_size=80), st.floats(30, 200))
def test_what_is_broken_is_the_same_text_in_pieces_that_fit(text, width):
    pieces = broken(text, width, SIZES[1]).split(BREAK)
    assert "".join(pieces) == escape(text).replace(BREAK, "")
    assert all(measure(piece.rstrip(), SIZES[1]) <= width or len(piece) == 1 for piece in pieces if "\\" not in piece)
