"""What a contract states, by the names of `open_study` and as options of `gapline score`."""

import gapline as gl
from gapline.contract.study_file import load_contract
from gapline.study.contract_choices import declared_choices, lead_goals, read_contract, score_options
from study.ruled_study import write_study

TABLES = """
[score]
kernel = "maxform"
goals = [0, 0.05, 0.01]
[aggregate]
weighting = "instance"
"""


def test_a_source_without_a_contract_states_nothing():
    assert read_contract(None) == (None, None, None)
    assert declared_choices(None) == {}


def test_every_choice_of_a_contract_has_the_name_that_open_study_takes(tmp_path):
    folder = write_study(tmp_path, tables=TABLES, reference='policy = "retrospective"')
    contract, text, register = read_contract(folder)
    assert 'kernel = "maxform"' in text
    assert register is None
    stated = declared_choices(contract)
    assert stated["kernels"] == ("maxform",)
    assert stated["weighting"] == "instance"
    assert stated["tier_two"] == ("c",)
    assert stated["title"] == "rules"
    # Whether values were known before the runs is found out, not declared.
    assert stated["policy"] is None


def test_a_positive_goal_leads():
    assert lead_goals((0.0, 0.05, 0.01)) == (0.05, 0.0, 0.01)
    assert lead_goals((0.0,)) == (0.0,)
    assert lead_goals(()) == ()


def test_the_options_read_the_traces_of_a_study_as_the_study_is_read(tmp_path):
    folder = write_study(tmp_path, tables=TABLES)
    options = score_options(load_contract(folder), folder)
    assert options == [
        *("--snapshot", str(folder / "known.json"), "--kernel", "maxform", "--weighting", "instance"),
        *("--goal", "0.05", "--goal", "0.0", "--goal", "0.01", "--validation", "solver", "--seed", "0"),
    ]
    assert "--snapshot" not in score_options(load_contract(folder), folder, carried=True)
    plain = gl.open_study(gl.open(folder / "campaign"), snapshots=[folder / "known.json"], kernels=["maxform"])
    assert plain.summary.frame["maxform"].to_list() == gl.open_study(str(folder)).summary.frame["maxform"].to_list()
