"""What a call asks of a worker, and what of a path shows that two machines see the same."""

import pickle

import pytest

from gapline.campaign.campaign import Campaign
from gapline.campaign.store import save_campaign
from gapline.contract.version import VERSION
from gapline.errors import EnvironmentLacksError, TraceError
from gapline.executors.worker_requirements import CheckedCall, Demands, ErrorResult, call_pickled, describe_path
from gapline.files.memory import memory_budget
from worker_tasks import square

RUNS = [{"arm": "a", "instance": "i", "seed": 1, "horizon": 9, "trace": [(0.5, 12.0)]}]


def test_a_campaign_is_known_by_its_manifest_and_the_sizes_of_its_columns(tmp_path):
    one, two = (save_campaign(Campaign.from_runs(RUNS), tmp_path / name) for name in ("one", "two"))
    assert describe_path(one) == describe_path(two)
    assert "manifest.json, with 3 columns" in describe_path(one)
    (two / "time.npy").write_bytes((two / "time.npy").read_bytes()[:-1])
    assert describe_path(one) != describe_path(two)
    (one / "manifest.json").write_text("{}")
    assert describe_path(one) not in (describe_path(two), "a directory")


def test_a_study_is_known_by_its_contract_and_its_campaign(tmp_path):
    (tmp_path / "study.toml").write_text("seeds = [1]")
    alone = describe_path(tmp_path)
    save_campaign(Campaign.from_runs(RUNS), tmp_path / "campaign")
    assert "study.toml and campaign/manifest.json, with 3 columns" in describe_path(tmp_path)
    assert describe_path(tmp_path) != alone


def test_files_are_known_by_their_size_and_other_folders_by_being_there(tmp_path):
    (tmp_path / "x.csv").write_text("12")
    assert (describe_path(tmp_path / "x.csv"), describe_path(tmp_path), describe_path(tmp_path / "y")) == (
        "a file of 2 bytes",
        "a directory",
        "no such file",
    )


def test_demands_that_are_not_met_are_named(tmp_path):
    (tmp_path / "x.csv").write_text("12")
    demands = Demands.of([tmp_path / "x.csv"])
    assert demands.problems() == []
    (tmp_path / "x.csv").unlink()
    (lack,) = demands.problems()
    assert lack == (
        f"{tmp_path / 'x.csv'}: expected a file of 2 bytes, as where the command was given, got no such file"
    )
    assert Demands("0.0", ()).problems() == [f"expected gapline 0.0, got {VERSION}"]


def _refuse():
    raise TraceError("x.csv: expected a number, got 'y'", hint="mend it")


def test_a_call_is_made_only_where_its_demands_are_met():
    assert CheckedCall(square, Demands.of([]))((3,)) == 9
    assert CheckedCall(memory_budget, Demands.of([]), memory=12_345_678)(()) == 12_345_678
    refused = CheckedCall(square, Demands("0.0", ()))((3,))
    assert isinstance(refused, ErrorResult)
    assert isinstance(refused.error, EnvironmentLacksError)
    assert f"expected gapline 0.0, got {VERSION}" in refused.error.message
    # An error of ours is a value, a mistake is an exception.
    assert str(CheckedCall(_refuse, Demands.of([]))(()).error).endswith("Hint: mend it")
    with pytest.raises(TypeError):
        CheckedCall(square, Demands.of([]))(("x",))


def test_a_pickled_call_is_the_call():
    assert call_pickled(pickle.dumps((square, (3,), {}))) == 9
    assert call_pickled(pickle.dumps((square, (), {"number": 4}))) == 16
