"""Errors say where, what was expected and what is there, and each class has its exit code."""

import inspect
import pickle
import re

from gapline import errors
from gapline.errors import ContractError, EnvironmentLacksError, GaplineError, UsageError, closest, found_at, listing


def test_the_tree_in_the_docstring_is_the_tree_of_classes():
    classes = {name for name, one in vars(errors).items() if inspect.isclass(one) and issubclass(one, GaplineError)}
    assert set(re.findall(r"\w+Error", errors.__doc__)) == classes


def test_exit_codes_tell_a_bad_call_and_a_missing_package_from_bad_data():
    codes = {one.__name__: one.exit_code for one in GaplineError.__subclasses__() if one.exit_code != 1}
    assert codes == {"ContractError": 2, "UsageError": 2, "EnvironmentLacksError": 3}


def test_a_hint_stands_on_a_line_of_its_own():
    assert str(UsageError("a: expected b, got c", hint="try b")) == "a: expected b, got c\nHint: try b"
    assert str(UsageError("a")) == "a"
    assert EnvironmentLacksError.for_extra("pyvrp", "routing").hint == "pip install 'gapline[routing]'"


def test_one_mistake_stands_beside_the_file_and_several_under_it():
    assert str(ContractError("s.toml", ["x: missing"])) == "s.toml: x: missing"
    assert str(ContractError("s.toml", ["x", "y"])) == "s.toml: 2 mistakes\n  x\n  y"


def test_the_nearest_name_is_proposed_only_where_it_is_near():
    assert closest("squezed", ["squeezed", "raw"]) == "squeezed"
    assert closest("nothing", ["squeezed", "raw"]) is None
    assert listing("abc") == "a, b, c"


def test_what_stands_in_place_of_a_file(tmp_path):
    (tmp_path / "file").touch()
    assert [found_at(tmp_path / name) for name in ("", "file", "none")] == ["a directory", "a file", "no such file"]


def test_an_error_that_comes_back_from_a_worker_is_the_same():
    """Pickled and read again, with its hint, whatever its constructor takes."""
    sent = [
        kind("x: expected y", hint="z")
        for kind in vars(errors).values()
        if inspect.isclass(kind) and issubclass(kind, GaplineError) and kind is not ContractError
    ]
    sent.append(ContractError("study.toml", ["a", "b"], hint="both"))
    for error in sent:
        got = pickle.loads(pickle.dumps(error))
        assert (type(got), str(got), got.hint, got.args) == (type(error), str(error), error.hint, error.args)
    assert pickle.loads(pickle.dumps(sent[-1])).mistakes == ("a", "b")
