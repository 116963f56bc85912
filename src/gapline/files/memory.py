"""The memory budget: `--memory`, or a quarter of what the machine has."""

import ctypes
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path, PurePosixPath

from gapline.errors import UsageError

# Below this not even one column of a small campaign, a block of a file and the interpreter's own tables fit.
LEAST = 16 << 20
_SHARE = 4
# Where the system does not say what it has.
_UNKNOWN = 4 << 30
_SIZE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)\s*([kmgt]?)(i?b?)", re.IGNORECASE | re.ASCII)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
# What this process was told last: a limit on memory is one for all that it does, and shows in no result.
_given: list[int] = []


def parse_memory(text: str) -> int:
    """Return a number of bytes as people write it: KB, MB, GB and TB are powers of 1000, KiB, MiB and so on of 1024.

    >>> parse_memory("2GB"), parse_memory("512MiB"), parse_memory("1.5g")
    (2000000000, 536870912, 1500000000)
    """
    found = _SIZE.fullmatch(text.strip())
    # `1i` is neither, and `1ib` means nothing.
    if found is None or found[3].lower() == "i" or (found[3].lower() == "ib" and not found[2]):
        raise UsageError(f"--memory: expected a size such as 2GB or 512MiB, got {text!r:.60}")
    thousand = 1024 if found[3].lower() == "ib" else 1000
    size = int(float(found[1]) * thousand ** _POWERS[found[2].lower()])
    if size < LEAST:
        raise UsageError(f"--memory: expected at least {LEAST >> 20} MiB, got {text!r:.60}")
    return size


def memory_budget(given: str | int | None = None) -> int:
    """Return the bytes that may be held at a time: those given, those of `limited_memory`, else a quarter of all."""
    if given is None:
        return given_memory() or _share_of_all()
    if isinstance(given, str):
        return parse_memory(given)
    if given < LEAST:
        raise UsageError(f"memory: expected at least {LEAST:,} bytes, got {given:,}")
    return given


@cache
def _share_of_all() -> int:
    # Whoever makes a small array asks: the files of the control groups are read once in a process.
    return max(LEAST, memory_limit() // _SHARE)


def given_memory() -> int | None:
    """Return what `limited_memory` says, None where nobody said anything."""
    return _given[-1] if _given else None


@contextmanager
def limited_memory(given: str | int | None) -> Iterator[None]:
    """Work within this budget, however small as a number; None changes nothing."""
    if given is None:
        yield
        return
    _given.append(given if isinstance(given, int) else parse_memory(given))
    try:
        yield
    finally:
        _given.pop()


def memory_limit(*, root: Path = Path("/")) -> int:
    """Return how much memory there is for this process: that of the machine, or the smallest limit of its cgroups."""
    try:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        machine = 0
    return min([machine if machine > 0 else _UNKNOWN, *_cgroup_limits(root)])


def _cgroup_limits(root: Path) -> list[int]:
    """Return the limits of the cgroups that this process is in, and of those around them, of either version."""
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    limits = []
    for line in lines:
        number, _, rest = line.partition(":")
        controllers, _, name = rest.partition(":")
        if number == "0" and not controllers:
            place, file = root / "sys/fs/cgroup", "memory.max"
        elif "memory" in controllers.split(","):
            place, file = root / "sys/fs/cgroup/memory", "memory.limit_in_bytes"
        else:
            continue
        group = PurePosixPath(name.lstrip("/"))
        # Inside a container the group's own folder is often the root of what is mounted.
        limits += [_limit(place / inside / file) for inside in (group, *group.parents)]
    return [limit for limit in limits if limit is not None]


def _limit(path: Path) -> int | None:
    try:
        text = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    # "max" is no limit; nor is version 1's largest number of pages, which no machine has.
    return int(text) if text.isdigit() and 0 < int(text) < 1 << 60 else None


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
