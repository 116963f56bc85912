"""Best values by date, and what was known of them on a day."""

import pytest

from gapline.errors import SnapshotError, UsageError
from gapline.references.freeze import freeze, freeze_snapshot
from references.history import History, values

ROWS = """date,instance,value,who
2019-05-01,a,120,X
2021-03-02,a,110,Y
2020-01-01,b,50,X
"""
# In the shape of CombOpt's table of improvements: each row states a new and an old value, distances or routes.
IMPROVEMENTS = """when,instance,improved,change,%,new_bks,prev_bks,who,beaten,prev_when,after_days
2022-06-01,q,distance,-5.0,-1,495.0,500.0,Y,X,2020-06-01,730
2020-06-01,q,routes,-1,-10,9,10,X,W,2010-01-01,3804
2021-01-01,p,routes,-1,-10,3,4,X,W,2010-01-01,4018
2018-01-01,p,distance,-2.0,-1,88.0,90.0,W,V,2010-01-01,2922
"""


@pytest.fixture
def file(tmp_path):
    place = tmp_path / "best.csv"
    place.write_text(ROWS)
    return place


def known(file, as_of=None, **options):
    return values(freeze_snapshot(f"history:{file}", name="x", as_of=as_of, **options))


@pytest.mark.parametrize(
    ("day", "expected"),
    [
        (None, {"a": 110.0, "b": 50.0}),
        ("2021-03-02", {"a": 110.0, "b": 50.0}),
        ("2021-03-01", {"a": 120.0, "b": 50.0}),
        ("2019-12-31", {"a": 120.0}),
        ("2019-05-01", {"a": 120.0}),
    ],
)
def test_the_value_known_on_a_day_is_read(file, day, expected):
    assert known(file, day) == expected


def test_the_snapshot_says_whose_and_since_when(file):
    frozen = freeze(f"history:{file}", name="x", as_of="2020-12-31")
    assert frozen.snapshot.as_of == "2020-12-31"
    entry = frozen.snapshot.values["a"]
    assert (entry.source, entry.more["since"]) == ("X, 2019-05-01", "2019-05-01")
    assert frozen.notes == ("values are those known on 2020-12-31; the dates are the store's own word",)
    assert freeze_snapshot(f"history:{file}", name="x").as_of == "2021-03-02"
    early = freeze(f"history:{file}", name="x", as_of="2019-06-01")
    assert "instances of which nothing was known on 2019-06-01: 1 (b)" in early.notes


def test_a_day_before_the_first_one_is_refused(file):
    with pytest.raises(UsageError, match=r"--as-of 2019-04-30: expected a day from 2019-05-01 on"):
        known(file, "2019-04-30")


def test_a_later_and_worse_row_is_no_news_and_counted(file):
    file.write_text(ROWS + "2022-01-01,a,115,Z\n")
    frozen = freeze(f"history:{file}", name="x")
    assert values(frozen.snapshot)["a"] == 110.0
    assert "rows that are worse than an earlier one, taken as no news: 1 (a of 2022-01-01)" in frozen.notes
    assert known(file, sense="max") == {"a": 120.0, "b": 50.0}


def test_other_separators_and_words_for_the_columns_are_read(tmp_path):
    place = tmp_path / "tables.csv"
    place.write_text("Benchmark;Instance;When;Routes;Distance;Certified\nLL;a;2003-06-27;9;1035.5;yes\n")
    entry = freeze_snapshot(f"history:{place}", name="x").values["a"]
    assert (entry.value, entry.primary, entry.secondary, entry.certified) == (1035.5, 9.0, 1035.5, True)


def test_fewer_routes_go_before_a_shorter_way(tmp_path):
    place = tmp_path / "best.csv"
    place.write_text("date,instance,routes,distance\n2010-01-01,a,10,100\n2011-01-01,a,9,120\n2012-01-01,a,10,90\n")
    assert known(place) == {"a": 120.0}
    assert known(place, "2010-06-01") == {"a": 100.0}


