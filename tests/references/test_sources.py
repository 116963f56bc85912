import gzip

import pytest

from gapline.references.freeze import freeze_snapshot, holds_values, split_source
from gapline.references.snapshot import Snapshot


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("refs.csv", ("csv", "refs.csv")), ("refs.CSV.gz", ("csv", "refs.CSV.gz")), ("lib.solu", ("solu", "lib.solu")),
        ("old.json", ("snapshot", "old.json")), ("csv:refs.txt", ("csv", "refs.txt")), ("refs.txt", None),
        ("mamut:store@v1", ("mamut", "store@v1")), ("csv:", None), ("C:refs.csv", ("csv", "C:refs.csv")),
    ],
)  # fmt: skip
def test_a_suffix_or_a_scheme_says_which_store_is_meant(text, found):
    assert split_source(text) == found


def test_a_file_that_is_there_is_no_scheme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "solu:refs.csv").write_text("instance,value\ni,1\n")
    assert split_source("solu:refs.csv") == ("csv", "solu:refs.csv")


def test_the_short_form_freezes_the_same_content(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "refs.csv").write_text("instance,value\ni,10\n")
    (tmp_path / "lib.solu").write_text("=opt= i 10\n")
    for short, long in (("refs.csv", "csv:refs.csv"), ("lib.solu", "solu:lib.solu")):
        assert freeze_snapshot(short, name="x").digest == freeze_snapshot(long, name="x").digest
    Snapshot.from_values({"j": 1.0}, name="m").save("mine.json")
    both = freeze_snapshot("refs.csv", "mine.json", name="x")
    assert {name: entry.value for name, entry in both.values.items()} == {"i": 10.0, "j": 1.0}


@pytest.mark.parametrize(
    ("name", "content", "values"),
    [
        ("refs.csv", "instance,value\ni,1\n", True),
        ("refs.csv", "\n\nvalue , instance,source\n1,i,x\n", True),
        ("traces.csv", "arm,instance,seed,time,objective\na,i,1,1,1\n", False),
        ("traces.csv", "arm,instance,seed,time,objective,value\na,i,1,1,1,1\n", False),
        ("empty.csv", "", False),
        ("lib.solu", "=opt= i 1\n", True),
        ("traces.jsonl", "{}\n", False),
    ],
)
def test_values_and_runs_are_told_apart(tmp_path, name, content, values):
    file = tmp_path / name
    file.write_text(content)
    assert holds_values(str(file)) is values
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(content.encode()))
    assert holds_values(str(packed)) is values


def test_what_is_not_there_is_left_to_the_reader_of_runs(tmp_path):
    assert not holds_values(str(tmp_path / "none.csv"))
    assert not holds_values(f"campaign:{tmp_path}")
    assert holds_values(f"cvrplib:{tmp_path}")
