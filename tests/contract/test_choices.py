"""Every choice is defined once, and command options and keyword arguments follow from it."""

import inspect

import pytest

import gapline as gl
from gapline.cli.app import gapline as cli
from gapline.contract.choices import ChoiceArguments, InputChoices, choice_values, find_choice

READING = (
    "score", "curve", "compare", "analyse", "report", "paper", "plan", "import", "export", "merge",
    "snapshot fold", "snapshot freeze",
)  # fmt: skip


def options_of(command):
    found = cli
    for name in command.split():
        found = found.get_command(None, name)
    return {option.name: option for option in found.params}


@pytest.mark.parametrize("command", READING)
def test_every_command_that_reads_data_has_the_choices_about_reading(command):
    options = options_of(command)
    for name in InputChoices.__annotations__:
        kind, choice = find_choice(name)
        option = options[name]
        assert option.opts == [f"--{name.replace('_', '-')}"]
        assert option.help.endswith(choice.help)
        assert option.is_flag == (kind is bool)
        assert tuple(getattr(option.type, "choices", ())) == choice_values(name)


@pytest.mark.parametrize("function", [gl.read, gl.open_study])
def test_the_functions_that_read_take_the_same_choices(function):
    taken = inspect.signature(function).parameters
    for name in InputChoices.__annotations__:
        assert taken[name].default == find_choice(name)[1].default


def test_missing_has_one_list_of_values():
    from gapline.study.coverage import Missing

    assert set(choice_values("missing")) == set(Missing)
    assert options_of("score")["missing"].default == find_choice("missing")[1].default == Missing.LEAVE_OUT
    assert set(ChoiceArguments.__annotations__) >= {"missing", "sense"}
