import re
import shutil
import subprocess

import polars as pl
import pytest

from gapline.report.analysis_tables import analysis_tables, study_tables
from gapline.report.facts import heading, make_statements
from gapline.report.macros import study_macros
from gapline.report.statements.methods import methods_latex
from gapline.report.table import Column, Table, Text, one_part
from gapline.report.writers.latex import to_latex
from gapline.report.writers.latex_text import macro_file
from gapline.study.analyse import analyse
from report.report_studies import hostile, paper_sized, paper_sized_analyses


def needs_latex(test):
    """Mark a test that typesets: `make test` installs no LaTeX."""
    return pytest.mark.slow(pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex")(test))


BARE = "\\documentclass{article}\n\\usepackage{booktabs,longtable}\n"
PREAMBLE = BARE + "\\usepackage[utf8]{inputenc}\\usepackage[T1]{fontenc}\\usepackage{lmodern}\n"


def typeset(folder, body, preamble="", *, packages=PREAMBLE):
    """Typeset a document and return what LaTeX says of it."""
    text = packages + preamble + "\\begin{document}\n" + body + "\n\\end{document}\n"
    (folder / "main.tex").write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "main.tex"],
        cwd=folder, capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    return (folder / "main.log").read_text(encoding="utf-8", errors="replace")


def too_wide(log):
    """Return by how many points boxes are too wide, and what does not fit a page."""
    points = [float(found) for found in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log)]
    return [value for value in points if value > 5] + re.findall(r"Float too large.*", log)


def written(study, analysis):
    """Every macro, and a document with the methods paragraph, every table of report and analysis, and every macro."""
    said = make_statements(study)
    macros = macro_file(study_macros(analysis, said), heading(study))
    tables = {table.name: table for table in [*study_tables(study, analysis, said), *analysis_tables(analysis)]}
    used = "".join(f"\\{name}, " for name in re.findall(r"\\newcommand\{\\(\w+)\}", macros))
    body = "".join(to_latex(table, heading(study)) for table in tables.values())
    return macros, methods_latex(said) + body, "\\clearpage\\sloppy\n" + used, tables


@needs_latex
@pytest.mark.parametrize("packages", [PREAMBLE, BARE], ids=["T1", "bare"])
def test_every_table_of_20_arms_on_200_instances_is_as_wide_as_the_text(tmp_path, packages):
    study = paper_sized()
    macros, body, _, tables = written(study, paper_sized_analyses())
    assert len(tables) >= 26
    log = typeset(tmp_path, body, macros, packages=packages)
    assert too_wide(log) == []
    # Columns have the same width on every page, which LaTeX finds in its second run.
    again = typeset(tmp_path, body, macros, packages=packages)
    assert too_wide(again) == []
    assert "have changed" not in again
    labels = re.findall(r"\\newlabel\{tab:([\w-]+)\}", (tmp_path / "main.aux").read_text(encoding="utf-8"))
    assert sorted(labels) == sorted(tables)


@needs_latex
def test_names_that_want_to_be_more_than_names_compile(tmp_path):
    study = hostile()
    macros, body, used, _ = written(study, analyse(study))
    assert too_wide(typeset(tmp_path, body + used, preamble=macros)) == []


def column_table(columns, rows, **more):
    columns = [Column(name, text=name.islower()) for name in columns]
    return Table("t", "Some", tuple(columns), one_part(rows), pl.DataFrame(), **more)


def test_a_long_table_goes_on_over_pages_with_every_row_once():
    rows = [[Text(f"row-{k}"), Text(str(k))] for k in range(100)]
    text = to_latex(column_table(["name", "VALUE"], rows))
    assert text.count("\\begin{longtable}") == text.count("\\label{tab:t}") == 1
    assert "\\begin{table" not in text
    assert all(text.count(f"row-{k} &") == 1 for k in range(100))


def test_a_table_with_many_columns_and_few_rows_is_turned():
    arms = [f"ARM-{k}" for k in range(20)]
    rows = [
        ["one", *(f"0.{k:05}" for k in range(20))],
        ["two", *(Text(f"0.{k:05}", bold=k == 103) for k in range(100, 120))],
    ]
    text = to_latex(column_table(["panel", *arms], rows))
    assert " & one & two \\\\" in text
    assert "ARM-3 & 0.00003 & \\textbf{0.00103} \\\\" in text


def test_a_wide_table_is_split_and_each_piece_begins_with_the_words():
    heads = ["arm", "other", *(f"COLUMN {k}" for k in range(30))]
    rows = [["a", "b", *(f"{k}.12345" for k in range(30))] for _ in range(15)]
    text = to_latex(column_table(heads, rows))
    pieces = text.split("\\toprule")[1:]
    assert len(pieces) > 2
    assert all("arm & other" in piece or "{arm}" in piece for piece in pieces)
    assert all(sum(f" {k}.12345" in piece for piece in pieces) == 1 for k in range(30))
    assert text.count("\\label{tab:t}") == 1


def test_a_small_table_stands_in_one_column_of_two_and_a_wider_one_across_both():
    assert "\\begin{table}[" in to_latex(column_table(["arm", "X"], [["a", "1"]]))
    assert "\\begin{table*}[" in to_latex(column_table(["arm", *"ABCDEF"], [["a" * 20, *["0.12345"] * 6]]))


def test_the_caption_is_a_macro_that_a_paper_may_define_before():
    text = to_latex(column_table(["arm"], [["a"]], notes=("Of 50 % θ.",)))
    assert "\\providecommand{\\CaptionTableT}{Some. Of 50 \\% $\\theta$.}" in text
    assert "\\caption{\\CaptionTableT" in text
