"""Expansion of a contract: patterns and lists become instances, ladders become arms."""

import csv
import io
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from glob import has_magic
from itertools import product
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gapline.contract.contract import (
    Arm,
    ArmEntry,
    Contract,
    ContractFile,
    Instance,
    InstanceEntry,
    Option,
    Seeds,
    default_name,
)
from gapline.contract.layout import absent_instances
from gapline.contract.mistakes import field_mistakes, suggestion, value_mistakes
from gapline.contract.tables import EXACT_MODEL
from gapline.errors import listing
from gapline.files.open_file import read_regular
from gapline.text import as_patterns, matches, natural_order

# Ladder steps with these names are settings of the run; all others are options of the solver.
ALLOTTED = ("threads", "memory", "horizon")
_SIZE = re.compile(r"(<=|>=|<|>|=|==)?\s*(\d+)|(\d+)\s*\.\.\s*(\d+)")
_FIELD = re.compile(r"\{(\w+)\}")
# Columns of a list of instances that hold numbers.
_NUMBERS = {"size": int, "horizon": float, "threads": int, "memory": int, "seeds": int}


def expand_contract(file: ContractFile, folder: Path) -> tuple[Contract | None, list[str]]:
    """Expand patterns, lists and ladders; `folder` is the study directory, in which patterns are searched.

    Returns the expanded contract, None if there are mistakes, and the mistakes that only the expansion finds.
    """
    mistakes: list[str] = []
    instances: list[tuple[str, Instance]] = []
    arms: list[tuple[str, Arm]] = []
    for number, entry in enumerate(file.instances):
        with _noting(f"instances[{number}]", mistakes) as place:
            instances += [(place, one) for one in _instances(entry, folder)]
    for number, arm in enumerate(file.arms):
        with _noting(f"arms[{number}]", mistakes) as place:
            arms += [(place, one) for one in _ladder(arm)]
    several = {f"instances[{n}]" for n, entry in enumerate(file.instances) if not _plain(entry, folder)}
    several |= {f"arms[{n}]" for n, arm in enumerate(file.arms) if arm.ladder}
    mistakes += _repeated(instances, several, hint='name = "{parent}/{stem}" tells them apart')
    mistakes += _repeated(arms, several, hint='name = "mine-{threads}" tells steps apart')
    if mistakes:
        return None, mistakes
    contract = Contract.model_construct(
        **{name: getattr(file, name) for name in Contract.model_fields if name not in ("seeds", "instances", "arms")},
        seeds=seed_list(file.seeds),
        instances=[one for _, one in instances],
        arms=[one for _, one in arms],
    )
    mistakes += _selector_mistakes(contract, arms)
    return None if mistakes else contract, mistakes


@contextmanager
def _noting(place: str, mistakes: list[str]) -> Iterator[str]:
    """Record the mistakes of an entry under its place in the file."""
    try:
        yield place
    except _Mistakes as found:
        mistakes += [f"{place}.{mistake}" for mistake in found.mistakes]


def seed_list(seeds: Seeds) -> list[int]:
    """Return the seeds that a number or a list stands for.

    >>> seed_list(3), seed_list([7, 9])
    ([1, 2, 3], [7, 9])
    """
    return list(range(1, seeds + 1)) if isinstance(seeds, int) else list(seeds)


def fits(value: str, patterns: str | Sequence[str]) -> bool:
    """Return whether a name equals or matches one of the patterns; without patterns, every name matches."""
    wanted = as_patterns(patterns)
    return not wanted or matches(value, wanted)


def idle_patterns(where: str, patterns: str | Sequence[str], known: Sequence[str], what: str) -> Iterator[str]:
    """Report each pattern that no known name matches: it is a slip, and would silently leave out runs."""
    for pattern in as_patterns(patterns):
        if not any(fits(name, pattern) for name in known):
            yield f"{where}: expected {what}, got {pattern!r}, which none fits{suggestion(pattern, known)}"


