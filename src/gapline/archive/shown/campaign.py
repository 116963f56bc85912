"""The campaign of a study, built anew from its journals and compared with `campaign/`, file by file."""

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from gapline.archive.shown.alike import byte_difference, value_differences
from gapline.archive.shown.rows import Difference, Findings
from gapline.archive.shown.source import Source
from gapline.errors import GaplineError
from gapline.model.campaign import Campaign
from gapline.model.diagnostics import Diagnostics
from gapline.model.environment import package_version
from gapline.model.layout import CAMPAIGN, MANIFEST
from gapline.model.limits import most_bytes, read_regular
from gapline.model.store import OUR_FILES, RUNS_FILE, fill_directory, open_campaign, read_manifest
from gapline.model.tables import RUN_KEY
from gapline.model.text import printable

_PIECE = 1 << 20


def show_stored(source: Source, findings: Findings) -> bool:
    """Compare the files of `campaign/` with the digests that its manifest states; return whether they fit."""
    folder = source.folder / CAMPAIGN
    if not (folder / MANIFEST).is_file():
        findings.leave("campaign", 0, "files", f"there is no {CAMPAIGN}/")
        return False
    differing, files = [], 0
    try:
        files = len(read_manifest(folder).get("files", ()))
        open_campaign(folder)
    except GaplineError as error:
        differing = [_named(source.words(error.message))]
    return findings.judge("campaign", files, "files", differing, how=f"digests of {CAMPAIGN}/{MANIFEST}")


def _named(message: str) -> Difference:
    """Name the file that an error on the whole directory names first."""
    folder, _, rest = message.partition(": ")
    name, colon, said = rest.partition(": ")
    if folder == CAMPAIGN and colon and name in OUR_FILES:
        return Difference(f"{CAMPAIGN}/{name}", said)
    return Difference.of(message)


def show_rebuilt(
    source: Source, campaign: Campaign, scratch: Path, findings: Findings, versions: Mapping[str, str]
) -> Campaign:
    """Compare `campaign/` with the one that the journals make; return the latter as it lies in `scratch`.

    `versions` are those of the libraries that wrote `campaign/`, where they are stated.
    """
    folder = source.folder / CAMPAIGN
    stated = _read_json(folder / MANIFEST)
    made = scratch / CAMPAIGN
    made.mkdir()
    fill_directory(replace(campaign, diagnostics=called_as_stated(campaign.diagnostics, source.folder, stated)), made)
    rebuilt = open_campaign(made, verify=False)
    if (folder / MANIFEST).is_file():
        here = package_version("polars")
        other = versions.get("polars", here) != here
        differing = list(_differing(source, folder, made, rebuilt, other=other))
        by_value = other and byte_difference(made / RUNS_FILE, folder / RUNS_FILE, RUNS_FILE) is not None
        how = "built from the journals again, " + (
            f"{RUNS_FILE} by content (polars {versions.get('polars')} there, {here} here)" if by_value else "bytes"
        )
        findings.judge("campaign", len(rebuilt), "runs", differing, how=how)
    return rebuilt


def called_as_stated(found: Diagnostics, folder: Path, stated: Any) -> Diagnostics:
    """Return the diagnostics of a rebuilt campaign, with the study named as the manifest of the stored one names it."""
    sources = stated.get("diagnostics", {}).get("sources", []) if isinstance(stated, dict) else []
    if len(sources) != 1 or not isinstance(sources[0], str):
        return found
    here, there = str(folder), sources[0]

    def called(text: str) -> str:
        # From inside the study, its own name stands in no path; in a command, it is quoted.
        text = text.replace(f"gapline check {shlex.quote(here)}", f"gapline check {shlex.quote(there)}")
        return text.replace(f"{here}/", "" if there == "." else f"{there}/").replace(here, there)

    def all_called(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(called, texts))

    return replace(
        found,
        sources=all_called(found.sources),
        problems=all_called(found.problems),
        notes=all_called(found.notes),
    )


