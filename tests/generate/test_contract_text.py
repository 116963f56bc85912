"""The contract of a new study says what it was given."""

import re
import tomllib

import pytest

from gapline.contract.contract import ContractFile
from gapline.contract.metadata import METADATA_FIELDS
from gapline.contract.study_file import load_contract
from gapline.generate.custom_problem import write_own_study
from gapline.generate.study import NO_REFERENCE, PROBLEMS, contract_text, frozen_reference, problem_arms, quoted
from gapline.solvers.catalogue import ADAPTERS


def contract(problem="cvrp", **changes):
    stated = {
        "name": "s", "title": "t", "checker": problem, "horizon": 2, "seeds": 3, "reference": NO_REFERENCE,
        "instances": '[[instances]]\npath = "a.vrp"', "arms": problem_arms(problem),
    }  # fmt: skip
    return ContractFile.model_validate(tomllib.loads(contract_text(PROBLEMS[problem], **stated | changes)))


@pytest.mark.parametrize("problem", PROBLEMS)
def test_arms_fit_the_problem_and_the_contrast_is_of_tier_one(problem):
    arms = {arm.name: arm for arm in contract(problem).arms}
    assert all(arms[name].tier == 1 for name in PROBLEMS[problem].contrast)
    assert all(set(arm.options) <= set(ADAPTERS[arm.solver].options) for arm in arms.values())


@pytest.mark.parametrize("problem", PROBLEMS)
def test_steps_are_an_option_of_every_arm(problem):
    arms = contract(problem, arms=problem_arms(problem, generated=True, iterations=7)).arms
    assert {arm.options["iterations"] for arm in arms} == {7}
    assert len(arms) == len(contract(problem).arms) + (problem == "mip")


def test_references_and_names_of_any_kind():
    name = 'a "b"\\ \x7f\n'
    told = contract(name=name, reference=frozen_reference("references/x.json"), seeds=[4, 5])
    assert (told.study.name, told.reference.policy, told.reference.snapshot) == (name, "frozen", "references/x.json")
    assert told.seeds == [4, 5]
    assert contract().reference.policy == "analysis"
    assert quoted("é") == '"é"'


def test_the_commented_metadata_is_taken_as_it_stands(tmp_path):
    """Whoever takes the marks away has authors, licence and all the rest."""
    write_own_study(tmp_path / "study")
    contract = tmp_path / "study" / "study.toml"
    text = contract.read_text(encoding="utf-8")
    assert load_contract(contract).study.authors == []
    uncommented = re.sub(r"^# (\w+ = )", r"\1", text.partition("[objective]")[0], flags=re.MULTILINE)
    contract.write_text(uncommented + "[objective]" + text.partition("[objective]")[2], encoding="utf-8")
    study = load_contract(contract).study
    assert all(getattr(study, field) for field in METADATA_FIELDS)