def fits_size(size: int | None, rule: str) -> bool:
    """Return whether a size is in a range such as <=50, >50, 100 or 20..50; an instance without a size is in none.

    >>> [fits_size(50, rule) for rule in ("<=50", ">50", "50", "20..50")]
    [True, False, True, True]
    """
    if not rule:
        return True
    found = _SIZE.fullmatch(rule.strip())
    if found is None or size is None:
        return False
    sign, limit, low, high = found.groups()
    if low is not None:
        return int(low) <= size <= int(high)
    bound = int(limit)
    return {"<=": size <= bound, ">=": size >= bound, "<": size < bound, ">": size > bound}.get(sign, size == bound)


def chosen(arm: Arm, instance: Instance) -> bool:
    """Return whether an arm runs on an instance."""
    return not arm.instances or any(_selects(selector, instance) for selector in arm.instances)


def _selects(selector: str, instance: Instance) -> bool:
    if selector.startswith("panel:"):
        return fits(instance.panel, selector.removeprefix("panel:"))
    if (rule := _size_rule(selector)) is not None:
        return fits_size(instance.size, rule)
    return fits(instance.name, selector)


def _size_rule(selector: str) -> str | None:
    """Return the range of a selector such as size<=50 or size:20..50, None if it is a name."""
    found = re.match(r"size\s*(?=[<>=])|size:", selector)
    return None if found is None else selector[found.end() :]


class _Mistakes(Exception):
    def __init__(self, *mistakes: str) -> None:
        self.mistakes = mistakes


def _plain(entry: InstanceEntry, folder: Path) -> bool:
    return not entry.csv and not (has_magic(entry.path) and not (folder / entry.path).is_file())


def _instances(entry: InstanceEntry, folder: Path) -> Iterator[Instance]:
    if bool(entry.path) == bool(entry.csv):
        raise _Mistakes("path: expected a path or a csv, got " + ("both" if entry.path else "neither"))
    facts = {name: getattr(entry, name) for name in entry.model_fields_set if name in Instance.model_fields}
    if entry.csv:
        yield from _listed(entry, facts, folder)
    elif _plain(entry, folder):
        if isinstance(entry.size, str):
            raise _Mistakes(f"size: expected a number beside a single path, got {entry.size!r}")
        # A single path has no parts to fill in: braces in its name are kept.
        yield _instance(facts, entry.path)
    else:
        found = find_files(folder, entry.path, entry.exclude, absent=absent_instances(folder))
        if not found:
            raise _Mistakes(f"path: expected files that fit {entry.path!r}, got none")
        for path, stars in found:
            yield _instance(facts, path, _parts(path) | {str(k): star for k, star in enumerate(stars, start=1)})


def _parts(path: str) -> dict[str, str]:
    """Return the parts of a path that the fields of an entry may refer to."""
    parent = path.rpartition("/")[0]
    return {"stem": default_name(path), "parent": parent.rpartition("/")[2], "folder": parent}


def _instance(facts: Mapping[str, Any], path: str, parts: Mapping[str, str] | None = None) -> Instance:
    """Build one instance of an entry, with the placeholders for the parts of its path filled in."""
    filled = dict(facts) | {"path": path}
    for name in ("name", "panel", "size"):
        if parts is not None and isinstance(filled.get(name), str):
            filled[name] = _fill(filled[name], parts, name)
    if isinstance(size := filled.get("size"), str):
        if not size.isdecimal() or int(size) < 1:
            raise _Mistakes(f"size: expected a number of {path!r}, got {size!r}")
        filled["size"] = int(size)
    filled["name"] = filled.get("name") or default_name(path)
    filled["panel"] = filled.get("panel") or "all"
    return Instance.model_construct(**filled)


def _fill(text: str, parts: Mapping[str, str], name: str) -> str:
    for part in _FIELD.findall(text):
        if part not in parts:
            known = ", ".join(f"{{{known}}}" for known in parts)
            raise _Mistakes(f"{name}: expected the parts {known}, got {{{part}}}{suggestion(part, list(parts))}")
    return _FIELD.sub(lambda found: parts[found[1]], text)


