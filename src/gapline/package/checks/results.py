"""Scores, intervals, tables, figures, macros, sentences and page: recomputed and compared with `results/`."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gapline.campaign.store import file_digest
from gapline.contract.layout import RESULTS, RESULTS_FILE
from gapline.contract.names import split_python_name
from gapline.errors import EnvironmentLacksError, GaplineError, listing
from gapline.files.open_file import read_regular
from gapline.package.checks.rows import CheckRow, Mismatch, compared, not_compared
from gapline.package.checks.subject import Subject
from gapline.package.checks.values import (
    WITHIN,
    byte_difference,
    count_numbers,
    text_difference,
    value_differences,
    version_mistakes,
    well_formed,
)
from gapline.package.container import list_members
from gapline.report.canvas import Canvas
from gapline.report.drawing import FILE_FORMATS
from gapline.report.write import library_versions, write_report
from gapline.study import Study, open_study
from gapline.text import printable

_NUMBERS = "scores and intervals"
_LIST = f"{RESULTS}/{RESULTS_FILE}"
# The kinds of files that a report writes, in the order of the rows; the first match decides.
_KINDS: dict[str, Callable[[str], bool]] = {
    _NUMBERS: lambda name: name == RESULTS_FILE,
    "tables": lambda name: name.startswith("tables/"),
    "figures": lambda name: name.startswith("figures/"),
    "macros": lambda name: name.startswith("macros"),
    "sentences": lambda name: name.startswith("methods"),
    "page": lambda name: name.endswith(".html"),
    "other results": lambda _: True,
}
# Drawings contain no numbers that could be compared one by one.
_DRAWN = (".svg", ".png", ".html")
# Entries of the list of results that name libraries, or follow from the bytes of the other files.
_OF_BYTES = ("versions", "files", "derived")


@dataclass(slots=True)
class _Kind:
    """The comparison of one kind of file: how many agree by bytes and by value, and which were not compared.

    For the list of results, also how many of its numbers were compared, and which keys with how many numbers were not.
    """

    by_bytes: int = 0
    by_value: int = 0
    differing: list[Mismatch] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    numbers: int = 0
    keys_left: dict[str, int] = field(default_factory=dict)


def check_results(subject: Subject) -> Iterator[CheckRow]:
    """Write the report again from the campaign built from the journals, and compare every file of it."""
    document = subject.results
    if document is None:
        yield not_compared("results", 0, "files", f"there is no {RESULTS}/; gapline report writes it")
        return
    if isinstance(document, Mismatch):
        yield compared("results", 1, "files", [document])
        return
    there = list_members(subject.folder / RESULTS)
    yield from _check_digests(subject, document, there)
    score = subject.contract.score
    code = [name for name in (*score.kernels, *score.statistics, score.weight) if split_python_name(name)]
    if code and not subject.allow_code:
        why = f"made by code of the study, which may not run ({listing(code, most=3)}); --allow-code lets it"
        yield not_compared("results", len(there), "files", why)
        return
    try:
        study = open_study(
            str(subject.folder), campaign=subject.rebuilt, allow_code=subject.allow_code, allow_empty=True
        )
        made = _write_again(study, document, subject.scratch / RESULTS)
    except EnvironmentLacksError as error:
        yield not_compared("results", len(there), "files", subject.words(error))
    except GaplineError as error:
        said = f"expected the report of this study under the choices of its contract, got: {subject.words(error)}"
        yield compared("results", len(there), "files", [Mismatch(RESULTS, said)], how="made again")
    else:
        yield from _compare(document, made, subject.folder / RESULTS)


def _check_digests(subject: Subject, document: dict[str, Any], there: list[str]) -> Iterator[CheckRow]:
    """Compare the files with the digests in the list of results."""
    stated = document["files"]
    differing = [Mismatch(f"{RESULTS}/{name}", "expected a file, got none") for name in stated if name not in there]
    for name in sorted(stated.keys() & set(there)):
        if (found := file_digest(subject.folder / RESULTS / name)) != stated[name]:
            differing.append(Mismatch(f"{RESULTS}/{name}", f"expected {stated[name]}, got {found}"))
    derived = document.get("derived", [])
    extra = [name for name in there if name not in (*stated, RESULTS_FILE, *derived)]
    if subject.is_package:
        differing += [Mismatch(f"{RESULTS}/{name}", f"expected no file that {_LIST} does not list") for name in extra]
    yield compared("results", len(stated), "files", differing, how=f"digests of {_LIST}")
    if derived:
        yield not_compared("results", len(derived), "files", "PDF, whose bytes differ each time they are written")
    if extra and not subject.is_package:
        yield not_compared("results", len(extra), "files", f"no report lists them: {listing(extra, most=3)}")


def _write_again(study: Study, document: dict[str, Any], target: Path) -> Path:
    """Write the report with the drawing options that the list of results states."""
    names = [*document["files"], *document.get("derived", ())]
    formats = tuple(form for form in FILE_FORMATS if any(name.endswith(f".{form}") for name in names))
    drawing = dict(document.get("drawing", {}))
    log_time = drawing.pop("log_time", None) is True
    return write_report(study, target, formats=formats, log_time=log_time, canvas=Canvas.of(drawing))


def _compare(document: dict[str, Any], made: Path, folder: Path) -> Iterator[CheckRow]:
    here, stated = library_versions(), well_formed(document["versions"])
    wrong = version_mistakes(document["versions"], _LIST)
    if wrong:
        yield compared("versions", len(document["versions"]), "facts", wrong)
    # If it is unknown which versions wrote the files, their bytes must be the same.
    others = {
        name: (stated.get(name, "not stated"), version)
        for name, version in here.items()
        if stated.get(name) != version and not wrong
    }
    another_gapline = "gapline" in others
    words = {others["gapline"][0]: here["gapline"]} if another_gapline else {}
    kinds = {kind: _Kind() for kind in _KINDS}
    kinds[_NUMBERS].numbers = count_numbers(document)
    listed = set(document["files"]) | {RESULTS_FILE}
    for name in sorted({*list_members(made), *list_members(folder)}):
        there = ["a file" if (place / name).is_file() else "none" for place in (made, folder)]
        # Files that neither this report writes nor the list names are reported elsewhere.
        if name.endswith(".pdf") or (there[0] == "none" and name not in listed):
            continue
        kind = kinds[next(kind for kind, fits in _KINDS.items() if fits(name))]
        member = f"{RESULTS}/{name}"
        if "none" in there:
            found: Mismatch | None = Mismatch(member, f"expected {there[0]}, got {there[1]}")
            by_value, left = False, another_gapline
        else:
            found = byte_difference(made / name, folder / name, member)
            by_value = found is not None and bool(others)
            left = by_value and name.endswith(_DRAWN)
        if left:
            kind.left.append(name)
            continue
        if by_value and name == RESULTS_FILE:
            found = _number_difference(made / name, document, words, kind, common=another_gapline)
        elif by_value:
            found = text_difference(made / name, folder / name, member, words)
        if found is not None:
            kind.differing.append(found)
        elif by_value:
            kind.by_value += 1
        else:
            kind.by_bytes += 1
    why = "; ".join(f"{name} {was} there, {now} here" for name, (was, now) in others.items())
    for name, kind in kinds.items():
        yield from _rows(name, kind, why)


def _number_difference(
    made: Path, document: dict[str, Any], words: Mapping[str, str], kind: _Kind, *, common: bool
) -> Mismatch | None:
    """Compare the list of results by value; for another version of gapline, compare the common keys, count the rest."""
    expected, got = (
        {name: value for name, value in whole.items() if name not in _OF_BYTES}
        for whole in (json.loads(read_regular(made)), document)
    )
    differing = list(value_differences(expected, got, words, alone=kind.keys_left if common else None))
    kind.numbers = count_numbers(got) - sum(kind.keys_left.values())
    for place, one, another in differing[:1]:
        return Mismatch(_LIST, f"{place}: expected {printable(one):.120}, got {printable(another):.120}")
    return None


def _rows(name: str, kind: _Kind, why: str) -> Iterator[CheckRow]:
    files = kind.by_bytes + kind.by_value + len(kind.differing)
    # The list of results is one file: count its numbers instead.
    number, unit = (kind.numbers, "numbers") if name == _NUMBERS else (files, "files")
    ways = ["bytes"] if kind.by_bytes else []
    ways += [f"value within {WITHIN:g} ({why})"] if kind.by_value else []
    if files:
        how = f"made again, {' and '.join(ways)}" if ways else "made again"
        yield compared(name, number, unit, kind.differing, how=how)
    if kind.left:
        yield not_compared(name, len(kind.left), "files", f"made by other versions ({why})")
    if kind.keys_left:
        keys, lost = listing(kind.keys_left, most=5), sum(kind.keys_left.values())
        yield not_compared(name, lost, "numbers", f"only one of the two versions has these keys: {keys}")
