"""What is small is done without the compiler, until that has cost as much as loading it."""

import numpy as np
import pytest

from gapline.native import compilation
from gapline.native.compilation import ALLOWANCE, SMALL, VARIABLE, is_small


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(compilation, "_spent", 0)


def test_the_largest_array_says_what_is_small():
    assert is_small((3, np.zeros(SMALL), np.zeros((2, 5)), "text"))
    assert not is_small((np.zeros(2), np.zeros(SMALL + 1)))
    assert is_small((1.0, 2.0))


def test_many_small_passes_are_compiled_in_the_end():
    done = sum(is_small((np.zeros(SMALL),)) for _ in range(100))
    assert done == ALLOWANCE // SMALL
    assert not is_small((np.zeros(1),))


def test_a_pass_over_next_to_nothing_counts_too():
    done = sum(is_small((np.zeros(1),)) for _ in range(2000))
    assert 100 < done < 2000


def test_either_path_can_be_forced(monkeypatch):
    monkeypatch.setenv(VARIABLE, "always")
    assert not is_small((np.zeros(1),))
    monkeypatch.setenv(VARIABLE, "never")
    assert is_small((np.zeros(SMALL + 1),))
