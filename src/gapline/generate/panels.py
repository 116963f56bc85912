"""Panels of instances that were found: by size, and by family where the folders show several."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from gapline.generate.found import FoundInstance
from gapline.model.text import natural_order

# More sizes than this in one folder are joined into ranges, each with about as many instances.
MOST_SIZES = 4
RANGES = 3
_SIZED = re.compile(r"n=\d+")
T = TypeVar("T")


class Place(NamedTuple):
    """Where an instance lies: the folders above that of its size, this one where there is one, and those below it."""

    family: str
    sized: str = ""
    below: tuple[str, ...] = ()


def place_of(name: str) -> Place:
    """Return the place of an instance by its name.

    >>> place_of("Fam/n=20/A-1"), place_of("X/X-n101-k25")
    (Place(family='Fam', sized='n=20', below=()), Place(family='X', sized='', below=()))
    """
    folders = name.split("/")[:-1]
    at = next((at for at, folder in enumerate(folders) if _SIZED.fullmatch(folder)), None)
    if at is None:
        return Place("/".join(folders))
    return Place("/".join(folders[:at]), folders[at], tuple(folders[at + 1 :]))


def panels_of(instances: Iterable[FoundInstance]) -> dict[str, str]:
    """Return the panel of each instance by its name, in the order of the panels.

    A folder n=SIZE is a panel. Where there is none, instances of one folder form a panel of each size, or of three
    ranges of sizes where these are many.
    """

    def order(one: FoundInstance) -> tuple[object, ...]:
        return natural_order(place_of(one.name).family), one.size, natural_order(one.name)

    found = sorted(instances, key=order)
    loose: dict[str, list[int]] = {}
    for one in found:
        family, sized, _ = place_of(one.name)
        if not sized:
            loose.setdefault(family, []).append(one.size)
    ranges = {family: _ranges(sizes) for family, sizes in loose.items()}
    panels = {}
    for one in found:
        family, sized, _ = place_of(one.name)
        panels[one.name] = "/".join(filter(None, (family, sized or ranges[family][one.size])))
    return panels


def _ranges(sizes: Sequence[int]) -> dict[int, str]:
    """Return the name of the range of each size.

    >>> _ranges([20, 20, 50]), sorted(set(_ranges(range(100, 220, 10)).values()))
    ({20: 'n=20', 50: 'n=50'}, ['n=100-130', 'n=140-170', 'n=180-210'])
    """
    distinct = sorted(set(sizes))
    if len(distinct) <= MOST_SIZES:
        return {size: f"n={size}" for size in distinct}
    ordered = sorted(sizes)
    groups: dict[int, list[int]] = {}
    for size in distinct:
        # By the place of the first of its size, so that instances of one size stay together.
        groups.setdefault(ordered.index(size) * RANGES // len(ordered), []).append(size)
    return {
        size: f"n={same[0]}-{same[-1]}" if len(same) > 1 else f"n={size}" for same in groups.values() for size in same
    }


def spread(panels: Mapping[str, str], most: int) -> set[str]:
    """Choose at most so many names of each panel, spread evenly over those that it has.

    >>> sorted(spread({"a": "p", "b": "p", "c": "p", "d": "p", "e": "q"}, 2))
    ['a', 'c', 'e']
    """
    members: dict[str, list[str]] = {}
    for name, panel in panels.items():
        members.setdefault(panel, []).append(name)
    return {name for names in members.values() for name in _evenly(names, most)}


def _evenly(items: Sequence[T], most: int) -> list[T]:
    count = min(most, len(items))
    return [items[place * len(items) // count] for place in range(count)]
