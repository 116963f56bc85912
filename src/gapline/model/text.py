"""Text that is safe to print, whoever wrote it: names come from files of others."""

from collections.abc import Collection

from gapline.errors import closest, listing


def printable(text: object) -> str:
    """Replace what a terminal would obey instead of showing: control, bidi and other unprintable characters.

    >>> printable("a" + chr(27) + "[31mb")
    'a\\\\u001b[31mb'
    """
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in str(text))


def counted(number: int, noun: str) -> str:
    """Count in words.

    >>> counted(1, "run"), counted(1200, "run")
    ('1 run', '1,200 runs')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def meant(name: str, valid: Collection[str], *, show: bool = False, most: int = 10) -> str | None:
    """Return a hint for a name that is not there: the nearest one, or what there is where that is to be shown.

    >>> meant("squezed", ["squeezed", "raw"]), meant("x", ["a", "b"], show=True)
    ("did you mean 'squeezed'?", 'there are: a, b')
    """
    near = closest(name, valid)
    return f"did you mean {near!r}?" if near else f"there are: {listing(valid, most=most)}" if show else None
