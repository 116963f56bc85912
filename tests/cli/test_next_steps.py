"""What to do next is said in commands that can be copied."""

import pytest

from gapline.cli.output import print_next, running_commands, scoring_commands
from gapline.generate.study import Panel, write_study


def test_a_place_is_quoted_where_a_shell_would_split_it():
    assert running_commands("my study") == ["gapline status 'my study' --plan", "gapline run 'my study'"]


@pytest.mark.parametrize(
    ("declared", "policy", "words"),
    [
        ('policy = "analysis"', "", None),
        ('snapshot = "references/k.json"', "", None),
        ('policy = "frozen"', " --policy analysis", "the contract says frozen, and there are no references"),
        ('snapshot = "references/no.json"', " --policy analysis", "the contract says frozen"),
    ],
)
def test_scores_are_suggested_under_a_policy_that_the_study_can_keep(tmp_path, declared, policy, words):
    contract = write_study(tmp_path, "cvrp", panels=[Panel(3, 1)])
    contract.write_text(contract.read_text().replace('policy = "analysis"', declared))
    (tmp_path / "references").mkdir()
    (tmp_path / "references/k.json").touch()
    commands, lack = scoring_commands(str(tmp_path))
    assert commands == [f"gapline score {tmp_path}{policy}", f"gapline report {tmp_path}{policy}"]
    assert lack is None if words is None else lack.startswith(words)


def test_commands_stand_below_each_other(capsys):
    print_next(["gapline a", "gapline b"])
    print_next([])
    assert capsys.readouterr().out == "next: gapline a\n      gapline b\n"
