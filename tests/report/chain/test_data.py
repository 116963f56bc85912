"""What the page of a chain carries, decoded as the browser does."""

import base64
import json
import random
import zlib

import pytest

from gapline.references.history import snapshot_log
from gapline.references.snapshot import Snapshot
from gapline.report.chain.page import MOST_COMMITS, before_first, build_chain, chain_data, contributors
from gapline.report.page.seal import vega_bundle
from references.history import History
from report.chain_store import make_chain


def decoded(data):
    return json.loads(zlib.decompress(base64.b64decode(data.steps)))


def test_every_step_of_every_value_is_there_once(tmp_path):
    data = chain_data(snapshot_log(make_chain(tmp_path), "*"))
    steps = decoded(data)
    assert (steps["instances"], steps["counts"]) == (["a", "b", "c"], [3, 2, 1])
    assert steps["value"] == [10.0, 9.0, 8.0, 5.0, 5.0, 1.0]
    assert steps["event"] == [0, 1, 2, 0, 1, 2]
    assert [steps["changes"][k] for k in steps["change"]] == [
        "frozen", "improved", "improved", "frozen", "certified", "added",
    ]  # fmt: skip
    assert [steps["whos"][k] for k in steps["who"]] == [
        "a paper",
        "deep",
        "a letter",
        "a paper",
        "B. Prover",
        "a letter",
    ]
    events = data.head["events"]
    assert [(e["name"], e["improved"], e["added"], e["certified"]) for e in events] == [
        ("january", 0, 0, 0), ("february", 1, 0, 1), ("march", 1, 1, 0),
    ]  # fmt: skip
    assert data.head["dated"]


def test_who_improved_what_is_counted(tmp_path):
    assert contributors(snapshot_log(make_chain(tmp_path), "*")) == [
        ("a letter", 2, 2, "march"), ("deep", 1, 1, "february"),
    ]  # fmt: skip


def test_without_a_date_snapshots_stand_in_their_order(tmp_path):
    file = Snapshot.from_values({"a": 1.0}, name="one").save(tmp_path / "one.json")
    # Written today is a date too; a log of a snapshot that was never written has none.
    document = json.loads(file.read_text())
    del document["created"]
    file.write_text(json.dumps(document))
    assert not chain_data(snapshot_log(file, "*")).head["dated"]


def test_commits_beyond_the_most_are_left_out_and_counted(tmp_path):
    history = History(tmp_path / "repo")
    number = 12
    for k in range(number):
        history.bks("F/n=5/A", float(100 - k))
        history.commit(f"01-{k + 1:02d}")
    file = Snapshot.from_values({"n=5/A": 1.0}, name="s", as_of="2026-02-01").save(tmp_path / "s.json")
    log = snapshot_log(file, "*", store=f"mamut:{history.folder}")
    whole = chain_data(log)
    assert (len(whole.head["events"]), whole.head["leftOut"], whole.head["dropped"]) == (number + 1, 0, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gapline.report.chain.page.MOST_COMMITS", 5)
        short = chain_data(log)
    assert (len(short.head["events"]), short.head["leftOut"], short.head["dropped"]) == (6, 7, 7)
    assert number < MOST_COMMITS


@pytest.mark.slow
def test_ten_thousand_instances_fit_a_small_page(tmp_path):
    draw = random.Random(1)
    entries = {
        f"n={20 * (1 + k % 5)}/Town-{k:05d}": {
            "value": round(1000 + 9000 * draw.random(), 2),
            "certified": False,
            "source": "s",
        }
        for k in range(10_000)
    }
    snapshot = Snapshot.from_entries(entries, name="0", store={"name": "s"}, as_of="2025-01-01")
    for k in range(1, 5):
        snapshot.save(tmp_path / f"{k - 1}.json")
        for name in draw.sample(sorted(entries), 2_500):
            value = round(entries[name]["value"] * (1 - 0.02 * draw.random()), 2)
            entries[name] = {"value": value, "certified": False, "source": f"run {draw.random()}/{name}/1 at 3 s"}
        snapshot = snapshot.child(entries, name=str(k), as_of=f"2025-0{k + 1}-01", fold={})
    log = snapshot_log(snapshot.save(tmp_path / "4.json"), "*")
    assert sum(decoded(chain_data(log))["counts"]) == 20_000
    assert len(build_chain(log).encode()) - len(vega_bundle().encode()) < 1_500_000


def test_commits_after_the_first_snapshot_are_told_by_the_fold_that_took_them(tmp_path):
    history = History(tmp_path / "repo")
    for day, value in (("01-01", 9.0), ("02-01", 8.0), ("03-01", 7.0)):
        history.bks("F/n=5/A", value)
        history.commit(day)
    file = Snapshot.from_values({"n=5/A": 8.0}, name="s", as_of="2026-02-01").save(tmp_path / "s.json")
    log = snapshot_log(file, "*", store=f"mamut:{history.folder}")
    assert [step.value for step in log.steps["n=5/A"]] == [8.0, 7.0, 8.0, 9.0]
    assert [step.value for step in before_first(log).steps["n=5/A"]] == [8.0, 8.0, 9.0]
