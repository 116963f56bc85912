"""Write a study of existing instances: panels by size and family, sidecar files, and a short contract."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from gapline.contract.contract import Contract, default_name
from gapline.contract.layout import CONTRACT_FILE, INSTANCES
from gapline.contract.study_file import load_contract
from gapline.errors import GaplineError, TraceError, UsageError
from gapline.generate.instance_files import Files, FoundInstance, InstanceSelection, Progress
from gapline.generate.study import (
    NO_REFERENCE,
    PROBLEMS,
    contract_text,
    frozen_reference,
    new_study,
    problem_arms,
    quoted,
)
from gapline.generate.write import write_file
from gapline.text import natural_order

# If a folder has more sizes than this, they are joined into ranges with about equally many instances.
MOST_SIZES = 4
RANGES = 3
_SIZED = re.compile(r"n=\d+")


class InstanceFolder(NamedTuple):
    """The folder of an instance: the part above the folder of its size, that folder if any, and the part below it."""

    family: str
    sized: str = ""
    below: tuple[str, ...] = ()


def place_of(name: str) -> InstanceFolder:
    """Return the place of an instance by its name.

    >>> place_of("Fam/n=20/A-1"), place_of("X/X-n101-k25")
    (InstanceFolder(family='Fam', sized='n=20', below=()), InstanceFolder(family='X', sized='', below=()))
    """
    folders = name.split("/")[:-1]
    at = next((at for at, folder in enumerate(folders) if _SIZED.fullmatch(folder)), None)
    if at is None:
        return InstanceFolder("/".join(folders))
    return InstanceFolder("/".join(folders[:at]), folders[at], tuple(folders[at + 1 :]))


def panels_of(instances: Iterable[FoundInstance]) -> dict[str, str]:
    """Return the panel of each instance by its name, in the order of the panels.

    A folder n=SIZE is a panel. Without such folders, the instances of one folder form one panel per size, or three
    ranges of sizes if there are many sizes.
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
        # Group by the position of the first instance of a size, so that instances of one size stay together.
        groups.setdefault(ordered.index(size) * RANGES // len(ordered), []).append(size)
    return {
        size: f"n={same[0]}-{same[-1]}" if len(same) > 1 else f"n={size}" for same in groups.values() for size in same
    }


def spread(panels: Mapping[str, str], most: int) -> set[str]:
    """Choose at most `most` names of each panel, spread evenly over the panel.

    >>> sorted(spread({"a": "p", "b": "p", "c": "p", "d": "p", "e": "q"}, 2))
    ['a', 'c', 'e']
    """
    members: dict[str, list[str]] = {}
    for name, panel in panels.items():
        members.setdefault(panel, []).append(name)
    return {
        names[place * len(names) // min(most, len(names))]
        for names in members.values()
        for place in range(min(most, len(names)))
    }


LIST_FILE = "instances.csv"
# Names with characters that are special in patterns or TOML would need escapes: they are listed in a file instead.
_PLAIN = re.compile(r"[^*?\[\]{}\"\\\x00-\x1f\x7f]*")


def instance_blocks(
    instances: Sequence[FoundInstance], panels: Mapping[str, str], *, base: str, listed: bool = False
) -> tuple[str, str | None]:
    """Return the `[[instances]]` of a contract, and the list of instances if no pattern describes them all.

    `base` is the folder of the study that contains them under their names; `listed` requests a list.
    """
    blocks = None if listed else _patterns(instances, panels, base)
    if blocks is not None:
        return "\n".join(blocks), None
    return f"# A row for each instance, with its panel and size.\n[[instances]]\ncsv = {quoted(LIST_FILE)}", _list(
        instances, panels, base
    )


def _patterns(instances: Sequence[FoundInstance], panels: Mapping[str, str], base: str) -> list[str] | None:
    groups: dict[tuple[str, int | None, str], list[FoundInstance]] = {}
    for one in instances:
        plain = default_name(one.path) == one.name.rpartition("/")[2] and _PLAIN.fullmatch(one.name + one.suffix)
        family, sized, below = place_of(one.name)
        if one.sense != "min" or not plain or (sized and sized != f"n={one.size}"):
            return None
        groups.setdefault((family, len(below) if sized else None, one.suffix), []).append(one)
    blocks = []
    for (family, depth, suffix), group in groups.items():
        above = f"{family}/" if family else ""
        if depth is not None:
            path, panel, size = f"n=*/{'*/' * depth}*{suffix}", f"{above}n={{1}}", '"{1}"'
            # Folders below that of the size belong to the name and not to the panel.
            name = "/".join([panel, *(f"{{{star}}}" for star in range(2, depth + 2)), "{stem}"])
        elif len({one.size for one in group}) == 1:
            path, panel, size = f"*{suffix}", panels[group[0].name], str(group[0].size)
            name = f"{above}{{stem}}" if family else ""
        else:
            return None
        if depth == 0:
            panel, name = f"{above}{{parent}}", f"{above}{{parent}}/{{stem}}"
        found = str(PurePosixPath(base) / above / path)
        named = f"name = {quoted(name)}\n" if name else ""
        blocks.append(f"[[instances]]\npath = {quoted(found)}\npanel = {quoted(panel)}\n{named}size = {size}\n")
    return blocks


def _list(instances: Sequence[FoundInstance], panels: Mapping[str, str], base: str) -> str:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    maximised = any(one.sense == "max" for one in instances)
    rows.writerow(["path", "panel", "size", "name", *(["sense"] if maximised else [])])
    for one in instances:
        path = str(PurePosixPath(base) / f"{one.name}{one.suffix}")
        rows.writerow([path, panels[one.name], one.size, one.name, *([one.sense] if maximised else [])])
    return text.getvalue()


# Writes the references into a study; returns their path there, and a text on when they became known.
WriteReferences = Callable[[Path], tuple[str, str]]


def write_collected_study(
    folder: str | Path,
    files: Files,
    found: InstanceSelection,
    *,
    origin: str,
    name: str = "",
    horizon: float = 60.0,
    seeds: int | Sequence[int] = 3,
    iterations: int | None = None,
    most: int | None = None,
    references: WriteReferences | None = None,
    in_place: str | None = None,
    progress: Progress = lambda _done, _total: None,
) -> Contract:
    """Write a study of the instances that were found, atomically, and return its contract.

    `most` limits the instances of each panel; `references` writes a frozen snapshot into the study; `in_place` is the
    folder inside the study that already contains the instances, so that nothing is copied.
    """
    directory = Path(folder)
    panels = panels_of(found.instances)
    if most is not None:
        kept = spread(panels, most)
        found.passed_over += len(panels) - len(kept)
        found.instances = [one for one in found.instances if one.name in kept]
    by_name = {one.name: one for one in found.instances}
    instances = [by_name[name] for name in panels if name in by_name]
    with new_study(directory) as study:
        if in_place is None:
            _copy(files, found, study / INSTANCES, progress)
        base = INSTANCES if in_place is None else in_place
        listed = in_place is not None and _has_others(files, found)
        blocks, rows = instance_blocks(instances, panels, base=base, listed=listed)
        if rows is not None:
            write_file(study / LIST_FILE, rows.encode())
        reference = NO_REFERENCE
        if references is not None:
            snapshot, known = references(study)
            reference = frozen_reference(snapshot, known=known)
        text = contract_text(
            PROBLEMS[found.problem],
            name=name or directory.resolve().name or found.problem,
            title=f", {origin}",
            checker=found.problem,
            horizon=horizon,
            seeds=seeds,
            reference=reference,
            instances=blocks,
            arms=problem_arms(found.problem, iterations=iterations),
        )
        write_file(study / CONTRACT_FILE, text.encode())
        contract = load_contract(study) if in_place is None else None
        if contract is not None and sorted(one.name for one in contract.instances) != sorted(by_name):
            raise GaplineError(f"{directory}: expected a contract of {len(by_name)} instances, got other names")
    return contract or load_contract(directory)


def _has_others(files: Files, found: InstanceSelection) -> bool:
    """Return whether a pattern would also match files in place that are not instances of the study."""
    ours = {one.path for one in found.instances}
    suffixes = tuple({one.suffix for one in found.instances})
    return any(path.endswith(suffixes) and path not in ours for path in files.paths)


def _copy(files: Files, found: InstanceSelection, folder: Path, progress: Progress) -> None:
    """Write instances and sidecars into the folder, each under its name."""
    wanted = {f"{one.name}{one.suffix}": one.path for one in found.instances}
    wanted |= {place: path for one in found.instances for place, path in one.sidecars.items()}
    top = folder.resolve()
    for done, (place, data) in enumerate(zip(wanted, files.read(list(wanted.values())), strict=True), start=1):
        if data is None:
            raise TraceError(f"{wanted[place]}: expected the file, got none: it was there a moment ago")
        # A hand-made tree may contain paths that lead out of it.
        if not (top / place).resolve().is_relative_to(top):
            raise UsageError(f"{wanted[place]}: expected a path inside the collection, got one that leads out of it")
        write_file(folder / place, data)
        progress(done, len(wanted))
