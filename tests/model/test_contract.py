"""The contract: everything valid is read, every mistake is named at once with its place."""

import json
from pathlib import Path

import pytest

from gapline.errors import ContractError
from gapline.model import contract as module
from gapline.model.contract import SOLVERS, default_name, load_contract, study_schema
from gapline.model.transform import SYNTAX
from gapline.solvers.catalogue import ADAPTERS

SMALL = """
seeds = [1, 2]
[study]
name = "small"
[objective]
checker = "tdvrptw"
[time]
horizon = 2
[[instances]]
path = "instances/a.vrp.json"
[[instances]]
path = "other/b.vrp"
panel = "large"
size = 100
horizon = 5.5
name = "bee"
[[arms]]
name = "ils"
solver = "kayros"
[[arms]]
name = "mine"
solver = "command"
command = ["./mine", "{instance}"]
tier = 2
[arms.options]
fast = true
"""


def write(folder, text):
    path = folder / "study.toml"
    path.write_text(text, encoding="utf-8")
    return path


def mistakes_of(folder, text, **options):
    with pytest.raises(ContractError) as found:
        load_contract(write(folder, text), **options)
    return found.value.mistakes


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


def test_all_mistakes_come_at_once_with_place_and_closest_name(tmp_path):
    wrong = """
seeds = [1, 1, "x"]
[study]
nme = "a"
[objective]
checker = "tdvrtw"
sense = "max"
[time]
horizon = "2"
grace = -1
[score]
kernel = ["squezed", "dimacs:1.1"]
weight = "early-log"
[aggregate]
weighting = "panels"
contrasts = [["a", "bb"], ["a", "b"], ["a"]]
[[instances]]
path = "i/a.vrp.json"
[[instances]]
path = "j/a.vrp.json"
horizon = 0
[[arms]]
name = "a"
solver = "kayro"
option = {}
[[arms]]
name = "b"
solver = "command"
command = ["x", "{sed}"]
tier = 2
[[arms]]
name = "b"
solver = "command"
tier = 2
[arms.options]
deep = {er = 1}
[[arms]]
name = "c"
solver = "pyvrp"
command = ["x"]
tier = 3
"""
    assert set(mistakes_of(tmp_path, wrong)) == {
        "study.name: missing",
        "study.nme: unknown field; did you mean 'name'?",
        "time.horizon: expected a valid number, got '2'",
        "time.grace: expected greater than or equal to 0, got -1",
        "aggregate.weighting: expected 'panel', 'instance' or 'run', got 'panels'; did you mean 'panel'?",
        "aggregate.contrasts[2]: expected at least 2 items after validation, not 1, got ['a']",
        "seeds[2]: expected a valid integer, got 'x'",
        "seeds: expected each seed once, got 1 again",
        "instances[1].horizon: expected greater than 0, got 0",
        "instances[1].name: expected a unique name, got 'a' again; give one of them a name",
        "arms[0].option: unknown field; did you mean 'options'?",
        "arms[1].command: expected the placeholders {instance}, {seed}, {horizon}, {threads}, got {sed}; "
        "did you mean 'seed'?",
        "arms[2].name: expected a unique name, got 'b' again",
        'arms[2].command: missing; solver = "command" needs the program and its arguments',
        "arms[2].options.deep: expected a text, number, truth value or list of these, got {'er': 1}",
        "arms[3].command: expected nothing beside solver = 'pyvrp', got ['x']",
        "arms[3].tier: expected 1 or 2, got 3",
        "objective.transform: expected reciprocal or negate-shift:C for sense = \"max\", got 'none'",
        "objective.checker: expected one of tdvrptw, vrptw, cvrp, mip, command:PROGRAM, python:MODULE:FUNCTION, "
        "got 'tdvrtw'; did you mean 'tdvrptw'?",
        "score.kernel: expected one of squeezed, maxform, berthold, dimacs:THETA, raw, got 'squezed'; "
        "did you mean 'squeezed'?",
        "score.weight early-log: expected its cutoff in seconds, as in early-log:0.1, got ''",
        "aggregate.contrasts[0]: expected the name of an arm, got 'bb'; did you mean 'b'?",
        "aggregate.contrasts[1]: expected arms of tier 1, got 'b' of tier 2, which is descriptive",
    }


