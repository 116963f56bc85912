"""The .solu files of mixed-integer libraries."""

import pytest

from gapline.errors import SnapshotError
from gapline.references.freeze import freeze


def test_solu(tmp_path):
    (tmp_path / "lib.solu").write_text(
        "# a comment\n=opt= air05 26374\n=best=  big-1   -1.5e+3\n=inf= none\n=unkn= open\n=bestdual= big-1 -2000\n"
    )
    frozen = freeze(f"solu:{tmp_path}/lib.solu", name="lib")
    shown = {name: (entry.value, entry.certified, entry.source) for name, entry in frozen.snapshot.values.items()}
    assert shown == {
        "air05": (26374.0, True, "=opt="),
        "big-1": (-1500.0, False, "=best="),
        "none": (None, False, "=inf="),
        "open": (None, False, "=unkn="),
    }
    assert frozen.notes == ("instances without a primal value: 2 (none, open)",)


def test_names_are_those_of_the_models_not_of_their_files(tmp_path):
    (tmp_path / "t.solu").write_text("=opt= t3.wbo.gz 4\n=best= u.fzn 5\n")
    frozen = freeze(f"solu:{tmp_path / 't.solu'}", name="t")
    assert sorted(frozen.snapshot.values) == ["t3", "u"]


def test_mistakes_of_a_solu_file_are_listed(tmp_path):
    file = tmp_path / "lib.solu"
    file.write_text("=opt= a 1\n=opt= b\nhello\n=best= a 2\n=what= c 3\n")
    with pytest.raises(SnapshotError) as caught:
        freeze(f"solu:{file}", name="lib")
    assert [line.split(": ", 1)[0] for line in str(caught.value).splitlines()] == [f"{file}:{n}" for n in (2, 3, 4, 5)]
