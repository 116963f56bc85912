"""Functions that are meant to be compiled, as Python runs them: for a handful of numbers, to the last bit the same.

Sums and products are those of the processor either way. Logarithms and the like are not: Python has a log-gamma of its
own and raises where C says infinity. So what is interpreted gets the functions of the C library, as machine code does.
"""

import ctypes
import math
from collections.abc import Callable
from functools import cache, update_wrapper
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np

Function = Callable[..., Any]

_OF_C = ("erfc", "exp", "expm1", "lgamma", "log", "log1p", "sqrt")


def with_names(function: Function, names: dict[str, Any]) -> Function:
    """Return a function that finds other things under some of the names that it uses."""
    known = function.__globals__ | names
    copy = FunctionType(function.__code__, known, function.__name__, function.__defaults__, function.__closure__)
    update_wrapper(copy, function)
    # Whoever asks for its source or its names would be led to the one that was copied.
    del copy.__dict__["__wrapped__"]
    return copy


def run_interpreted(function: Function, *arguments: Any) -> Any:
    """Call the function as Python runs it, on arrays of one dimension and numbers."""
    # An element of a view is a number of Python's, ten times as fast as one of NumPy's.
    return _interpreted(function)(*[memoryview(one.data) if isinstance(one, np.ndarray) else one for one in arguments])


@cache
def _interpreted(function: Function) -> Function:
    named = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    called = {name: getattr(one, "py_func", None) for name, one in named.items()}
    names: dict[str, Any] = {name: _interpreted(one) for name, one in called.items() if one is not None}
    return with_names(function, names | ({"math": _math_of_c()} if named.get("math") is math else {}))


@cache
def _math_of_c() -> SimpleNamespace:
    """Return what compiled code finds under `math`."""
    library = ctypes.CDLL(None)
    found = SimpleNamespace(pi=math.pi)
    for name in _OF_C:
        one = getattr(library, name)
        one.restype, one.argtypes = ctypes.c_double, [ctypes.c_double]
        setattr(found, name, one)
    return found
