"""One worker per cell, and attempts that are never reused."""

import subprocess
import sys

import pytest

from gapline.run.claim import claim, is_claimed, new_attempt


def test_a_cell_is_claimed_once(tmp_path):
    cell = tmp_path / "cell"
    assert not is_claimed(cell)
    with claim(cell) as first, claim(cell) as second:
        assert first is not None
        assert second is None
        assert is_claimed(cell)
    assert not is_claimed(cell)


def test_a_claim_lasts_as_long_as_a_child_that_inherited_it(tmp_path):
    with claim(tmp_path) as held:
        child = subprocess.Popen(
            [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE, pass_fds=(held,)
        )
    assert is_claimed(tmp_path)
    child.communicate()
    assert not is_claimed(tmp_path)


def test_attempts_are_numbered_on(tmp_path):
    assert new_attempt(tmp_path).name == "attempt-001"
    assert new_attempt(tmp_path).name == "attempt-002"
    (tmp_path / "attempt-017").mkdir()
    assert new_attempt(tmp_path).name == "attempt-018"


def test_a_claim_is_free_after_an_exception(tmp_path):
    with pytest.raises(RuntimeError), claim(tmp_path):
        raise RuntimeError
    assert not is_claimed(tmp_path)
