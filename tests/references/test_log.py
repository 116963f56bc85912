"""The log of a snapshot and of one value, with numbers worked out by hand."""

import pytest

import gapline as gl
from gapline.errors import UsageError
from gapline.references.history import snapshot_log
from references.history import at


@pytest.fixture
def chain(tmp_path):
    january = gl.Snapshot.from_values({"a": 10.0, "b": 5.0}, name="january", source="a paper", as_of="2026-01-31")
    run = {"arm": "deep", "instance": "a", "seed": 1, "horizon": 60, "trace": [(3, 9.0, True)]}
    envelopes = gl.build_envelopes(gl.Campaign.from_runs([run]))
    february = gl.fold_snapshot(january, envelopes, name="february", as_of="2026-02-28")
    letter = gl.Snapshot.from_values({"a": 8.0, "c": 1.0}, name="letter", source="a letter", certified=["a"])
    march = gl.fold_snapshot(february, letter, name="march", as_of="2026-03-31", add=True, trust_solver=True)
    for snapshot in (january, february, march):
        snapshot.save(tmp_path / f"{snapshot.name}.json")
    return tmp_path


def test_a_value_is_told_through_its_parents(chain):
    log = snapshot_log(chain / "march.json", "a")
    assert [link.snapshot.name for link in log.links] == ["march", "february", "january"]
    assert [(s.value, s.certified, s.change, s.who, s.as_of, s.where) for s in log.steps["a"]] == [
        (8.0, True, "improved, certified", "a letter", "2026-03-31", "march"),
        (9.0, False, "improved", "deep", "2026-02-28", "february"),
        (10.0, False, "frozen", "a paper", "2026-01-31", "january"),
    ]
    assert all(step.when for step in log.steps["a"])
    assert log.notes() == []


def test_names_and_patterns_choose_the_instances(chain):
    log = snapshot_log(chain / "march.json", "[bc]")
    assert {name: [step.change for step in steps] for name, steps in log.steps.items()} == {
        "b": ["frozen"], "c": ["added"],
    }  # fmt: skip
    assert snapshot_log(chain / "march.json").steps == {}
    with pytest.raises(UsageError, match="march: expected an instance of the chain, got 'd'"):
        snapshot_log(chain / "march.json", "d")


def test_a_missing_parent_is_a_note(chain):
    (chain / "february.json").unlink()
    log = snapshot_log(chain / "march.json", "*")
    (note,) = log.notes()
    assert note == f"parent {log.links[0].snapshot.parent} is not at hand: looked in {chain}"
    assert log.document()["missing"] == log.links[0].snapshot.parent


def test_commits_of_the_store_come_before_the_snapshots(store, tmp_path):
    folder, commits = store
    frozen = at(store, "retracted")
    frozen.save(tmp_path / "frozen.json")
    better = gl.Snapshot.from_values({"n=20/A-2": 50.0}, name="better", source="C. Clever")
    gl.fold_snapshot(frozen, better, name="new", trust_solver=True).save(tmp_path / "new.json")
    log = snapshot_log(tmp_path / "new.json", "n=20/A-2", store=f"mamut:{folder}")
    assert [(s.value, s.certified, s.change, s.who, (s.commit or "")[:12]) for s in log.steps["n=20/A-2"]] == [
        (50.0, False, "improved", "C. Clever", ""),
        (50.5, False, "frozen", "A. Author", ""),
        (50.5, False, "withdrawn", "A. Author", commits["retracted"][:12]),
        (50.5, True, "certified", "A. Author", commits["certified"][:12]),
        (50.5, False, "first", "A. Author", commits["first"][:12]),
    ]
    assert [step.committer for step in log.steps["n=20/A-2"]][2:] == ["keeper"] * 3


def test_a_store_that_knows_nothing_of_the_values_is_a_note(store, chain):
    folder, _ = store
    assert snapshot_log(chain / "march.json", "a", store=f"mamut:{folder}").notes() == [
        f"mamut:{folder}: no commit of these values found"
    ]


def test_the_document_is_plain_json(chain):
    document = snapshot_log(chain / "march.json", "a").document()
    assert [one["changes"] and one["changes"]["improved"] for one in document["snapshots"]] == [1, 1, None]
    assert document["steps"]["a"][0]["value"] == 8.0
