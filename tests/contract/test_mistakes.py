"""Every mistake of a contract is one line that names its place and what would be right."""

import pytest

from campaign.contracts import SMALL, mistakes_of, write
from gapline.contract.contract import SOLVERS
from gapline.contract.study_file import load_contract
from gapline.contract.transforms import SYNTAX

BIG = f"1{'0' * 30}"
NO_NUL = "expected a text without NUL characters"


def test_all_mistakes_come_at_once_with_place_and_closest_name(tmp_path):
    wrong = """
seeds = [1, 1, "x"]
[study]
nme = "a"
[objective]
checker = "tdvrtw"
sense = "max"
transform = "shift:1"
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
sense = "min"
transform = "reciprocal"
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
        "objective.transform: expected reciprocal or negate-shift:C for sense = \"max\", got 'shift:1'",
        'instances[1].sense: expected "max" beside transform = \'reciprocal\', got "min"',
        "objective.checker: expected one of tdvrptw, vrptw, cvrp, mip, command:PROGRAM, python:MODULE:FUNCTION, "
        "got 'tdvrtw'; did you mean 'tdvrptw'?",
        "score.kernel: expected one of squeezed, maxform, berthold, dimacs:THETA, raw, python:MODULE:FUNCTION, "
        "got 'squezed'; "
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
        # TOML has integers of 64 bits, and Python any; a NUL ends a path for the system and not for Python.
        (("seeds = [1, 2]", f"seeds = {BIG}"), f"seeds: expected an integer of 64 bits, got {BIG}"),
        (("seeds = [1, 2]", f"seeds = [{BIG}]"), f"seeds[0]: expected an integer of 64 bits, got {BIG}"),
        (("seeds = [1, 2]", "seeds = 1000001"), "seeds: expected less than or equal to 1000000, got 1000001"),
        (("size = 100", f"size = {BIG}"), f"instances[1].size: expected an integer of 64 bits, got {BIG}"),
        (("fast = true", f"fast = {BIG}"), f"arms[1].options.fast: expected an integer of 64 bits, got {BIG}"),
        (("instances/a", "inst\\u0000/a"), f"instances[0].path: {NO_NUL}, got 'inst\\x00/a.vrp.json'"),
        (("instances/a", "inst\\u0000/*"), f"instances[0].path: {NO_NUL}, got 'inst\\x00/*.vrp.json'"),
        (("./mine", "./mi\\u0000ne"), f"arms[1].command[0]: {NO_NUL}, got './mi\\x00ne'"),
        (("fast = true", '"f\\u0000" = true'), "arms[1].options: expected names without NUL characters, got 'f\\x00'"),
        (
            ("[[instances]]", '[reference]\nsnapshot = "a\\u0000b.json"\n[[instances]]'),
            f"reference.snapshot: {NO_NUL}, got 'a\\x00b.json'",
        ),
        (("[study]", "[stdy]\n[study]"), "stdy: unknown field; did you mean 'study'?"),
        (
            ('name = "bee"', 'name = "a"'),
            "instances[1].name: expected a unique name, got 'a' again; give one of them a name",
        ),
        (
            ("[[instances]]", '[aggregate]\nbootstrap = "bca"\n[[instances]]'),
            "aggregate.bootstrap.method: expected 'skew-t', 't', 'percentile' or 'sign-flip', got 'bca'; "
            "'bca' was removed; skew-t is the default",
        ),
        (
            ("[objective]", '[objective]\ntransform = "recip"'),
            f"objective.transform: expected {SYNTAX}, got 'recip'; did you mean 'reciprocal'?",
        ),
    ],
)
def test_single_mistakes(tmp_path, change, mistake):
    assert mistakes_of(tmp_path, SMALL.replace(*change, 1)) == (mistake,)


def test_a_list_of_instances_has_the_same_limits(tmp_path):
    text = SMALL.replace('path = "other/b.vrp"', 'csv = "list.csv"').replace('name = "bee"', "")
    (tmp_path / "list.csv").write_text(f"path,size\nb\0.vrp,5\nc.vrp,{BIG}\n")
    assert mistakes_of(tmp_path, text) == (
        f"instances[1].csv: line 2 of 'list.csv': path: {NO_NUL}, got 'b\\x00.vrp'",
        f"instances[1].csv: line 3 of 'list.csv': size: expected an integer of 64 bits, got {BIG}",
    )


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


@pytest.mark.parametrize("text", ["seeds = 3", "arms = 3\ninstances = [1]\nseeds = [{}]", "objective = 1\nscore = []"])
def test_wrong_shapes_are_mistakes_not_crashes(tmp_path, text):
    assert mistakes_of(tmp_path, text)


def test_a_transform_that_turns_the_objective_needs_the_sense(tmp_path):
    changed = SMALL.replace("[objective]", '[objective]\ntransform = "reciprocal"')
    assert mistakes_of(tmp_path, changed) == (
        'objective.sense: expected "max" beside transform = \'reciprocal\', got "min"',
    )
