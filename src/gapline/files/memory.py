"""The memory budget: `--memory`, or a quarter of the memory of the machine."""

import ctypes
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path, PurePosixPath

from gapline.errors import UsageError

# A smaller budget cannot hold one column of a small campaign, a block of a file and the interpreter's own tables.
LEAST = 16 << 20
_SHARE = 4
# Assumed if the system does not report its memory.
_UNKNOWN = 4 << 30
_SIZE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)\s*([kmgt]?)(i?b?)", re.IGNORECASE | re.ASCII)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
# Stack of budgets set by `limited_memory`. Global, because the limit holds for the whole process and affects no result.
_given: list[int] = []


def parse_memory(text: str) -> int:
    """Parse a size in bytes: KB, MB, GB and TB are powers of 1000; KiB, MiB, GiB and TiB are powers of 1024.

    >>> parse_memory("2GB"), parse_memory("512MiB"), parse_memory("1.5g")
    (2000000000, 536870912, 1500000000)
    """
    found = _SIZE.fullmatch(text.strip())
    # The pattern also matches `1i` and `1ib`, which have no meaning.
    if found is None or found[3].lower() == "i" or (found[3].lower() == "ib" and not found[2]):
        raise UsageError(f"--memory: expected a size such as 2GB or 512MiB, got {text!r:.60}")
    thousand = 1024 if found[3].lower() == "ib" else 1000
    size = int(float(found[1]) * thousand ** _POWERS[found[2].lower()])
    if size < LEAST:
        raise UsageError(f"--memory: expected at least {LEAST >> 20} MiB, got {text!r:.60}")
    return size


def memory_budget(given: str | int | None = None) -> int:
    """Return the memory budget in bytes: the given one, that of `limited_memory`, or a quarter of all memory."""
    if given is None:
        return given_memory() or _share_of_all()
    if isinstance(given, str):
        return parse_memory(given)
    if given < LEAST:
        raise UsageError(f"memory: expected at least {LEAST:,} bytes, got {given:,}")
    return given


@cache
def _share_of_all() -> int:
    # Cached, because every new array asks: read the files of the cgroups once per process.
    return max(LEAST, memory_limit() // _SHARE)


def given_memory() -> int | None:
    """Return the budget set by `limited_memory`, or None."""
    return _given[-1] if _given else None


@contextmanager
def limited_memory(given: str | int | None) -> Iterator[None]:
    """Set the memory budget within the context; None changes nothing, and an integer may be of any size."""
    if given is None:
        yield
        return
    _given.append(given if isinstance(given, int) else parse_memory(given))
    try:
        yield
    finally:
        _given.pop()


def memory_limit(*, root: Path = Path("/")) -> int:
    """Return the memory that this process may use: the smallest of the machine's memory and its cgroup limits."""
    try:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        machine = 0
    return min([machine if machine > 0 else _UNKNOWN, *_cgroup_limits(root)])


def _cgroup_limits(root: Path) -> list[int]:
    """Return the limits of the cgroups of this process and of their parents, for cgroup versions 1 and 2."""
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
        # Inside a container, the folder of the group is often the root of the mount.
        limits += [_limit(place / inside / file) for inside in (group, *group.parents)]
    return [limit for limit in limits if limit is not None]


def _limit(path: Path) -> int | None:
    try:
        text = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    # "max" means no limit, and so does the huge default number of version 1.
    return int(text) if text.isdigit() and 0 < int(text) < 1 << 60 else None


# The `mallopt` parameter for the number of heaps that threads allocate from; the default is eight per core.
_M_ARENA_MAX = -8


@cache
def _library() -> ctypes.CDLL | None:
    library = ctypes.CDLL(None)
    return library if hasattr(library, "malloc_trim") and hasattr(library, "mallopt") else None


def use_one_heap() -> None:
    """Let all threads allocate from one heap, so that they reuse memory freed by other threads."""
    if (library := _library()) is not None:
        library.mallopt(_M_ARENA_MAX, 1)


def give_back() -> None:
    """Return freed memory to the system if a budget was set; call it after a step that freed a lot."""
    if given_memory() is not None and (library := _library()) is not None:
        library.malloc_trim(0)
