"""References CSV."""

import random

import pytest

from gapline.errors import SnapshotError
from gapline.references.freeze import freeze, read_references

CSV = """\
instance,value,certified,source,instance_digest,primary,secondary,colour
i1,10,true,paper A,sha256:00,1,5.5,red
"n=5/i,2",2.5e1,no,,,,,
i3,nan,,,,,,
i4,1e400,,,,,,
"""


def test_references_csv_keeps_everything(tmp_path):
    (tmp_path / "refs.csv").write_text("\ufeff" + CSV)
    frozen = freeze(f"csv:{tmp_path}/refs.csv", name="mine", as_of="2026-01-01")
    values = frozen.snapshot.values
    assert values["i1"].document() == {
        "value": 10.0, "certified": True, "source": "paper A", "instance_digest": "sha256:00", "primary": 1.0,
        "secondary": 5.5, "colour": "red",
    }  # fmt: skip
    assert (values["n=5/i,2"].value, values["n=5/i,2"].certified) == (25.0, False)
    assert (values["i3"].value, values["i3"].more["stated"]) == (None, "nan")
    assert (values["i4"].value, values["i4"].more["stated"]) == (None, "inf")
    assert frozen.snapshot.as_of == "2026-01-01"
    assert read_references(tmp_path / "refs.csv").name == "refs"


def test_row_order_line_ends_and_folder_do_not_change_the_digest(tmp_path):
    head, *rows = CSV.splitlines()
    digests = set()
    for seed, end in ((1, "\n"), (2, "\r\n"), (3, "\n")):
        random.Random(seed).shuffle(rows)
        (tmp_path / str(seed)).mkdir()
        (tmp_path / str(seed) / "refs.csv").write_text(end.join([head, *rows]) + end, newline="")
        digests.add(read_references(tmp_path / str(seed) / "refs.csv").digest)
    assert len(digests) == 1


def test_all_mistakes_of_a_csv_are_listed(tmp_path):
    file = tmp_path / "refs.csv"
    file.write_text("instance,value,certified\ni1,ten,\ni1,5,\ni1,6,\n,7,\ni2,1_000,perhaps\ni3,1\n")
    with pytest.raises(SnapshotError) as caught:
        read_references(file)
    assert str(caught.value).splitlines() == [
        f"{file}:2: expected a number in value, got 'ten'",
        f"{file}:3: expected each instance once, got 'i1' of line 2 again",
        f"{file}:4: expected each instance once, got 'i1' of line 2 again",
        f"{file}:5: expected an instance, got nothing",
        f"{file}:6: expected true or false in certified, got 'perhaps'",
        f"{file}:6: expected a number in value, got '1_000'",
        f"{file}:7: expected 3 cells, got 2",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a header line"),
        ("name,value\na,1\n", "expected a column instance, got name, value"),
        ("instance,values\na,1\n", "rename the column 'values'"),
        ("instance,value,value\na,1,2\n", "expected each column once, got value again"),
        ('instance,value\n"a,1\n', "expected CSV"),
    ],
)
def test_files_that_are_no_references_csv(tmp_path, text, message):
    (tmp_path / "refs.csv").write_text(text)
    with pytest.raises(SnapshotError) as caught:
        read_references(tmp_path / "refs.csv")
    assert message in str(caught.value)
