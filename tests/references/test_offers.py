"""What sources offer to a fold: checked where there are solutions, else on the user's word alone."""

import sys

import pytest

from gapline.errors import EnvironmentLacksError, IntegrityError, SnapshotError, UsageError
from gapline.references.fold_candidates import Offer, exclude_unchecked, read_offer, refuse_other_values
from gapline.references.snapshot import Snapshot
from references.routed import COST, GOOD, OVERLOADED, put_solution


@pytest.fixture
def folder(tmp_path):
    pytest.importorskip("vrplib")
    put_solution(tmp_path, "right", GOOD, 20)
    put_solution(tmp_path, "claims", GOOD, 19)
    put_solution(tmp_path, "heavy", OVERLOADED, 14)
    put_solution(tmp_path, "alone", GOOD, 18, instance=False)
    return tmp_path


def values(offer):
    return {name: entry.value for name, entry in offer.snapshot.values.items()}


def test_a_value_whose_solution_fails_is_rejected_by_name(folder):
    offer = read_offer(f"cvrplib:{folder}")
    assert values(offer) == {"right": COST, "alone": 18.0}
    assert {(one.instance, one.stored, one.repriced) for one in offer.rejected} == {
        ("claims", 19.0, COST), ("heavy", 14.0, None),
    }  # fmt: skip
    assert (offer.checker_of("right"), offer.checker_of("alone")) == ("cvrp dimacs-1", None)


def test_the_checkers_price_is_taken_when_asked_for(folder):
    offer = read_offer(f"cvrplib:{folder}", reprice=True)
    assert values(offer) == {"right": COST, "claims": COST, "alone": 18.0}
    assert [one.instance for one in offer.rejected] == ["heavy"]
    assert any("at the checker's price: 1 (claims: stated 19.0, priced 20.0)" in note for note in offer.notes)


def test_without_the_checker_the_users_word_is_needed(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "vrplib", None)
    with pytest.raises(EnvironmentLacksError, match=r"gapline\[routing\]"):
        read_offer(f"cvrplib:{folder}")
    offer = read_offer(f"cvrplib:{folder}", trust=True)
    assert offer.checker_of("right") is None
    assert any("solutions were not checked" in note for note in offer.notes)


def test_values_that_nobody_checked_are_left_out_and_counted(folder):
    (kept,), notes = exclude_unchecked([read_offer(f"cvrplib:{folder}")], trust=False)
    assert values(kept) == {"right": COST}
    assert notes == ["values left out because nobody checked a solution of theirs: 1 (alone)"]
    (kept,), notes = exclude_unchecked([read_offer(f"cvrplib:{folder}")], trust=True)
    assert values(kept) == {"right": COST, "alone": 18.0}
    assert notes == ["values that nobody checked, considered on the user's word: 1 (alone)"]


def test_a_source_of_which_nothing_is_left_is_refused_with_a_way_out():
    offer = Offer("theirs", Snapshot.from_values({"i": 1.0}, name="theirs"))
    wanted = r"theirs: expected values with a checked solution, got 1 without \(i\)"
    with pytest.raises(SnapshotError, match=wanted) as caught:
        exclude_unchecked([offer], trust=False)
    assert "--validation solver" in caught.value.hint


@pytest.mark.parametrize(("validation", "vouched"), [("checker", True), ("declared", True), ("solver", False)])
def test_what_a_checked_run_found_is_vouched_for_in_a_snapshot(validation, vouched):
    entry = {"value": 1.0, "fold": {"run": "a/i/1", "validation": validation}}
    offer = Offer("s", Snapshot.from_entries({"i": entry}, name="s", store={"name": "s"}))
    assert (offer.checker_of("i") is not None) is vouched


def made(**facts):
    stated = {name: value for name, value in facts.items() if value is not None}
    return Snapshot.from_entries({"i": {"value": 1.0}}, name="s", store={"name": "s"}, **stated)


def test_another_objective_is_refused():
    with pytest.raises(UsageError, match="theirs: expected the objective cost, got time"):
        refuse_other_values(made(objective="cost"), [Offer("theirs", made(objective="time"))])


@pytest.mark.parametrize(("old", "new", "asked"), [("max", "min", None), ("max", None, "min"), (None, "max", "min")])
def test_another_sense_is_refused(old, new, asked):
    with pytest.raises(IntegrityError, match="expected one sense for each instance, got several for 1: i "):
        refuse_other_values(made(sense=old), [Offer("theirs", made(sense=new))], sense=asked)
    refuse_other_values(made(sense="max"), [Offer("theirs", made())], sense="max")