@pytest.mark.parametrize(
    ("day", "expected"),
    [("2009-12-31", None), ("2015-01-01", {"p": 90.0, "q": None}), ("2019-01-01", {"p": 88.0, "q": None}),
     ("2020-12-31", {"p": 88.0, "q": 500.0}), ("2023-01-01", {"p": None, "q": 495.0})],
)  # fmt: skip
def test_a_table_of_improvements_states_the_old_values_too(tmp_path, day, expected):
    """A row on fewer routes says nothing of the distance, which only a later row may state."""
    place = tmp_path / "improvements.csv"
    place.write_text(IMPROVEMENTS)
    if expected is None:
        with pytest.raises(UsageError, match="a day from 2010-01-01 on"):
            known(place, day)
        return
    assert known(place, day) == expected
    entries = freeze(f"history:{place}", name="x", as_of=day).snapshot.values
    assert all(entry.primary is None for entry in entries.values())
    if expected["p"] is None:
        assert entries["p"].more["stated"] == "3 routes, and no distance"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("instance,value\na,1\n", r"best.csv:1: expected a column date or when or day or as_of, got instance, value"),
        ("", "expected a column date or when or day or as_of, got nothing"),
        ("date,instance,value\n", "expected rows with a date, an instance and a value, got none"),
        ("date,instance,value\n06-apr-23,a,1\n", r"best.csv:2: expected an ISO 8601 moment .*got '06-apr-23'"),
        ("date,instance,value\n2020-01-01,,1\n", r"best.csv:2: expected an instance, got nothing"),
        ("date,instance,value\n2020-01-01,a,?\n", r"best.csv:2: expected a number in value, got '\?'"),
        ("date,instance,value,routes\n2020-01-01,a,1,x\n", r"best.csv:2: expected a number in routes, got 'x'"),
        ('date,instance,value\n2020-01-01,"a,1\n', r"expected CSV, got"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(file, text, message):
    file.write_text(text)
    with pytest.raises(SnapshotError, match=message):
        known(file)


@pytest.fixture
def combopt(tmp_path):
    history = History(tmp_path / "repo")
    for path in (
        "LiLim/2001-01-01/lc1.10_828.9369.txt", "LiLim/2019-11-06/lc1.9_900.5.txt", "LiLim/2021-01-01/lc1.9_899.0.txt",
        "GehringHomberger/2019-01-01/r1_2_3.20_44795.009.txt", "GehringHomberger/2020-01-01/r1_2_3.20_45000.txt",
    ):  # fmt: skip
        history.put(f"best_known_solutions/{path}", "Route 1 : 1 2\n")
    history.put("README.md", "tables")
    return history.folder, history.commit("02-01", tag="v1")


def test_the_repository_of_combopt_is_read_from_its_paths(combopt):
    folder, commit = combopt
    frozen = freeze(f"combopt:{folder}@v1", name="x")
    assert values(frozen.snapshot) == {"lc1": 899.0, "r1_2_3": 44795.009}
    entry = frozen.snapshot.values["lc1"]
    assert (entry.primary, entry.secondary, entry.more["since"]) == (9.0, 899.0, "2021-01-01")
    assert (frozen.snapshot.store.version, frozen.snapshot.as_of) == (commit, "2021-01-01")
    assert frozen.snapshot.store.model_extra["committed"] == "2026-02-01T10:00:00Z"
    assert any("no news: 1 (r1_2_3 of 2020-01-01)" in note for note in frozen.notes)
    assert freeze_snapshot(f"combopt:{folder}", name="x").digest == frozen.snapshot.digest


def test_a_day_and_a_benchmark_of_combopt(combopt):
    folder, _ = combopt
    lilim = freeze_snapshot(f"combopt:{folder}", name="x", as_of="2019-12-31", family="LiLim")
    assert values(lilim) == {"lc1": 900.5}
    inside = freeze_snapshot(f"combopt:{folder}/best_known_solutions/LiLim", name="x", as_of="2010-01-01")
    assert values(inside) == {"lc1": 828.9369}
    with pytest.raises(SnapshotError, match=r"NAME.ROUTES_DISTANCE.txt, got none in Solomon"):
        freeze(f"combopt:{folder}", name="x", family="Solomon")
