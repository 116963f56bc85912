"""Names and text from other people's files: safe to print, and the same wherever they come from."""

import math
import re
from collections.abc import Collection, Iterable, Sequence
from fnmatch import fnmatchcase

from gapline.errors import closest, listing

_MODEL_SUFFIXES = re.compile(
    r"(?:\.(?:mps|lp|rew|rlp|cip|opb|wbo|osil|w?cnf|fzn|pip|zpl|nl|mod|sav|gz|bz2|xz|zst|zip|7z))+$", re.IGNORECASE
)


def model_name(name: str) -> str:
    """Return the name of a model without the suffixes of its file, as libraries of best values write it.

    >>> model_name("p0033.opb.gz"), model_name("X-n101-k25.vrp"), model_name(".lp")
    ('p0033', 'X-n101-k25.vrp', '.lp')
    """
    return _MODEL_SUFFIXES.sub("", name) or name


def printable(text: object) -> str:
    """Escape what a terminal would interpret instead of showing: control, bidi and other unprintable characters.

    >>> printable("a" + chr(27) + "[31mb")
    'a\\\\u001b[31mb'
    """
    whole = str(text)
    return whole if whole.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in whole)


def writable(text: object) -> str:
    r"""Return a text that any file can hold: bytes of a path that are not UTF-8 are escaped.

    >>> import os
    >>> writable(os.fsdecode(b"st\xffdy"))
    'st\\udcffdy'
    """
    whole = str(text)
    # Among a million paths most are ASCII: these are not copied.
    return whole if whole.isascii() else whole.encode("utf-8", "backslashreplace").decode("utf-8")


def _escaped(letter: str) -> str:
    return f"\\u{ord(letter):04x}" if letter <= "\uffff" else f"\\U{ord(letter):08x}"


def natural_order(text: str) -> list[tuple[int, int, str]]:
    """Return the key that sorts n=2 before n=10 before n=100.

    >>> sorted(["n=10", "n=2"], key=natural_order)
    ['n=2', 'n=10']
    """
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d+)", text)]


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, singular or plural.

    >>> counted(1, "run"), counted(1200, "run")
    ('1 run', '1,200 runs')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def error_bound(error: float) -> str:
    """Write an error bound as a power of ten, since its digits depend on the processor.

    >>> error_bound(2.1e-14), error_bound(3e-8), error_bound(0.1)
    ('1e-13', '1e-07', '1e-01')
    """
    # Anything smaller is rounding, and differs by more than a power of ten.
    return f"{10.0 ** math.ceil(math.log10(max(error, 1e-13))):.0e}"


def meant(name: str, valid: Collection[str], *, show: bool = False, most: int = 10) -> str | None:
    """Return a hint for an unknown name: the closest valid one, or with `show` the valid ones.

    >>> meant("squezed", ["squeezed", "raw"]), meant("x", ["a", "b"], show=True)
    ("did you mean 'squeezed'?", 'there are: a, b')
    """
    near = closest(name, valid)
    return f"did you mean {near!r}?" if near else f"there are: {listing(valid, most=most)}" if show else None


def as_patterns(given: str | Sequence[str]) -> tuple[str, ...]:
    """Return one pattern or several as a tuple."""
    return (given,) if isinstance(given, str) else tuple(given)


def matches(value: str, patterns: Iterable[str]) -> bool:
    """Return whether a name is one of the patterns or fits one (`X-n*`)."""
    return any(value == pattern or fnmatchcase(value, pattern) for pattern in patterns)
