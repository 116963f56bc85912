"""Names of files for names of any kind: readable, safe, and apart where the names are."""

import hashlib
import re

import msgspec

from gapline.contract.tables import RunKey

_UNSAFE = re.compile(r"[^a-z0-9.-]+")
_PART = 40


def slug(key: RunKey) -> str:
    """Return a directory name: readable parts, and a hash of the true names that keeps apart what looks alike.

    >>> slug(RunKey("HGS", "X-n101-k25", 3))
    'hgs_x-n101-k25_3_e40f34790c'
    >>> slug(RunKey("../../etc", "a/b", 1)).startswith("etc_a-b_1_")
    True
    """
    parts = [_readable(str(part)) for part in key]
    # As JSON: "a/b" + "c" and "a" + "b/c" must not look alike.
    digest = hashlib.sha256(msgspec.json.encode(list(key))).hexdigest()[:10]
    return "_".join([*parts, digest])


def file_slug(name: str) -> str:
    """Return a safe part of a file name: the name itself where it is safe, else a readable part and a hash.

    >>> file_slug("0.11.0"), file_slug("python:mine:check")
    ('0.11.0', 'python-mine-check-300af54b')
    """
    readable = _readable(name)
    return readable if readable == name else f"{readable}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _readable(name: str) -> str:
    return _UNSAFE.sub("-", name.lower()).strip("-.")[:_PART] or "x"
