"""Checkers are found by name, or the name is answered with those that there are."""

import pytest

from gapline.checkers import load_checker
from gapline.checkers.load import CHECKERS
from gapline.errors import UsageError


@pytest.mark.parametrize("name", CHECKERS)
def test_every_built_in_checker_loads_under_its_own_name(name):
    checker = load_checker(name)
    assert checker.name == name
    assert isinstance(checker.version, str)


@pytest.mark.parametrize(("name", "near"), [("cvrpp", "cvrp"), ("tdvrptv", "tdvrptw"), ("command:", None), ("", None)])
def test_an_unknown_name_shows_what_there_is(name, near):
    with pytest.raises(UsageError, match="expected one of tdvrptw, vrptw, cvrp, mip, command:PROGRAM or") as caught:
        load_checker(name)
    assert caught.value.hint == (f"did you mean {near!r}?" if near else None)
