"""The contract: everything valid is read, every mistake is named at once with its place."""

import json
from pathlib import Path

import pytest

from campaign.contracts import SMALL, mistakes_of, write
from gapline.contract import contract as module
from gapline.contract.contract import SOLVERS, default_name, study_schema
from gapline.contract.study_file import load_contract
from gapline.errors import ContractError
from gapline.solvers.catalogue import ADAPTERS


def test_a_small_contract_has_every_default(tmp_path):
    contract = load_contract(write(tmp_path, SMALL))
    assert contract.study.name == "small"
    assert contract.seeds == [1, 2]
    time = contract.time
    assert (time.horizon, time.grace, time.threads, time.memory) == (2.0, 1.0, 1, None)
    assert [(i.name, i.panel, i.size, i.horizon) for i in contract.instances] == [
        ("a", "all", None, None),
        ("bee", "large", 100, 5.5),
    ]
    assert [(a.name, a.solver, a.tier, a.command, a.options) for a in contract.arms] == [
        ("ils", "kayros", 1, [], {}),
        ("mine", "command", 2, ["./mine", "{instance}"], {"fast": True}),
    ]
    objective = contract.objective
    assert (objective.validation, objective.sense, objective.transform) == ("checker", "min", "none")
    assert contract.reference.policy == "frozen"
    assert contract.score.kernels == ["squeezed"]
    assert contract.aggregate.weighting == "panel"


def test_the_study_directory_will_do(tmp_path):
    write(tmp_path, SMALL)
    assert load_contract(tmp_path) == load_contract(tmp_path / "study.toml")


def test_the_shipped_schema_is_the_models():
    shipped = Path(module.__file__).with_name("study.schema.json").read_text(encoding="utf-8")
    assert json.loads(shipped) == study_schema()


def test_the_solvers_of_the_contract_are_those_of_the_catalogue():
    assert set(SOLVERS) == set(ADAPTERS)


def test_the_message_lists_them_under_the_file(tmp_path):
    path = write(tmp_path, SMALL.replace("horizon = 2", "horizon = 0").replace('name = "small"', ""))
    with pytest.raises(ContractError) as found:
        load_contract(path)
    assert (
        str(found.value) == f"{path}: 2 mistakes\n  study.name: missing\n  time.horizon: expected greater than 0, got 0"
    )
    assert found.value.exit_code == 2


def test_what_is_no_toml_says_where(tmp_path):
    (mistake,) = mistakes_of(tmp_path, "seeds = [1,\n[study")
    assert mistake.startswith("expected TOML, got ")
    assert "line 2" in mistake


def test_no_file_has_a_hint(tmp_path):
    with pytest.raises(ContractError, match="gapline init"):
        load_contract(tmp_path / "study.toml")


def test_names_of_instances():
    names = ["x/C101.txt", "a.vrp.json", "p0033.mps.gz", "t.opb.gz", "noext", ".hidden"]
    assert [default_name(name) for name in names] == ["C101", "a", "p0033", "t", "noext", ".hidden"]


def test_transforms_are_declared_for_all_for_panels_and_for_instances(tmp_path):
    text = SMALL.replace('checker = "tdvrptw"', 'checker = "tdvrptw"\ntransform = ["shift:1", "panel:large=shift:2"]')
    assert text != SMALL
    text = text.replace('panel = "large"', 'panel = "large"\ntransform = "negate-shift:9"\nsense = "max"')
    contract = load_contract(write(tmp_path, text))
    # The instance's own stands first: of two rules that fit, the first counts.
    assert contract.transforms == ("bee=negate-shift:9", "shift:1", "panel:large=shift:2")
    assert load_contract(write(tmp_path, SMALL)).transforms == ()
    wrong = text.replace("panel:large=shift:2", "panel:large=shft:2")
    assert [m for m in mistakes_of(tmp_path, wrong) if "did you mean 'shift'" in m]


def test_a_package_in_the_place_of_a_contract_is_said_to_be_one(tmp_path):
    (tmp_path / "p.zip").write_bytes(b"PK\3\4\xe4\xff")
    with pytest.raises(ContractError, match="expected TOML") as error:
        load_contract(tmp_path / "p.zip")
    assert error.value.hint == "a replication package is read by gapline.open_study"