def test_an_unknown_solver_is_a_mistake_for_a_runner_not_for_a_reader_of_results(tmp_path):
    """Who scores a study need not have the package that solved it."""
    text = SMALL.replace('solver = "kayros"', 'solver = "kayro"').replace("instances/a", "instances/none")
    found = mistakes_of(tmp_path, text, files=True)
    assert (
        f"arms[0].solver: expected one of {', '.join(SOLVERS)}, command, got 'kayro'; did you mean 'kayros'?" in found
    )
    assert any(mistake.startswith("instances[0].path") for mistake in found)
    assert load_contract(write(tmp_path, text)).arms[0].solver == "kayro"


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


@pytest.mark.parametrize(
    ("change", "mistake"),
    [
        (
            ('checker = "tdvrptw"', ""),
            'objective.checker: missing; validation = "checker" needs one, validation = "solver" does not',
        ),
        (("horizon = 2", "horizon = nan"), "time.horizon: expected a finite number, got nan"),
        (("horizon = 2", "horizon = inf"), "time.horizon: expected a finite number, got inf"),
        (("seeds = [1, 2]", "seeds = []"), "seeds: expected at least 1 item after validation, not 0, got []"),
        (("seeds = [1, 2]", "seeds = [-1]"), "seeds[0]: expected greater than or equal to 0, got -1"),
        (("seeds = [1, 2]", "seeds = [true]"), "seeds[0]: expected a valid integer, got True"),
        (("[study]", "[stdy]\n[study]"), "stdy: unknown field; did you mean 'study'?"),
        (
            ('name = "bee"', 'name = "a"'),
            "instances[1].name: expected a unique name, got 'a' again; give one of them a name",
        ),
        (
            ("[objective]", '[objective]\ntransform = "recip"'),
            f"objective.transform: expected {SYNTAX}, got 'recip'; did you mean 'reciprocal'?",
        ),
    ],
)
def test_single_mistakes(tmp_path, change, mistake):
    assert mistakes_of(tmp_path, SMALL.replace(*change)) == (mistake,)


@pytest.mark.parametrize(
    "line",
    [
        'transform = "shift:-3.5"',
        'transform = "hierarchical:10n"',
        'transform = "hierarchical:1000"',
        'transform = "reciprocal"\nsense = "max"',
        'transform = "negate-shift:100"\nsense = "max"',
    ],
)
def test_declared_transforms(tmp_path, line):
    assert load_contract(write(tmp_path, SMALL.replace("[objective]", f"[objective]\n{line}")))


def test_missing_instances_are_mistakes_for_who_needs_them(tmp_path):
    (tmp_path / "instances").mkdir()
    (tmp_path / "instances" / "aa.vrp.json").touch()
    assert mistakes_of(tmp_path, SMALL, files=True) == (
        "instances[0].path: expected a file, got 'instances/a.vrp.json'; did you mean 'aa.vrp.json'?",
        "instances[1].path: expected a file, got 'other/b.vrp'",
    )


def test_what_is_no_toml_says_where(tmp_path):
    (mistake,) = mistakes_of(tmp_path, "seeds = [1,\n[study")
    assert mistake.startswith("expected TOML, got ")
    assert "line 2" in mistake


def test_no_file_has_a_hint(tmp_path):
    with pytest.raises(ContractError, match="gapline init"):
        load_contract(tmp_path / "study.toml")


@pytest.mark.parametrize("text", ["seeds = 3", "arms = 3\ninstances = [1]\nseeds = [{}]", "objective = 1\nscore = []"])
def test_wrong_shapes_are_mistakes_not_crashes(tmp_path, text):
    assert mistakes_of(tmp_path, text)


def test_names_of_instances():
    names = ["x/C101.txt", "a.vrp.json", "p0033.mps.gz", "noext", ".hidden"]
    assert [default_name(name) for name in names] == ["C101", "a", "p0033", "noext", ".hidden"]


def test_a_transform_that_turns_the_objective_needs_the_sense(tmp_path):
    changed = SMALL.replace("[objective]", '[objective]\ntransform = "reciprocal"')
    assert mistakes_of(tmp_path, changed) == (
        'objective.sense: expected "max" beside transform = \'reciprocal\', got "min"',
    )
