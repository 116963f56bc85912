"""What the C library keeps of memory that was freed: with a small budget, little.

Where there is no glibc nothing is done: others keep less, or have no such calls.
"""

import ctypes
from functools import cache

from gapline.model.budget import given_memory

# Of `mallopt`: how many heaps there are for threads to allocate from; by default eight for each core.
_M_ARENA_MAX = -8


@cache
def _library() -> ctypes.CDLL | None:
    library = ctypes.CDLL(None)
    return library if hasattr(library, "malloc_trim") and hasattr(library, "mallopt") else None


def use_one_heap() -> None:
    """Let all threads allocate from one heap, so that one needs what another has freed."""
    if (library := _library()) is not None:
        library.mallopt(_M_ARENA_MAX, 1)


def give_back() -> None:
    """Give back to the system what was freed, if a budget was given: whatever made much of it is done with."""
    if given_memory() is not None and (library := _library()) is not None:
        library.malloc_trim(0)
