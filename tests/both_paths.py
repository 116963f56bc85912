"""Compiled code and what NumPy does in its place, side by side: the same bits, or it is a defect."""

import numpy as np
import pytest

from gapline.native.compilation import VARIABLE


@pytest.fixture(autouse=True, params=["never", "always"], ids=["numpy", "compiled"])
def each_path(request, monkeypatch):
    """Every test of the folder is run on either path."""
    monkeypatch.setenv(VARIABLE, request.param)
    return request.param


def frozen(values, kind=np.float64):
    """An array that cannot be written to, as the columns of a campaign are."""
    made = np.array(values, kind)
    made.flags.writeable = False
    return made


def assert_same_bits(function, *arguments, tidy=None):
    """Call both with arrays of their own, and look at whatever they may have written to and what they return.

    `tidy(result, arguments)` clears what they may leave behind where nobody looks.
    """
    seen = []
    for way in (function.without_machine, function.machine()):
        own = [one.copy() if isinstance(one, np.ndarray) and one.flags.writeable else one for one in arguments]
        result = way(*own)
        if tidy is not None:
            tidy(result, own)
        arrays = [one for one in [*own, np.asarray(result if result is not None else 0)] if isinstance(one, np.ndarray)]
        seen.append([plain(one) for one in arrays])
    for mine, compiled in zip(*seen, strict=True):
        assert mine.tolist() == compiled.tolist()


def plain(array):
    """The bits of an array; those of a number that is none are no matter."""
    if array.dtype != np.float64:
        return array
    return np.where(np.isnan(array), np.nan, array).view(np.uint64)
