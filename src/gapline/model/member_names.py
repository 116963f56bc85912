"""Names of members in archives of others: which lead out of a folder, and which are one name to some file system."""

import unicodedata
from collections.abc import Iterable

# Of one part of a name and of the whole, in bytes: what file systems take.
_LONGEST_PART, _LONGEST = 255, 1024


def wrong_name(name: str) -> str | None:
    """Say why no file of a folder of ours may have a name; None where it may. A folder's name ends in a slash.

    >>> wrong_name("in/a.txt"), wrong_name("../a.txt"), wrong_name("a\\x1b[2J")
    (None, 'outside of the archive', 'no name of a file')
    """
    place = name.removesuffix("/")
    # Control characters and those that turn the direction of a text are not printable either.
    if not place or not name.isprintable() or "\\" in name:
        return "no name of a file"
    parts = place.split("/")
    if any(part in ("", ".", "..") for part in parts) or place[1:2] == ":":
        return "outside of the archive"
    if len(place.encode()) > _LONGEST or any(len(part.encode()) > _LONGEST_PART for part in parts):
        return "a name that is too long"
    return None


def clashing_names(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return names that cannot stand beside the others, each with the reason; a folder's name ends in a slash.

    >>> clashing_names(["a", "A", "b", "b/c", "d/"])
    [('A', 'there twice'), ('b', 'a file and a folder')]
    """
    wrong: list[tuple[str, str]] = []
    files: dict[str, str] = {}
    folders: set[str] = set()
    seen: set[str] = set()
    for name in names:
        place = _folded(name.removesuffix("/"))
        if place in seen:
            wrong.append((name, "there twice"))
        seen.add(place)
        if not name.endswith("/"):
            files.setdefault(place, name)
        end = place.rfind("/")
        # What is known has its parents known too.
        while end > 0 and (parent := place[:end]) not in folders:
            folders.add(parent)
            end = parent.rfind("/")
    return wrong + sorted((files[place], "a file and a folder") for place in folders & files.keys())


def _folded(name: str) -> str:
    # On some file systems names that differ in their case, or in how a letter is composed, are one name too.
    return (
        name.casefold()
        if name.isascii()
        else unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
    )
