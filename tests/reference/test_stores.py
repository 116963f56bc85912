import random

import pytest

from gapline.errors import EnvironmentLacksError, SnapshotError, TraceError, UsageError
from gapline.reference.freeze import freeze, freeze_snapshot, store_names
from gapline.reference.snapshot import read_references
from reference.campaigns import campaign

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


def test_mistakes_of_a_solu_file_are_listed(tmp_path):
    file = tmp_path / "lib.solu"
    file.write_text("=opt= a 1\n=opt= b\nhello\n=best= a 2\n=what= c 3\n")
    with pytest.raises(SnapshotError) as caught:
        freeze(f"solu:{file}", name="lib")
    assert [line.split(": ", 1)[0] for line in str(caught.value).splitlines()] == [f"{file}:{n}" for n in (2, 3, 4, 5)]


def test_cvrplib_folder(tmp_path):
    (tmp_path / "X").mkdir()
    (tmp_path / "X/X-n5.sol").write_text("Route #1: 1 2\nRoute #2: 3 4\nCost 27591\n")
    (tmp_path / "X/X-n5.vrp").write_text("NAME : X-n5\n")
    (tmp_path / "A-n3.sol").write_text("Route #1: 1 2\r\nCost 10.5\r\n")
    frozen = freeze(f"cvrplib:{tmp_path}", name="x")
    values = frozen.snapshot.values
    assert {name: entry.value for name, entry in values.items()} == {"A-n3": 10.5, "X/X-n5": 27591.0}
    assert values["X/X-n5"].instance_digest.startswith("sha256:")
    assert values["X/X-n5"].more["routes"] == 2
    assert frozen.notes == ("solutions without a .vrp file beside them, so without an instance digest: 1",)
    (tmp_path / "B.sol").write_text("Route #1: 1 2\n")
    with pytest.raises(SnapshotError, match=r"B\.sol: expected one line `Cost VALUE`, got none"):
        freeze(f"cvrplib:{tmp_path}", name="x")


def test_campaign_gives_the_best_checked_value_inside_the_horizon(tmp_path):
    runs = [
        ("a", "i1", 1, [(1, 12.0, True), (2, 11.0, False), (3, 11.5, True), (40, 5.0, True)]),
        ("b", "i1", 1, [(2, 11.5, True)]),
        ("b", "i2", 1, []),
    ]
    digests = ["sha256:aa", "sha256:aa", None]
    campaign(*runs, instance_digest=digests).save(tmp_path / "campaign")
    frozen = freeze(f"campaign:{tmp_path}/campaign", name="best")
    entry = frozen.snapshot.values["i1"]
    assert (entry.value, entry.instance_digest) == (11.5, "sha256:aa")
    assert (entry.more["fold"]["run"], entry.more["fold"]["time"]) == ("b/i1/1", 2.0), "equal values go to the earlier"
    assert frozen.notes == ("instances without a checked candidate: 1 (i2)",)
    maximised = freeze_snapshot(f"campaign:{tmp_path}/campaign", name="best", sense="max")
    assert (maximised.values["i1"].value, maximised.more["sense"]) == (12.0, "max")


def test_a_date_before_the_runs_that_found_the_values_is_refused(tmp_path):
    """The best of i1 is of the second run, which began at noon; the first run's start does not matter."""
    runs = [("a", "i1", 1, [(1, 12.0, True)]), ("b", "i1", 1, [(2, 11.5, True)])]
    campaign(*runs, started=["2026-03-01T08:00:00Z", "2026-03-01T12:00:00Z"]).save(tmp_path / "campaign")
    source = f"campaign:{tmp_path}/campaign"
    for early in ("2026-01-01", "2026-03-01T11:00:00Z"):
        with pytest.raises(UsageError, match="not before the start of run b/i1/1"):
            freeze(source, name="best", as_of=early)
    assert freeze_snapshot(source, name="best", as_of="2026-03-01T12:00:00Z").as_of == "2026-03-01T12:00:00Z"
    assert freeze_snapshot(source, name="best").as_of is None


def test_campaign_that_only_solvers_vouch_for(tmp_path):
    (tmp_path / "t.csv").write_text("arm,instance,seed,time,objective\na,i,1,1,5\n")
    with pytest.raises(SnapshotError, match="`--validation solver` takes the solver's word"):
        freeze(f"campaign:{tmp_path}/t.csv", name="x")
    assert freeze_snapshot(f"campaign:{tmp_path}/t.csv", name="x", trust_solver=True).values["i"].value == 5.0


def test_wrong_sources_are_named():
    with pytest.raises(UsageError, match="expected STORE:PLACE"):
        freeze("refs.csv", name="x")
    with pytest.raises(UsageError, match="did you mean 'csv'"):
        freeze("cvs:refs.csv", name="x")
    with pytest.raises(UsageError, match="as_of: expected an ISO 8601 moment"):
        freeze("csv:refs.csv", name="x", as_of="soon")
    for scheme in ("csv", "solu", "cvrplib", "mamut", "campaign"):
        with pytest.raises((SnapshotError, TraceError), match=r"nowhere/x"):
            freeze(f"{scheme}:nowhere/x", name="x")


def test_another_package_can_bring_a_store(tmp_path, monkeypatch):
    """A package as pip would install it: a module, and metadata that names its entry point."""
    (tmp_path / "gapline_shelf.py").write_text(
        "from gapline.reference.freeze import Frozen\n"
        "from gapline.reference.snapshot import Snapshot\n"
        "def freeze_shelf(request):\n"
        "    return Frozen(Snapshot.from_values({request.location: 1.0}, name=request.name))\n"
    )
    metadata = tmp_path / "gapline_shelf-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: gapline-shelf\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[gapline.stores]\nshelf = gapline_shelf:freeze_shelf\nbroken = gapline_absent:freeze\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert store_names()[-2:] == ["broken", "shelf"]
    assert freeze_snapshot("shelf:top", name="x").values["top"].value == 1.0
    with pytest.raises(EnvironmentLacksError, match="store 'broken': gapline_absent:freeze cannot be loaded"):
        freeze_snapshot("broken:top", name="x")
