"""The instances of a contract in as few lines as they need: patterns where folders tell panel and size, else a list."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from gapline.generate.contract_text import quoted
from gapline.generate.found import FoundInstance
from gapline.generate.panels import place_of
from gapline.model.contract import default_name

LIST_FILE = "instances.csv"
# Marks of patterns, of parts in braces and of TOML would have to be escaped: such names are listed.
_PLAIN = re.compile(r"[^*?\[\]{}\"\\\x00-\x1f\x7f]*")


def instance_blocks(
    instances: Sequence[FoundInstance], panels: Mapping[str, str], *, base: str, listed: bool = False
) -> tuple[str, str | None]:
    """Return the `[[instances]]` of a contract and, where no pattern says it all, the list that they name.

    `base` is the folder of the study in which they lie, each under its name; `listed` asks for a list.
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
            # Folders below that of the size are part of the name and not of the panel.
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
