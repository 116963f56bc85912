"""Scores, intervals, tables, figures, macros, sentences and page, made again and compared with `results/`."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gapline.campaign.campaign import Campaign
from gapline.campaign.store import file_digest
from gapline.contract.contract import Contract
from gapline.contract.layout import RESULTS, RESULTS_FILE
from gapline.contract.names import split_python_name
from gapline.errors import EnvironmentLacksError, GaplineError, TraceError, listing
from gapline.files.open_file import read_regular, reason_of
from gapline.package.checks.journals import list_members
from gapline.package.checks.rows import Difference, Findings, Source
from gapline.package.checks.values import (
    WITHIN,
    byte_difference,
    common_part,
    count_numbers,
    text_difference,
    value_differences,
)
from gapline.report.canvas import Canvas
from gapline.report.drawing import FILE_FORMATS
from gapline.report.results import read_results as read_report_results
from gapline.report.write import library_versions, write_report
from gapline.study import open_study
from gapline.text import printable

# What a report writes, in the order of the rows; the first that fits names a file.
_KINDS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("scores and intervals", lambda name: name == RESULTS_FILE),
    ("tables", lambda name: name.startswith("tables/")),
    ("figures", lambda name: name.startswith("figures/")),
    ("macros", lambda name: name.startswith("macros")),
    ("sentences", lambda name: name.startswith("methods")),
    ("page", lambda name: name.endswith(".html")),
    ("other results", lambda _: True),
)
# Drawings have no numbers of their own that could be compared one by one.
_DRAWN = (".svg", ".png", ".html")
# What in the list of results names the libraries, and what follows from the bytes of the others.
_OF_BYTES = ("versions", "files", "derived")
# As PEP 440 has them; nothing of this can be a sentence or a number of a table.
_VERSION = re.compile(
    r"[0-9]+(?:\.[0-9]+)+(?:\.?(?:a|b|rc|post|dev)[0-9]*)*(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?", re.IGNORECASE
)
_LONGEST_VERSION = 60


def read_results(source: Source) -> dict[str, Any] | Difference | None:
    """Return what `results/results.json` states, None where there is none, or why it cannot be read."""
    member = f"{RESULTS}/{RESULTS_FILE}"
    path = source.folder / RESULTS / RESULTS_FILE
    try:
        document = json.loads(read_regular(path))
        read_report_results(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        return Difference(member, f"expected a file, got {reason_of(error)}")
    except (ValueError, RecursionError) as error:
        return Difference(member, f"expected JSON, got {printable(error)}")
    except TraceError as error:
        return Difference.of(source.words(error), member=member)
    if not isinstance(document, dict):
        return Difference(member, "expected the list of results, got something else")
    return document


def stated_versions(document: Any) -> dict[str, str]:
    """Return the well-formed versions that a list of results or a `package.json` states, without the others."""
    stated = document.get("versions") if isinstance(document, dict) else None
    if not isinstance(stated, dict):
        return {}
    return {str(name): value for name, value in stated.items() if isinstance(value, str) and is_version(value)}


def version_mistakes(versions: Mapping[str, object], member: str) -> list[Difference]:
    """Name the versions that are not well-formed, and that of gapline if it is missing.

    The version of another gapline is replaced by ours before texts are compared, so it must not be an arbitrary text.
    """
    # A library may be missing where a report was written; gapline was there.
    wrong = [
        name
        for name, value in versions.items()
        if not isinstance(value, str) or not is_version(value) or (name, value) == ("gapline", "missing")
    ]
    said = [
        f"versions.{name}: expected a version such as 1.2.3, got {printable(versions[name])!r:.120}" for name in wrong
    ]
    if "gapline" not in versions:
        said.append("versions: expected the version of gapline, got none")
    return [Difference(member, one) for one in said]


def is_version(text: str) -> bool:
    """Say whether a text is the version of a library, as Python writes one, or says that there is none."""
    return text == "missing" or (len(text) <= _LONGEST_VERSION and _VERSION.fullmatch(text) is not None)


@dataclass(slots=True)
class _Kind:
    """What was found of one kind of file: how many by bytes and by value, and which not at all.

    Of the list of results, also how many of its numbers were compared and how many, under which keys, were not.
    """

    by_bytes: int = 0
    by_value: int = 0
    differing: list[Difference] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    numbers: int = 0
    numbers_left: int = 0
    keys_left: list[str] = field(default_factory=list)


def show_results(
    source: Source,
    contract: Contract,
    campaign: Campaign | None,
    scratch: Path,
    findings: Findings,
    *,
    allow_code: bool = False,
) -> None:
    """Write the report of a study again, of the campaign that its journals make, and compare every file of it."""
    document = read_results(source)
    if document is None:
        why = f"there is no {RESULTS}/; gapline report writes it"
        findings.leave("results", 0, "files", why)
        return
    if isinstance(document, Difference):
        findings.judge("results", 1, "files", [document], how="")
        return
    folder = source.folder / RESULTS
    there = list_members(folder)
    _show_digests(source, document, folder, there, findings)
    score = contract.score
    code = [name for name in (*score.kernels, *score.statistics, score.weight) if split_python_name(name)]
    if code and not allow_code:
        why = f"made by code of the study, which may not run ({listing(code, most=3)}); --allow-code lets it"
        findings.leave("results", len(there), "files", why)
        return
    try:
        study = open_study(str(source.folder), campaign=campaign, allow_code=allow_code, allow_empty=True)
        made = _written(study, document, scratch / RESULTS)
    except EnvironmentLacksError as error:
        findings.leave("results", len(there), "files", source.words(error))
        return
    except GaplineError as error:
        said = f"expected the report of this study under the choices of its contract, got: {source.words(error)}"
        findings.judge("results", len(there), "files", [Difference(RESULTS, said)], how="made again")
        return
    _compare(document, made, folder, findings)


def _show_digests(source: Source, document: dict[str, Any], folder: Path, there: list[str], findings: Findings) -> None:
    """Compare the files with the digests that the list of results states of them."""
    member, stated = f"{RESULTS}/{RESULTS_FILE}", {str(name): value for name, value in document["files"].items()}
    differing = [Difference(f"{RESULTS}/{name}", "expected a file, got none") for name in stated if name not in there]
    for name in sorted(stated.keys() & set(there)):
        if (found := file_digest(folder / name)) != stated[name]:
            differing.append(Difference(f"{RESULTS}/{name}", f"expected {stated[name]!s:.80}, got {found}"))
    derived = document.get("derived") or []
    extra = [name for name in there if name not in (*stated, RESULTS_FILE, *derived)]
    if source.is_package:
        differing += [
            Difference(f"{RESULTS}/{name}", f"expected no file that {member} does not list") for name in extra
        ]
    findings.judge("results", len(stated), "files", differing, how=f"digests of {member}")
    if derived:
        findings.leave("results", len(derived), "files", "PDF, whose bytes differ each time they are written")
    if extra and not source.is_package:
        findings.leave("results", len(extra), "files", f"no report lists them: {listing(extra, most=3)}")


def _written(study: Any, document: dict[str, Any], target: Path) -> Path:
    """Write the report as the list of results says that it was drawn."""
    names = [*document["files"], *(document.get("derived") or [])]
    formats = tuple(form for form in FILE_FORMATS if any(str(name).endswith(f".{form}") for name in names))
    drawing = document.get("drawing") or {}
    chosen = (
        {name: value for name, value in drawing.items() if name != "log_time"} if isinstance(drawing, dict) else drawing
    )
    log_time = isinstance(drawing, dict) and drawing.get("log_time") is True
    return write_report(study, target, formats=formats, log_time=log_time, canvas=Canvas.of(chosen))


def _compare(document: dict[str, Any], made: Path, folder: Path, findings: Findings) -> None:
    here, stated = library_versions(), stated_versions(document)
    wrong = version_mistakes(document["versions"], f"{RESULTS}/{RESULTS_FILE}")
    others = {
        name: (stated.get(name, "not stated"), version) for name, version in here.items() if stated.get(name) != version
    }
    if wrong:
        findings.judge("versions", len(document["versions"]), "facts", wrong, how="")
        # It is unknown which version wrote the files, so they must be the same bytes.
        others = {}
    another_gapline = "gapline" in others
    words = {others["gapline"][0]: here["gapline"]} if another_gapline else {}
    kinds = {kind: _Kind() for kind, _ in _KINDS}
    listed = set(document["files"]) | {RESULTS_FILE}
    names = {name for folder_ in (made, folder) for name in list_members(folder_) if not name.endswith(".pdf")}
    for name in sorted(names):
        # What neither this report writes nor the list has is named elsewhere.
        if not (made / name).is_file() and name not in listed:
            continue
        kind = next(kinds[kind] for kind, fits in _KINDS if fits(name))
        member = f"{RESULTS}/{name}"
        if not (made / name).is_file() or not (folder / name).is_file():
            if another_gapline:
                kind.left.append(name)
            else:
                said = ("a file", "none") if (made / name).is_file() else ("none", "a file")
                kind.differing.append(Difference(member, f"expected {said[0]}, got {said[1]}"))
        elif (found := byte_difference(made / name, folder / name, member)) is None:
            kind.by_bytes += 1
            kind.numbers += count_numbers(document) if name == RESULTS_FILE else 0
        elif not others:
            kind.differing.append(found)
            kind.numbers += count_numbers(document) if name == RESULTS_FILE else 0
        elif name.endswith(_DRAWN):
            kind.left.append(name)
        else:
            if name == RESULTS_FILE:
                found = _compare_numbers(made / name, document, member, words, kind, common=another_gapline)
            else:
                found = text_difference(made / name, folder / name, member, words)
            kind.by_value += found is None
            kind.differing += [] if found is None else [found]
    why = "; ".join(f"{name} {was} there, {now} here" for name, (was, now) in others.items())
    _add_rows(kinds, why, findings)


def _compare_numbers(
    made: Path, document: dict[str, Any], member: str, words: Mapping[str, str], kind: _Kind, *, common: bool
) -> Difference | None:
    """Compare the list of results by value; of another gapline, the keys that both have, and count the rest."""
    expected, got = (
        {name: value for name, value in whole.items() if name not in _OF_BYTES}
        for whole in (json.loads(read_regular(made)), document)
    )
    whole = count_numbers(got)
    if common:
        expected, got, kind.keys_left = common_part(expected, got)
    kind.numbers = count_numbers(got)
    kind.numbers_left = whole - kind.numbers
    for place, one, another in value_differences(expected, got, words):
        said = f"{place}: expected {printable(one):.120}, got {printable(another):.120}"
        return Difference(member, said)
    return None


def _add_rows(kinds: dict[str, _Kind], why: str, findings: Findings) -> None:
    for name, kind in kinds.items():
        files = kind.by_bytes + kind.by_value + len(kind.differing)
        # The list of results is one file; what it holds are the numbers.
        number, unit = (kind.numbers, "numbers") if name == "scores and intervals" else (files, "files")
        ways = ["bytes"] if kind.by_bytes else []
        ways += [f"value within {WITHIN:g} ({why})"] if kind.by_value else []
        if files:
            how = f"made again, {' and '.join(ways)}" if ways else "made again"
            findings.judge(name, number, unit, kind.differing, how=how)
        if kind.left:
            findings.leave(name, len(kind.left), "files", f"made by other versions ({why})")
        if kind.keys_left:
            keys = listing(kind.keys_left, most=5)
            findings.leave(name, kind.numbers_left, "numbers", f"only one of the two versions has these keys: {keys}")
