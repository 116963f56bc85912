"""Which offered values are better, worked out by hand."""

import pytest

from gapline.references.fold import accept_values
from gapline.references.fold_candidates import Offer
from gapline.references.snapshot import Snapshot


def made(values, name="s", **facts):
    entries = {key: value if isinstance(value, dict) else {"value": value} for key, value in values.items()}
    entries = {key: {"certified": False, "source": f"{key} of {name}"} | entry for key, entry in entries.items()}
    return Snapshot.from_entries(entries, name=name, store={"name": name}, **facts)


def take(old, *offers, **options):
    current = {name: entry.document() for name, entry in old.values.items()}
    options = {"tolerance": 1e-9} | options
    return accept_values(old, current, [Offer(one.name, one) for one in offers], **options)


def taken(old, *offers, **options):
    return {one.instance: one.entry["value"] for one in take(old, *offers, **options)[0]}


def test_only_what_is_better_by_more_than_the_tolerance_is_taken():
    old = made({"a": 100.0, "b": 100.0, "c": 100.0, "d": 100.0})
    offer = made({"a": 99.0, "b": 100.0 - 5e-8, "c": 100.0, "d": 101.0}, "theirs")
    assert taken(old, offer) == {"a": 99.0}
    assert taken(old, offer, tolerance=1e-10) == {"a": 99.0, "b": 100.0 - 5e-8}


@pytest.mark.parametrize("where", ["old", "offer", "asked"])
def test_where_more_is_better_the_larger_value_is_taken(where):
    sense = {"sense": "max"}
    old = made({"a": 100.0, "b": 100.0}, **sense if where == "old" else {})
    offer = made({"a": 101.0, "b": 99.0}, "theirs", **sense if where == "offer" else {})
    assert taken(old, offer, sense="max" if where == "asked" else None) == {"a": 101.0}


def test_the_best_of_several_is_taken_and_of_equal_ones_the_first():
    old = made({"a": 100.0, "b": 100.0})
    (first, second), _ = take(old, made({"a": 98.0, "b": 97.0}, "one"), made({"a": 97.0, "b": 97.0}, "two"))
    assert (first.entry["value"], first.offer.source) == (97.0, "two")
    assert (second.entry["value"], second.offer.source) == (97.0, "one")


def test_a_certified_value_is_never_replaced_and_a_certificate_alone_is_no_news():
    old = made({"a": {"value": 100.0, "certified": True}, "b": 50.0})
    found, notes = take(old, made({"a": 99.0, "b": {"value": 50.0, "certified": True}}, "theirs"))
    assert found == []
    assert notes == ["certificates of values that were not beaten, not taken: 1 (b)"]


def test_fewer_routes_go_before_a_smaller_value():
    parts = {"value": 100.0, "primary": 3.0, "secondary": 100.0}
    old = made({"a": parts, "b": parts, "c": parts})
    offer = {
        "a": parts | {"primary": 2.0, "secondary": 120.0, "value": 120.0},
        "b": parts | {"primary": 4.0, "secondary": 90.0, "value": 90.0},
        "c": 1.0,
    }
    found, notes = take(old, made(offer, "theirs"))
    assert [one.instance for one in found] == ["a"]
    assert notes == ["values left out because only one side states the parts of its objective: 1 (c)"]


def test_instances_that_are_not_there_are_added_only_when_asked_for():
    old = made({"a": 100.0, "b": {"value": None, "stated": "=unkn="}})
    offer = made({"b": 7.0, "c": 8.0, "d": {"value": None}}, "theirs")
    found, notes = take(old, offer)
    assert [one.instance for one in found] == ["b"]
    assert notes == ["instances that the snapshot does not have, not added: 1 (c)"]
    assert taken(old, offer, add=True) == {"b": 7.0, "c": 8.0}


def test_a_new_value_says_where_it_comes_from_and_keeps_what_it_said():
    old = made({"a": {"value": 100.0, "instance_digest": "sha256:aa"}})
    offer = made({"a": {"value": 99.0, "note": "kept"}}, "shelf", as_of="2026-02-01", sense="min")
    ((_, entry, _),), _ = take(old, offer)
    assert entry["source"] == "a of shelf; shelf; not checked: taken on the user's word"
    assert entry["taken"] == {"store": {"name": "shelf"}, "as_of": "2026-02-01", "checker": None}
    assert (entry["note"], entry["instance_digest"], entry["sense"]) == ("kept", "sha256:aa", "min")
    checked = Offer("shelf", offer, checked={"a": "cvrp 1"}, digest="sha256:bb")
    current = {name: e.document() for name, e in old.values.items()}
    ((_, entry, _),), _ = accept_values(old, current, [checked], tolerance=1e-9)
    assert entry["source"].endswith("solution checked by cvrp 1")
    assert (entry["taken"]["checker"], entry["taken"]["snapshot"]) == ("cvrp 1", "sha256:bb")
