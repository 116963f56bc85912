"""Every choice is defined once: command options, keyword arguments, their documentation and the contract follow it."""

import inspect
import subprocess
import sys
from typing import Literal, get_args, get_origin

import pytest
from pydantic import BaseModel

import gapline as gl
from gapline.cli.app import gapline as cli
from gapline.contract.choices import (
    GROUPS,
    ChoiceArguments,
    CommandArguments,
    InputChoices,
    SourceChoices,
    choice_fields,
    choice_help,
    choice_values,
    find_choice,
)
from gapline.contract.contract import ContractFile
from gapline.errors import UsageError
from gapline.scoring.scores import DEFAULT_GOALS
from gapline.scoring.weighting import Weighting
from gapline.statistics.bootstrap import DRAWS
from gapline.statistics.estimate import DEFAULT_METHOD, Method

READING = (
    "score", "curve", "compare", "analyse", "report", "paper", "plan", "import", "export", "merge",
    "snapshot fold", "snapshot freeze",
)  # fmt: skip
SCORING = READING[:7]
# Where a study that states nothing differs from traces without a contract. Contracts are older than these defaults of
# traces, and what they once gave they have to give again.
STUDIES_HAVE = {"seed": 0, "goals": [0.0, 0.01, 0.05], "policy": "frozen"}
NOTHING = (None, "", "none", (), [], {})


def options_of(command):
    found = cli
    for name in command.split():
        found = found.get_command(None, name)
    return {option.name: option for option in found.params}


@pytest.mark.parametrize("command", READING)
def test_every_command_that_reads_data_has_the_choices_about_reading(command):
    options = options_of(command)
    for name in InputChoices.__annotations__:
        kind, _ = find_choice(name)
        option = options[name]
        assert option.opts == [f"--{name.replace('_', '-')}"]
        assert option.help.endswith(choice_help(name))
        assert option.is_flag == (kind is bool)
        assert tuple(getattr(option.type, "choices", ())) == choice_values(name)


@pytest.mark.parametrize("command", SCORING)
def test_every_command_that_scores_has_every_choice(command):
    options = options_of(command)
    for name in set(ChoiceArguments.__annotations__) - {"statistics", "title"}:
        assert options[name].panel == find_choice(name)[1].group
    assert {"memory", "settings"} <= options.keys()


def test_what_is_not_set_differs_from_the_default():
    """Without an option the contract decides: no option has a value of its own."""
    for option in options_of("score").values():
        if option.name in ChoiceArguments.__annotations__ and not option.is_flag:
            assert not option.to_info_dict()["default"], option.name
    assert options_of("score")["simultaneous"].default is None


@pytest.mark.parametrize(("function", "kind"), [(gl.read, SourceChoices), (gl.open_study, ChoiceArguments)])
def test_the_functions_take_the_choices_and_document_each(function, kind):
    taken = inspect.signature(function).parameters
    for name in kind.__annotations__:
        assert taken[name].kind is taken[name].KEYWORD_ONLY
        assert taken[name].default is (False if find_choice(name)[0] is bool else None)
        assert f"\n{name}\n    {find_choice(name)[1].help[:15]}" in function.__doc__
    assert "{choices}" not in function.__doc__


@pytest.mark.parametrize("function", [gl.read, gl.open_study])
def test_an_unknown_choice_is_refused_by_the_closest_name(function):
    with pytest.raises(UsageError, match=f"{function.__name__}: expected a choice, got 'colums'") as error:
        function([{"arm": "a", "instance": "i", "seed": 1, "time": 0.5, "objective": 12.0}], colums="time=t")
    assert error.value.hint == "did you mean 'columns'?"
    with pytest.raises(UsageError, match="got 'xyz'") as error:
        function([], xyz=1)
    assert "columns" in error.value.hint


def test_choices_that_are_none_are_not_set():
    runs = [{"arm": "a", "instance": "i", "seed": 1, "horizon": 10, "trace": [(2.0, 30.0)]}]
    snapshot = gl.Snapshot.from_values({"i": 10.0}, name="mine")
    nothing = dict.fromkeys(set(ChoiceArguments.__annotations__) - {"snapshots"})
    study = gl.open_study(gl.Campaign.from_runs(runs), snapshots=snapshot, **nothing)
    assert (study.kernels, study.goals, study.level, study.seed) == (("squeezed",), (0.01,), 0.95, 1)
    # A zero is a choice.
    assert gl.open_study(gl.Campaign.from_runs(runs), snapshots=snapshot, seed=0, goals=0.0).seed == 0


def test_every_choice_has_a_group_a_help_and_a_name_of_its_own():
    options = [find_choice(name)[1].option or name for name in CommandArguments.__annotations__]
    assert len(set(options)) == len(options)
    for name in CommandArguments.__annotations__:
        _, choice = find_choice(name)
        assert choice.group in GROUPS
        assert choice.help[0].isupper() or choice.help[0] == "`"
        assert choice.help.endswith(".")
    assert not {"allow_code", "memory", "on"} & set(choice_fields().values())


def test_functions_have_the_defaults_of_the_choices():
    assert find_choice("goals")[1].default == DEFAULT_GOALS
    assert find_choice("draws")[1].default == DRAWS
    assert find_choice("interval")[1].default == DEFAULT_METHOD
    assert choice_values("interval") == tuple(Method)
    assert choice_values("weighting") == tuple(Weighting)


def contract_field(path):
    """Return a field of the contract by its path in study.toml."""
    model, field = ContractFile, None
    for name in path.split("."):
        field = model.model_fields[name]
        parts = (field.annotation, *get_args(field.annotation))
        model = next((one for one in parts if isinstance(one, type) and issubclass(one, BaseModel)), None)
    return field


def flat(kind):
    """Return the plain types of an annotation, and the values of a Literal."""
    if get_origin(kind) is Literal:
        return set(get_args(kind))
    inner = [flat(part) for part in get_args(kind) if not isinstance(part, list)]
    return set().union(*inner) if inner else {kind}


def plain(value):
    """Return a default as one value: nothing, the one that a list holds, or a list."""
    values = list(value) if isinstance(value, tuple | list) else [value]
    return None if value in NOTHING else values[0] if len(values) == 1 else values


@pytest.mark.parametrize("path", choice_fields())
def test_the_contract_has_the_field_of_a_choice_with_its_type_and_default(path):
    name, field = choice_fields()[path], contract_field(path)
    kind, choice = find_choice(name)
    assert field.description or path == "study.title"
    default = None if field.is_required() else field.get_default(call_default_factory=True)
    assert plain(default) == plain(STUDIES_HAVE.get(name, choice.default))
    stated, taken = flat(field.annotation), flat(kind)
    if values := choice_values(name):
        # That a snapshot is retrospective is found out; that both policies are shown is no property of a study.
        assert stated - {"retrospective", type(None)} == {*values} - {"both"}
    else:
        assert stated & taken & {str, float, int, bool}
    if choice.limits is not None:
        least, most = choice.limits
        assert f"={least})" in repr(field.metadata)
        assert most is None or f"lt={most})" in repr(field.metadata)


def test_names_of_kernels_and_weights_are_the_same_in_both():
    for path, names in (("score.kernel", ("squeezed", "dimacs:THETA")), ("score.weight", ("end-log:TCUT", "uniform"))):
        for name in names:
            assert name in contract_field(path).description
            assert name in find_choice(choice_fields()[path])[1].help


def test_the_list_of_choices_loads_no_pydantic():
    code = "import sys, gapline.contract.choices; print('pydantic' in sys.modules, 'polars' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
