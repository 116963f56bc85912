import pytest

from gapline.report.paper.examples import HORIZON, gap_steps, objective_steps

TRACE = ((5.0, 30.0), (7.0, 20.0))


def test_an_objective_begins_with_its_first_incumbent_and_holds_to_the_horizon():
    assert objective_steps("r", TRACE).rows() == [("r", 5.0, 30.0), ("r", 7.0, 20.0), ("r", HORIZON, 20.0)]
    assert objective_steps("r", ()).height == 0


def test_a_gap_begins_at_0_with_the_value_of_no_incumbent():
    """Against 10: 1 before 5 s, then (30 - 10) / 40 and (20 - 10) / 30."""
    frame = gap_steps("r", TRACE, "squeezed")
    assert frame["time"].to_list() == [0.0, 5.0, 7.0, HORIZON]
    assert frame["value"].to_list() == pytest.approx([1.0, 1 / 2, 1 / 3, 1 / 3])
    assert gap_steps("r", (), "squeezed").rows() == [("r", 0.0, 1.0), ("r", HORIZON, 1.0)]


def test_raw_does_not_exist_before_the_first_incumbent():
    assert gap_steps("r", TRACE, "raw")["time"].to_list() == [5.0, 7.0, HORIZON]
    assert gap_steps("r", (), "raw").height == 0
