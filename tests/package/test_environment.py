"""Versions and machines are those that the journals tell, never those of whoever packs."""

from pathlib import Path

import msgspec

import gapline as gl
from gapline.journal.read import Outcome
from gapline.package.campaign import Environment
from journal.sample_journal import ORDER

CAMPAIGN = gl.Campaign.from_runs([{"arm": "a", "instance": "i", "seed": 1, "horizon": 1.0, "trace": [(0.5, 1.0)]}])


def seen(host, arm="a", version="1", **machine):
    known = {"host": host, "python": "3.11", "gapline": "0.1.0", "processor": "p", **machine}
    order = msgspec.structs.replace(ORDER, arm=arm, machine=known, carried={"instance_digest": "sha256:x"})
    return Outcome(Path("events.jsonl"), order, solver="own", version=version)


def test_versions_solvers_and_machines_are_listed_once():
    environment = Environment()
    for one in (seen("host-10"), seen("host-2", version="2"), seen("host-2", arm="b", python="3.12"), seen("host-2")):
        environment.note(one)
    found = environment.document(CAMPAIGN)
    assert (found["gapline"], found["python"]) == (["0.1.0"], ["3.11", "3.12"])
    assert found["solvers"] == {"a": "own 1, own 2", "b": "own 1"}
    assert found["machines"] == [
        {"machine": "host-2", "processor": "p"}, {"machine": "host-10", "processor": "p"},
    ]  # fmt: skip
    assert environment.solved == {"i": {"sha256:x"}}


def test_a_machine_that_was_changed_is_two():
    environment = Environment()
    for processor in ("old", "new"):
        environment.note(seen("host-1", processor=processor))
    assert [one["processor"] for one in environment.document(CAMPAIGN)["machines"]] == ["new", "old"]


def test_an_attempt_without_an_order_says_nothing():
    environment = Environment()
    environment.note(Outcome(Path("x")))
    assert environment.document(CAMPAIGN) == {
        "gapline": [], "python": [], "solvers": {}, "checker": None, "machines": [],
    }  # fmt: skip