def _listed(entry: InstanceEntry, facts: Mapping[str, Any], folder: Path) -> Iterator[Instance]:
    """Read the list of an entry: a row states what differs from the entry."""
    file = folder / entry.csv
    if not file.is_file():
        raise _Mistakes(f"csv: expected a file, got {entry.csv!r}")
    known = list(Instance.model_fields)
    try:
        rows = list(csv.DictReader(io.StringIO(read_regular(file).decode("utf-8-sig"), newline="")))
    except (csv.Error, UnicodeDecodeError) as error:
        raise _Mistakes(f"csv: expected a table in {entry.csv!r}, got {error}") from None
    columns = [name for name in (rows[0] if rows else {}) if name is not None]
    if "path" not in columns:
        raise _Mistakes(f"csv: expected the column path in {entry.csv!r}, got {', '.join(columns) or 'no rows'}")
    if unknown := [name for name in columns if name not in known]:
        near = suggestion(unknown[0], known)
        raise _Mistakes(f"csv: expected the columns {', '.join(known)} in {entry.csv!r}, got {unknown[0]!r}{near}")
    mistakes = []
    for number, row in enumerate(rows, start=2):
        if None in row or None in row.values():
            mistakes.append(f"csv: expected {len(columns)} fields in line {number} of {entry.csv!r}")
            continue
        stated = {name: text.strip() for name, text in row.items() if text.strip()}
        if "path" not in stated:
            mistakes.append(f"csv: expected a path in line {number} of {entry.csv!r}")
            continue
        if any(fnmatchcase(stated["path"], pattern) for pattern in entry.exclude):
            continue
        try:
            values = {name: _NUMBERS.get(name, str)(text) for name, text in stated.items()}
            if wrong := value_mistakes(values):
                mistakes += [f"csv: line {number} of {entry.csv!r}: {word}" for word in wrong]
                continue
            # Placeholders of the entry are filled in first; then the row's own values override them.
            found = _instance(facts, stated["path"], _parts(stated["path"])).model_dump(exclude_unset=True)
            yield Instance.model_validate(found | values)
        except ValueError as error:
            words = field_mistakes(error, Instance) if isinstance(error, ValidationError) else [str(error)]
            mistakes += [f"csv: line {number} of {entry.csv!r}: {word}" for word in words]
    if mistakes:
        raise _Mistakes(*mistakes)


def find_files(
    folder: Path, pattern: str, exclude: Iterable[str] = (), *, absent: Iterable[str] = ()
) -> list[tuple[str, tuple[str, ...]]]:
    """Return the files under a folder that match a pattern, n=10 before n=100, and what its wildcards match.

    `absent` are paths that are treated as if they existed.
    """
    wanted, unwanted = _as_regex(pattern), [_as_regex(other) for other in exclude]
    # The search starts in the folder above the first wildcard.
    fixed = re.split(r"[*?\[]", pattern, maxsplit=1)[0].rpartition("/")[0]
    hidden = any(part.startswith(".") for part in pattern.split("/"))
    found = {}

    def take(path: str) -> None:
        fit = wanted.fullmatch(path)
        shown = hidden or not path.rpartition("/")[2].startswith(".")
        if fit and shown and not any(other.fullmatch(path) for other in unwanted):
            found[path] = fit.groups()

    for place, folders, files in os.walk(folder / fixed):
        if not hidden:
            folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            take((Path(place) / name).relative_to(folder).as_posix())
    for path in absent:
        take(path)
    return sorted(found.items(), key=lambda entry: natural_order(entry[0]))


def _as_regex(pattern: str) -> re.Pattern[str]:
    """Return a pattern of paths as a regular expression with a group for each wildcard.

    >>> _as_regex("a/n=*/**/x.*").fullmatch("a/n=10/b/c/x.vrp").groups()
    ('10', 'b/c/', 'vrp')
    """
    text, rest = "", pattern
    while rest:
        if rest.startswith("**/"):
            text, rest = text + "((?:.*/)?)", rest[3:]
        elif rest.startswith("**"):
            text, rest = text + "(.*)", rest[2:]
        elif rest[0] == "*":
            text, rest = text + "([^/]*)", rest[1:]
        elif rest[0] == "?":
            text, rest = text + "([^/])", rest[1:]
        elif rest[0] == "[" and (end := rest.find("]", 2)) > 0:
            inside = rest[1:end].replace("\\", r"\\")
            inside = "^" + inside[1:] if inside[0] == "!" else inside
            text, rest = f"{text}([{inside}])", rest[end + 1 :]
        else:
            text, rest = text + re.escape(rest[0]), rest[1:]
    return re.compile(text, re.DOTALL)