def _differing(source: Source, folder: Path, made: Path, rebuilt: Campaign, *, other: bool) -> Iterator[Difference]:
    names = sorted(OUR_FILES & {file.name for place in (folder, made) for file in place.iterdir()} - {MANIFEST})
    for name in names:
        member = f"{CAMPAIGN}/{name}"
        if not (made / name).is_file() or not (folder / name).is_file():
            yield Difference(member, f"expected {_there(made / name)}, got {_there(folder / name)}")
        elif (found := byte_difference(made / name, folder / name, member)) is None:
            continue
        elif name == RUNS_FILE:
            yield from _of_runs(made / name, folder / name, found, other=other)
        else:
            yield _of_column(made / name, folder / name, rebuilt, found)
    if byte_difference(made / MANIFEST, folder / MANIFEST, MANIFEST) is None:
        return
    expected, got = _read_json(made / MANIFEST), _read_json(folder / MANIFEST)
    if not isinstance(got, dict) or not isinstance(expected, dict):
        yield Difference(f"{CAMPAIGN}/{MANIFEST}", "expected the manifest of a campaign, got something else")
        return
    for place, one, another in value_differences(
        _of_content(expected, source, other), _of_content(got, source, other), {}
    ):
        said = f"{place}: expected {_short(one)}, got {_short(another)}"
        yield Difference(f"{CAMPAIGN}/{MANIFEST}", said)


def _of_content(manifest: dict[str, Any], source: Source, other: bool) -> dict[str, Any]:
    """Return what of a manifest follows from the journals alone."""
    kept = {name: value for name, value in manifest.items() if name != "seal"}
    if other:
        kept["files"] = {name: value for name, value in kept.get("files", {}).items() if name != RUNS_FILE}
    found = kept.get("diagnostics")
    if not source.is_package and isinstance(found, dict):
        # What lies beside the journals and is not of gapline may have come after the campaign was built.
        notes = [note for note in found.get("notes", []) if "not of gapline and left out" not in str(note)]
        kept["diagnostics"] = found | {"notes": notes}
    return kept


def _of_runs(expected: Path, got: Path, bytes_differ: Difference, *, other: bool) -> Iterator[Difference]:
    """Name column and run of the first entry of the runs table that differs."""
    try:
        one, another = (pl.read_parquet(read_regular(path, most=most_bytes())) for path in (expected, got))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        yield Difference(bytes_differ.member, f"expected the runs table, got {printable(error)}")
        return
    if one.columns != another.columns or one.height != another.height:
        shapes = [f"{frame.height:,} runs with {', '.join(frame.columns)}" for frame in (one, another)]
        yield Difference(bytes_differ.member, f"expected {shapes[0]:.300}, got {shapes[1]:.300}")
        return
    for name in one.columns:
        if one[name].dtype != another[name].dtype:
            yield Difference(bytes_differ.member, f"{name}: expected {one[name].dtype}, got {another[name].dtype}")
            return
        rows = one[name].ne_missing(another[name]).arg_true()
        if len(rows):
            row = int(rows[0])
            key = "/".join(str(one[part][row]) for part in RUN_KEY)
            said = f"{name} of {key}: expected {_short(one[name][row])}, got {_short(another[name][row])}"
            yield Difference(bytes_differ.member, said)
            return
    if not other:
        yield bytes_differ


def _of_column(expected: Path, got: Path, rebuilt: Campaign, bytes_differ: Difference) -> Difference:
    """Name run and candidate of the first entry of a column that differs."""
    try:
        one, another = (np.load(path, mmap_mode="r", allow_pickle=False) for path in (expected, got))
    except (OSError, ValueError, EOFError):
        return bytes_differ
    if one.shape != another.shape or one.dtype != another.dtype or one.ndim != 1:
        shapes = [f"{column.dtype} of {column.shape}" for column in (one, another)]
        return Difference(bytes_differ.member, f"expected {shapes[0]}, got {shapes[1]}")
    for low in range(0, len(one), _PIECE):
        pieces = [np.ascontiguousarray(column[low : low + _PIECE]).view(np.uint8) for column in (one, another)]
        places = np.flatnonzero(pieces[0] != pieces[1])
        if len(places):
            entry = low + int(places[0]) // one.itemsize
            runs = rebuilt.runs
            row = int(np.searchsorted(runs["first"].to_numpy(), entry, side="right")) - 1
            key = "/".join(str(runs[part][row]) for part in RUN_KEY)
            candidate = entry - int(runs["first"][row]) + 1
            said = f"candidate {candidate:,} of {key}: expected {one[entry]}, got {another[entry]}"
            return Difference(bytes_differ.member, said)
    return bytes_differ


def _read_json(path: Path) -> Any:
    try:
        return json.loads(read_regular(path))
    except (OSError, ValueError, RecursionError):
        return None


def _there(path: Path) -> str:
    return "a file" if path.is_file() else "none"


def _short(value: Any) -> str:
    return f"{printable(value)!s:.120}"
