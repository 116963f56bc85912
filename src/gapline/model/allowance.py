"""How much a process does in NumPy before it loads the compiler: what a small campaign needs, and no more.

Loading Numba takes longer than all of `gapline score` on a small campaign. So small passes are done in NumPy, to the
last bit the same; but many of them cost more than loading it once, and then it is loaded: whoever rents for as long as
buying would have cost never pays more than twice.
"""

import os

import numpy as np

# Elements of the largest array of a pass that is small: candidates, as a rule.
SMALL = 100_000
# Elements that a process works through in NumPy: about as long as loading the compiler takes.
ALLOWANCE = 4_000_000
# What a pass counts at the least: calls cost too.
_LEAST = 3_000
# `always` compiles all, `never` nothing that NumPy can do, however large.
VARIABLE = "GAPLINE_COMPILE"

_spent = 0


def is_small(arguments: tuple[object, ...], cost: int = 1) -> bool:
    """Say whether a pass over these arrays is for NumPy, and count it if so, an element as `cost` of them."""
    global _spent  # noqa: PLW0603 (what this process has done so far)
    said = os.environ.get(VARIABLE)
    if said in {"always", "never"}:
        return said == "never"
    size = cost * max((one.size for one in arguments if isinstance(one, np.ndarray)), default=0)
    if size > SMALL or _spent >= ALLOWANCE:
        return False
    _spent += max(size, _LEAST)
    return True
