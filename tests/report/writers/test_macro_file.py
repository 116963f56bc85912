import re

from hypothesis import given
from hypothesis import strategies as st

from gapline.report.writers.latex_text import Macro, macro_file, macro_names


@given(st.lists(st.text(min_size=1), unique=True, max_size=30))
def test_every_owner_has_letters_of_its_own(owners):
    names = macro_names(owners)
    assert len(set(names.values())) == len(owners)
    assert all(re.fullmatch("[A-Za-z]+", name) for name in names.values())


def test_macros_are_named_from_arm_and_statistic_and_none_twice():
    out = macro_file([Macro("study", "runs", "1"), Macro("hgs-2", "final gap", "-1.5 %")], ["head"])
    assert out == "% head\n\\newcommand{\\StudyRuns}{1}\n\\newcommand{\\HgsTwoFinalGap}{$-$1.5 \\%}\n"
    clash = macro_file(
        [Macro("study", "runs", "1"), Macro("Study", "runs", "2"), Macro("a", "b c", "3"), Macro("a", "bC", "4")], []
    )
    names = re.findall(r"\\newcommand\{\\(\w+)\}", clash)
    assert len(names) == len(set(names)) == 4
