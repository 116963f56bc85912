"""Help of one screen in groups, longer help on request, and `--set` for choices as study.toml names them."""

import json
import re
from pathlib import Path

import click
import pytest

from cli.two_arms import write_study
from cli.worked_traces import as_json
from gapline.cli.app import COMMANDS, run
from gapline.cli.app import gapline as cli
from gapline.cli.command import MOST, Command, read_setting
from gapline.contract.choices import GROUPS, choice_fields
from gapline.errors import UsageError
from pseudo_terminal import on_terminal

SCORING = ("score", "curve", "compare", "analyse", "report", "paper", "plan")
START = ["references", "horizon", "columns", "sense", "time_unit", "kernels", "output"]


def all_commands():
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {sub}", command.commands[sub]) for sub in command.commands)


def shown(command):
    return command.shown(click.Context(command, info_name=command.name))


def options_in(text):
    return {f"--{name}" for name in re.findall(r"(?<=--)[a-z][a-z0-9-]+", text)}


@pytest.mark.parametrize(("name", "command"), [*all_commands()])
def test_help_shows_at_most_twenty_options(name, command):
    if not isinstance(command, click.Group):
        assert isinstance(command, Command), name
        assert sum(map(len, shown(command).values())) <= MOST


@pytest.mark.parametrize("name", SCORING)
def test_help_begins_with_what_a_beginner_needs(name):
    groups = shown(cli.get_command(click.Context(cli), name))
    assert next(iter(groups)) == "start here"
    assert [one.removesuffix("s") if one == "outputs" else one for one in groups["start here"]] == START
    assert groups["help"] == ["settings", "help", "help_all"]
    known = [group for group in groups if group in GROUPS]
    assert known == sorted(known, key=GROUPS.index)


def test_long_help_has_every_option_and_short_help_its_example(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["score", "--help"]) == 0
    short = capsys.readouterr().out
    assert run(["score", "-h"]) == 0
    assert capsys.readouterr().out == short
    assert run(["score", "--help-all"]) == 0
    whole = capsys.readouterr().out
    options = {name for one in cli.get_command(click.Context(cli), "score").params for name in one.opts}
    assert {name for name in options if name.startswith("--")} <= options_in(whole)
    assert "--leave-out-unscorable" not in short
    assert "--help-all" in short
    assert "Example: gapline score " in " ".join(short.split())
    assert max(map(len, short.splitlines() + whole.splitlines())) == 80


def test_a_command_with_few_options_has_one_list_and_no_longer_help(capsys):
    for asked in ("--help", "--help-all"):
        assert run(["doctor", asked]) == 0
        out = capsys.readouterr().out
        assert "Options" in out
        assert "--help-all" not in out


def test_a_policy_that_is_not_offered_is_not_explained(capsys):
    assert run(["curve", "--help"]) == 0
    assert "side by side" not in capsys.readouterr().out


def set_to(*settings):
    return [part for one in settings for part in ("--set", one)]


def test_set_and_option_are_two_spellings_of_one_choice(worked, capsys):
    by_option = ["--kernel", "maxform", "--kernel", "dimacs:1.1", "--weight", "early-log:0.5", "--weighting", "run",
                 "--goal", "0.25", "--level", "0.9", "--validation", "solver", "--contrast", "run 1", "run 2",
                 "--simultaneous", "--draws", "50", "--transform", "shift:5"]  # fmt: skip
    by_field = set_to(
        'score.kernel=["maxform", "dimacs:1.1"]', "score.weight=early-log:0.5", "aggregate.weighting = run",
        "score.goals=[0.25]", "aggregate.bootstrap.level=0.9", 'objective.validation="solver"',
        'aggregate.contrasts=[["run 1", "run 2"]]', "aggregate.simultaneous=true", "aggregate.bootstrap.draws=50",
        "objective.transform=shift:5",
    )  # fmt: skip
    _, one = as_json(capsys, "analyse", *worked, *by_option)
    _, other = as_json(capsys, "analyse", *worked, *by_field)
    assert one == other
    assert one["bootstrap"]["draws"] == 50


def test_set_takes_precedence_over_the_contract(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_study(tmp_path / "study")
    assert as_json(capsys, "analyse", "study")[1]["bootstrap"]["draws"] == 77
    assert as_json(capsys, "analyse", "study", *set_to("aggregate.bootstrap.draws=33"))[1]["bootstrap"]["draws"] == 33


def test_a_choice_without_an_option_can_be_set_too(worked, capsys, monkeypatch):
    assert run(["report", *worked, *set_to("study.title=Mine"), "-o", "results", "--format", "svg"]) == 0
    assert "<title>Mine" in Path("results/report.html").read_text(encoding="utf-8")
    Path("ours.py").write_text("def twice(*run):\n    return 2.0\n")
    monkeypatch.syspath_prepend(".")
    capsys.readouterr()
    assert run(["score", *worked, *set_to("score.statistics=['python:ours:twice']"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["statistics"] == ["python:ours:twice"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--weighting", "run", "--set", "aggregate.weighting=run"], "--weighting and --set aggregate.weighting: "),
        (["--set", "aggregate.weighting=run", "--weighting", "run"], "--weighting and --set aggregate.weighting: "),
        (["--set", "score.kernel=raw", "--set", "score.kernels=raw"], "--set score.kernel and --set score.kernels: "),
        (["--kernel", "raw", "--set", "score.kernel=raw"], "--kernel and --set score.kernel: "),
        (["--set", "agregate.weighting=run"], "did you mean 'aggregate.weighting'?"),
        (["--set", "arms=3"], "fields are aggregate.bootstrap.draws, "),
        (["--set", "aggregate.weighting"], "expected FIELD=VALUE, got 'aggregate.weighting'"),
        (["--set", "score.goals=[0.1"], "score.goals: expected a value as in study.toml, got '[0.1'"),
        (["--set", "score.weight=1\nx = 2"], "--set score.weight: expected one value"),
        (["--set", "score.weight=['a', 'b']"], "--set score.weight: expected one value, got 2"),
        (["--set", "aggregate.weighting=all"], "'--set aggregate.weighting': 'all' is not one of 'panel'"),
        (["--set", "aggregate.bootstrap.draws=2.5"], "'2.5' is not a valid integer"),
        (["--set", "aggregate.contrasts=[['a']]"], "'--set aggregate.contrasts'"),
    ],
)
def test_what_set_refuses(worked, capsys, arguments, said):
    assert run(["score", *worked, *arguments]) == 2
    assert said in " ".join(capsys.readouterr().err.replace("│", " ").split())


def test_every_field_can_be_set():
    for field, name in choice_fields().items():
        assert read_setting(f"{field}=x") == (field, name, "x")
    with pytest.raises(UsageError, match=r"expected a field of study\.toml that is a choice"):
        read_setting("time.threads=2")


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--help", "--help-all"])
def test_help_has_its_colours_on_a_terminal(option):
    shown, _ = on_terminal("import sys; from gapline.cli import main; main()", "score", option)
    assert "\x1b[" in shown
    assert "\\u001b" not in shown
