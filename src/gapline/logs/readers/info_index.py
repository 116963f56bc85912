"""The `.info` index that COCO's loggers and older IOHprofiler loggers share: facts, then a table and its runs.

The two differ in the meaning of the numbers: COCO logs the value minus the optimum and minimises; IOHprofiler logs the
value itself and states the direction, except in its first years.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from gapline.logs.reader import Found, LogFile

_HEAD = re.compile(
    rb"""(?:^|\n)((?:suite = ['"][^'"\n]{0,80}['"], )?funcId = [^,\n]{1,60}, """
    rb"""(?:funcName = "[^"\n]{0,200}", )?DIM = [0-9]{1,6},[^\n]{0,2000})"""
)
_OF_IOH = re.compile(rb"\b(?:maximization|algInfo) = ")
_FACT = re.compile(r"""(\w{1,40}) = (?:'([^']{0,300})'|"([^"]{0,300})"|([^,]{1,60}))""")
_ENTRY = re.compile(r"\s{0,4}([0-9]{1,9})(?::([0-9]{1,18})\|(\S{1,300}))?")


class IndexedRun(NamedTuple):
    """A run as listed in the index; without evaluations, it was begun but never closed."""

    instance: int
    evaluations: int | None


class IndexBlock(NamedTuple):
    """The facts of an index on the runs in one table, and their place in the index."""

    facts: dict[str, str]
    table: str
    runs: list[IndexedRun]
    where: str


def index_writer(head: bytes) -> str | None:
    """Return the name of the format whose index a head is, or None.

    >>> index_writer(b"funcId = 1, DIM = 2, Precision = 1.000e-08, algId = 'walk'")
    'coco'
    >>> index_writer(b"suite = 'PBO', funcId = 1, DIM = 16, algId = 'walk', algInfo = ''")
    'iohprofiler'
    """
    line = _HEAD.search(head[:8192])
    if line is None:
        return None
    return "iohprofiler" if _OF_IOH.search(line[1]) else "coco"


def read_blocks(log: LogFile, found: Found) -> Iterator[IndexBlock]:
    """Yield the blocks of an index; entries that are not runs become problems of `found`."""
    facts: dict[str, str] = {}
    # Not `lines`, which cuts long lines: a thousand runs of one table are on one line.
    lines = (line for block in log.blocks() for line in block.removesuffix(b"\n").split(b"\n"))
    for number, encoded in enumerate(lines, start=1):
        line = encoded.decode("utf-8", "replace")
        where = f"{log.path}:{number}"
        if line.startswith("%") or not line.strip():
            continue
        if "funcId = " in line[:200]:
            facts = {name: single or double or bare.strip() for name, single, double, bare in _FACT.findall(line)}
            continue
        if not facts:
            found.refuse(where, "'funcId = …' before the runs", line)
            continue
        table, *entries = line.split(",")
        runs = []
        for entry in entries:
            if match := _ENTRY.fullmatch(entry.rstrip()):
                runs.append(IndexedRun(int(match[1]), int(match[2]) if match[2] else None))
            elif entry.strip():
                found.refuse(where, "a run such as 1:500|2.3e-09", entry)
        yield IndexBlock(facts, table.strip().replace("\\", "/"), runs, where)