def _ladder(entry: ArmEntry) -> Iterator[Arm]:
    facts = {name: getattr(entry, name) for name in entry.model_fields_set if name in Arm.model_fields}
    for name in ("steps", "step_of"):
        if name in entry.model_fields_set:
            raise _Mistakes(f"{name}: unknown field; did you mean 'ladder'?")
    if entry.model not in ("", EXACT_MODEL):
        # An arm that solves another problem is described, not compared.
        facts["tier"] = 2
    if not entry.ladder:
        yield Arm.model_construct(**facts)
        return
    for values in product(*entry.ladder.values()):
        steps: dict[str, Option] = dict(zip(entry.ladder, values, strict=True))
        words = {name: f"{value:g}" if isinstance(value, float) else str(value) for name, value in steps.items()}
        name = _put(entry.name, words)
        if name == entry.name:
            name = " ".join([entry.name, *(f"{step}={word}" for step, word in words.items())])
        named = {"name": name, "command": [_put(part, words) for part in entry.command], "step_of": entry.name}
        given = {step: value for step, value in steps.items() if step in ALLOTTED}
        options = entry.options | {step: value for step, value in steps.items() if step not in ALLOTTED}
        try:
            yield Arm.model_validate(facts | given | named | {"options": options, "steps": steps})
        except ValidationError as error:
            raise _Mistakes(*(f"ladder.{word}" for word in field_mistakes(error, Arm))) from None


def _put(text: str, words: Mapping[str, str]) -> str:
    """Fill in the placeholders that `words` defines; keep the others."""
    return _FIELD.sub(lambda found: words.get(found[1], found[0]), text)


def _repeated(
    named: list[tuple[str, Instance]] | list[tuple[str, Arm]], several: set[str], *, hint: str
) -> Iterator[str]:
    """Report repeated names of entries that expand into several; `mistakes.py` reports those of plain entries."""
    counts = Counter(one.name for _, one in named)
    twice: dict[str, dict[str, None]] = {}
    for place, one in named:
        if counts[one.name] > 1 and place in several:
            twice.setdefault(place, {})[one.name] = None
    for place, names in twice.items():
        shown = listing(list(names), most=3)
        yield f"{place}.name: expected unique names, got {shown} again; {hint}"


def _selector_mistakes(contract: Contract, arms: list[tuple[str, Arm]]) -> Iterator[str]:
    """Report each pattern that matches nothing: it is a slip, and would silently leave out runs."""
    names = [one.name for one in contract.instances]
    panels = list(dict.fromkeys(one.panel for one in contract.instances))
    seen = set()
    for place, arm in arms:
        for selector in arm.instances:
            if (place, selector) in seen:
                continue
            seen.add((place, selector))
            rule = _size_rule(selector)
            if rule is not None and not _SIZE.fullmatch(rule.strip()):
                yield f"{place}.instances: expected a range such as size<=50 or size:20..50, got {selector!r}"
            elif not any(_selects(selector, one) for one in contract.instances):
                kind, known = ("a panel", panels) if selector.startswith("panel:") else ("an instance", names)
                near = suggestion(selector.removeprefix("panel:"), known)
                yield f"{place}.instances: expected {kind}, got {selector!r}, which none fits{near}"
    known_names = {"arm": [arm.name for arm in contract.arms], "panel": panels, "instance": names}
    for number, rule_table in enumerate(contract.where):
        place = f"where[{number}]"
        for kind, known in known_names.items():
            yield from idle_patterns(f"{place}.{kind}", getattr(rule_table, kind), known, "the name of one")
        if rule_table.size and not _SIZE.fullmatch(rule_table.size.strip()):
            yield f"{place}.size: expected <=50, >50, =100 or 20..50, got {rule_table.size!r}"
        elif rule_table.size and not any(fits_size(one.size, rule_table.size) for one in contract.instances):
            yield f"{place}.size: expected sizes of instances, got {rule_table.size!r}, which none fits"
        if not {"seeds", "horizon", "threads", "memory"} & rule_table.model_fields_set:
            yield f"{place}: expected seeds, horizon, threads or memory, got none of them"
