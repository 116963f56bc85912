"""`solu:FILE`: the `.solu` files of mixed-integer libraries: `=opt= NAME VALUE`, `=best= NAME VALUE`, …"""

import re
from pathlib import Path
from typing import Any

from gapline.capture.candidates import NUMBER
from gapline.errors import SnapshotError, listing
from gapline.model.exact import is_rounded
from gapline.model.text import model_name
from gapline.reference.freeze import FreezeRequest, Frozen, read_text, unended
from gapline.reference.snapshot import lines

_NUMBER = re.compile(NUMBER)
_LINE = re.compile(r"^=\s*(\w+)\s*=\s+(\S+)(?:\s+(\S+))?")
# What a tag says of the primal side; the other tags name an instance without giving it a primal value.
_VALUED = {"opt": True, "best": False}
_VALUELESS = ("inf", "unkn", "unbd", "bestdual", "cutoff", "feas")


def freeze_solu(request: FreezeRequest) -> Frozen:
    """Freeze a `.solu` file; `=opt=` is a certificate, `=best=` is not."""
    file = Path(request.location)
    text = read_text(file, ".solu file")
    entries: dict[str, dict[str, Any]] = {}
    problems: list[str] = []
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.split("#", 1)[0].strip()
        if line:
            _read_line(line, f"{file}:{number}", entries, problems)
    if problems:
        raise SnapshotError(lines(problems))
    if not entries:
        raise SnapshotError(f"{file}: expected lines such as `=opt= NAME VALUE`, got none")
    unusable = [instance for instance, entry in entries.items() if entry["value"] is None]
    notes = [f"instances without a primal value: {len(unusable)} ({listing(unusable)})"] if unusable else []
    return request.frozen(entries, f"solu:{file.name}", (*notes, *unended(text, file)))


def _read_line(line: str, where: str, entries: dict[str, dict[str, Any]], problems: list[str]) -> None:
    match = _LINE.match(line)
    if match is None or match[1] not in (*_VALUED, *_VALUELESS):
        problems.append(f"{where}: expected `=opt= NAME VALUE` or another tag, got {line[:60]!r}")
        return
    tag, instance, cell = match[1], model_name(match[2]), match[3]
    if tag == "bestdual":
        # A bound on the other side says nothing of the best solution known; the instance has a line of its own.
        return
    entry: dict[str, Any] = {"value": None, "certified": False, "source": f"={tag}="}
    if tag in _VALUED:
        if cell is None or not _NUMBER.match(cell):
            problems.append(f"{where}: expected a number after {instance}, got {cell!r}")
            return
        if is_rounded(cell):
            problems.append(f"{where}: expected a number that a double holds after {instance}, got {cell}")
            return
        entry |= {"value": float(cell), "certified": _VALUED[tag]}
    else:
        entry["stated"] = f"={tag}="
    if instance in entries:
        problems.append(f"{where}: expected each instance once, got {instance!r} again")
        return
    entries[instance] = entry
