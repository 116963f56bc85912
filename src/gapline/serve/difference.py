"""What changed between two documents, as a small one that turns the first into the second.

`gone` are paths to be removed, `set` pairs of path and value, `cut` pairs of path and length to which a list is cut,
`append` pairs of path and values that are added to the end of a list; they are applied in this order. Objects that are
the same one in both are not looked into, so that the cost follows what was made anew.
"""

from dataclasses import dataclass, field
from typing import Any

Path = list[str]
_ABSENT = object()


@dataclass(slots=True)
class Difference:
    """The changes from one document to the next."""

    gone: list[Path] = field(default_factory=list)
    set: list[tuple[Path, Any]] = field(default_factory=list)
    cut: list[tuple[Path, int]] = field(default_factory=list)
    append: list[tuple[Path, list[Any]]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.gone or self.set or self.cut or self.append)

    def document(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {"gone": self.gone, "set": self.set, "cut": self.cut, "append": self.append}


def difference(before: dict[str, Any], after: dict[str, Any]) -> Difference:
    """Return what changed.

    >>> difference({"a": 1, "b": {"c": [1]}}, {"b": {"c": [1, 2]}}).document()
    {'gone': [['a']], 'set': [], 'cut': [], 'append': [(['b', 'c'], [2])]}
    """
    found = Difference()
    _compare(before, after, [], found)
    return found


def _compare(before: dict[str, Any], after: dict[str, Any], path: Path, found: Difference) -> None:
    found.gone += [[*path, name] for name in before if name not in after]
    for name, new in after.items():
        old = before.get(name, _ABSENT)
        if old is new:
            continue
        kind = type(new)
        # 1 and 1.0 and True are equal, and not the same in JSON.
        same = type(old) is kind
        if same and kind is dict:
            _compare(old, new, [*path, name], found)
        elif same and kind is list:
            _compare_lists(old, new, [*path, name], found)
        elif not same or old != new:
            found.set.append(([*path, name], new))


def _compare_lists(old: list[Any], new: list[Any], path: Path, found: Difference) -> None:
    kept = _common(old, new)
    if kept == len(old) == len(new):
        return
    # What has little in common is a list of other things, and shorter said whole.
    if 2 * kept < len(old) or not kept:
        found.set.append((path, new))
        return
    if kept < len(old):
        found.cut.append((path, kept))
    if kept < len(new):
        found.append.append((path, new[kept:]))


def _common(old: list[Any], new: list[Any]) -> int:
    """Return how many values two lists begin with alike."""
    most = min(len(old), len(new))
    # A list that grew, or whose last value is another one, is compared at once.
    for length in (most, most - 1):
        if length > 0 and _is_same(old[:length], new[:length]):
            return length
    for place in range(most):
        if not _is_same(old[place : place + 1], new[place : place + 1]):
            return place
    return most


def _is_same(old: list[Any], new: list[Any]) -> bool:
    return old == new and list(map(type, old)) == list(map(type, new))


def apply(document: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """Turn a document into the next one, in place; what a client does with a `change`."""
    for path in change["gone"]:
        del _parent(document, path)[path[-1]]
    for path, value in change["set"]:
        _parent(document, path)[path[-1]] = value
    for path, length in change["cut"]:
        del _parent(document, path)[path[-1]][length:]
    for path, values in change["append"]:
        _parent(document, path)[path[-1]].extend(values)
    return document


def _parent(document: dict[str, Any], path: Path) -> dict[str, Any]:
    for name in path[:-1]:
        document = document[name]
    return document
