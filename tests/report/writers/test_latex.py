import re
import shutil
import subprocess

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.analysis.analyse import analyse
from gapline.report.macro_file import macro_file
from gapline.report.macros import study_macros
from gapline.report.methods import methods_latex
from gapline.report.statements import make_statements
from gapline.report.table import Column, Table, Text, one_part
from gapline.report.write import heading, study_tables
from gapline.report.writers import latex
from gapline.report.writers.latex import comment, escape, to_latex
from report.report_studies import hostile

needs_latex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")


PREAMBLE = r"""\documentclass{article}
\usepackage[utf8]{inputenc}\usepackage[T1]{fontenc}\usepackage{lmodern}\usepackage{booktabs}
"""


BARE = "\\documentclass{article}\n\\usepackage{booktabs}\n"


def typeset(folder, body, preamble="", *, packages=PREAMBLE):
    text = packages + preamble + "\\begin{document}\n" + body + "\n\\end{document}\n"
    (folder / "main.tex").write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "main.tex"],
        cwd=folder, capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    return done.stdout


@given(st.text())
def test_escaped_text_leaves_nothing_for_latex_to_obey(text):
    out = escape(text)
    bare = re.sub(r"\\symbol\{34\}|\\[a-z]+(?:\{\})?|\\[{}$&#%_]|\$-\$|\$\\[A-Za-z]+\$|\{[\[\]*'`]\}", "", out)
    assert not set(bare) & set("\\{}$&#%_^~")
    assert "\n" not in out


def test_a_comment_cannot_be_ended_by_what_it_holds():
    text = comment(["a\n\\input{x}", "b\r\\evil", "c\x0b d"])
    assert all(line.startswith("% ") for line in text.split("\n") if line)
    assert "\r" not in text


@needs_latex
def test_names_that_want_to_be_more_than_names_compile(tmp_path):
    study = hostile()
    analyses = analyse(study)
    said = make_statements(study)
    macros = macro_file(study_macros(study, analyses, said.facts, said.order, said.headline), heading(study))
    tables = "".join(to_latex(table, heading(study)) for table in study_tables(study, analyses, said))
    used = "".join(f"\\{name}, " for name in re.findall(r"\\newcommand\{\\(\w+)\}", macros))
    typeset(tmp_path, methods_latex(study, said.facts) + tables + "\\clearpage\n" + used, preamble=macros)


@needs_latex
def test_every_letter_of_the_keyboard_and_far_beyond_compiles(tmp_path):
    letters = "".join(map(chr, [*range(0x20, 0x180), 0x391, 0x3BB, 0x2264, 0x4E2D, 0x1F600, 0x202E, 0x7, 0xA0]))
    typeset(tmp_path, escape(letters))


@needs_latex
def test_plain_letters_need_booktabs_alone(tmp_path):
    typeset(
        tmp_path, escape("".join(map(chr, range(0x20, 0x7F))) + "Λ ≤ × − … ab" + "0123456789abcdef" * 4), packages=BARE
    )


def test_a_long_table_goes_on_with_every_row_once():
    rows = [[Text(f"row-{k}"), Text(str(k))] for k in range(100)]
    table = Table("long", "Long", (Column("name", text=True), Column("value")), one_part(rows), pl.DataFrame())
    text = to_latex(table, most_rows=45)
    assert text.count("\\begin{table}") == text.count("\\end{table}") == 3
    assert text.count("\\label{tab:long}") == 1
    assert all(text.count(f"row-{k} &") == 1 for k in range(100))


def test_every_page_of_a_table_is_set_in_the_size_of_its_widest_row():
    rows = [[Text("x" * (200 if k == 99 else 3)), Text(str(k))] for k in range(100)]
    table = Table("long", "Long", (Column("name", text=True), Column("value")), one_part(rows), pl.DataFrame())
    assert to_latex(table, most_rows=45).count("\\scriptsize") == 3


def test_a_table_is_measured_once_however_long_it_is(monkeypatch):
    measured = []
    letters = latex._letters
    monkeypatch.setattr(latex, "_letters", lambda table: measured.append(table) or letters(table))
    rows = [[Text(f"row-{k}"), Text(str(k))] for k in range(1000)]
    to_latex(Table("long", "Long", (Column("name", text=True), Column("value")), one_part(rows), pl.DataFrame()))
    assert len(measured) <= len(latex.SIZES)


@given(st.text(alphabet="ab09 .,:;()+/=?!-_%&" + "f" * 3, max_size=80))
def test_plain_cells_come_out_as_if_every_letter_had_been_looked_at(text):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(latex, "_PLAIN", re.compile("(?!)"))
        looked_at = escape(text)
    assert escape(text) == looked_at
