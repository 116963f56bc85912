"""Campaign directories: `runs.parquet`, one `.npy` per candidate column, `manifest.json` with digests.

A campaign directory may instead consist of such directories as parts (`campaign/partitions.py`).
"""

import hashlib
import io
import json
import os
import re
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from functools import partial
from itertools import islice
from pathlib import Path
from tokenize import TokenError
from typing import Any

import msgspec
import numpy as np
import polars as pl

from gapline.campaign.campaign import OPTIONAL_COLUMNS, REQUIRED_COLUMNS, Campaign, packed_runs, slices_of
from gapline.campaign.columns import MappedFile, Origin
from gapline.campaign.diagnostics import Diagnostics
from gapline.campaign.threads import thread_count
from gapline.contract.layout import MANIFEST
from gapline.contract.tables import RunKey
from gapline.errors import IntegrityError, TraceError, listing
from gapline.files.atomic_write import replace_directory, write_atomically
from gapline.files.open_file import most_bytes, open_regular, read_regular, reason_of

SCHEMA = "gapline.campaign/1"
# Only for directories with parts; those without keep version 1.
PARTED_SCHEMA = "gapline.campaign/2"
RUNS_FILE = "runs.parquet"
_PART = re.compile(r"part-[0-9]{4,9}")
OUR_FILES = frozenset({MANIFEST, RUNS_FILE, *(f"{name}.npy" for name in (*REQUIRED_COLUMNS, *OPTIONAL_COLUMNS))})
_NEEDED = (RUNS_FILE, *(f"{name}.npy" for name in REQUIRED_COLUMNS))
# Length of the header that NumPy writes; a file without entries after it cannot be mapped.
_HEADER = 128
ANEW = "build it anew: gapline run STUDY, or gapline import"
CHANGED = f"it was changed after it was written; {ANEW}"


class _Ours:
    """The names in a campaign directory that belong to the campaign."""

    def __contains__(self, name: object) -> bool:
        return name in OUR_FILES or is_part(str(name))


OURS = _Ours()


def is_campaign_file(name: str) -> bool:
    """Say whether a path in a campaign directory is one of the campaign's files, or of those of its parts.

    >>> [is_campaign_file(name) for name in ("time.npy", "part-0001/time.npy", "notes/time.npy", "part-0001")]
    [True, True, False, False]
    """
    *folders, file = name.split("/")
    return file in OUR_FILES and all(map(is_part, folders))


def is_part(name: str) -> bool:
    """Say whether a directory name is that of a part."""
    return _PART.fullmatch(name) is not None


class _Manifest(msgspec.Struct):
    """The typed fields of a manifest; unknown fields are ignored."""

    files: dict[str, str]
    reasons: tuple[str, ...] = ("",)
    facts: dict[str, str] = {}
    diagnostics: Diagnostics = Diagnostics()
    interrupted: tuple[RunKey, ...] = ()


class _PartEntry(msgspec.Struct):
    """The entry of a part in the manifest of a campaign."""

    seal: str
    runs: int
    candidates: int


class _Parts(msgspec.Struct):
    parts: dict[str, _PartEntry]


def file_digest(path: Path) -> str:
    """Return the sha256 of a file's bytes."""
    with open_regular(path) as stream:
        return "sha256:" + hashlib.file_digest(stream, "sha256").hexdigest()


def save_campaign(campaign: Campaign, directory: Path, *, overwrite: bool = False) -> Path:
    """Write a campaign directory atomically; other files in it, such as references.json, are kept."""
    refuse_to_replace(directory, overwrite=overwrite)
    replace_directory(directory, partial(fill_directory, campaign), ours=OURS)
    return directory


def fill_directory(campaign: Campaign, folder: Path) -> None:
    """Write the files of a campaign into an empty directory, each column in slices."""
    campaign.check_files()
    runs = packed_runs(campaign)
    # Pass a stream to Polars, which cannot open a path that is not UTF-8.
    write_atomically(folder / RUNS_FILE, runs.write_parquet)
    for name, column in campaign.columns.items():
        write_atomically(folder / f"{name}.npy", partial(_write_column, campaign, column))
    manifest = {
        "schema": SCHEMA,
        "runs": len(campaign),
        "candidates": campaign.candidates,
        "reasons": list(campaign.reasons),
        "facts": dict(campaign.facts),
        "diagnostics": asdict(campaign.diagnostics),
        # A cell that was running when the journals were read has no complete attempt in this copy: it is interrupted.
        "interrupted": [list(key) for key in sorted({*campaign.interrupted, *campaign.running})],
        "digest": campaign.digest(),
        "files": {name: file_digest(folder / name) for name in sorted(path.name for path in folder.iterdir())},
    }
    campaign.check_files()
    write_manifest(folder, manifest)


def _write_column(campaign: Campaign, column: Any, stream: Any) -> None:
    """Write the candidates of the runs in the format of `numpy.save`, without concatenating them first."""
    kind, shape = np.lib.format.dtype_to_descr(column.dtype), (campaign.candidates,)
    np.lib.format.write_array_header_1_0(stream, {"descr": kind, "fortran_order": False, "shape": shape})
    for low, high in slices_of(campaign.runs):
        stream.write(np.ascontiguousarray(column[low:high]).data)


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Write the manifest, the last file of a campaign; its seal covers the digests of all other files."""
    whole = manifest | {"seal": _seal(manifest)}

    def write(stream: Any) -> None:
        for text in _texts(json.JSONEncoder(indent=1, ensure_ascii=False), whole):
            stream.write(text)

    write_atomically(folder / MANIFEST, write)


def _texts(encoder: json.JSONEncoder, manifest: dict[str, Any]) -> Iterator[bytes]:
    """Yield a manifest as JSON in pieces: with a million sources, one text would take much memory."""
    pieces = encoder.iterencode(manifest)
    while some := "".join(islice(pieces, 1 << 14)):
        yield some.encode()


def refuse_to_replace(directory: Path, *, overwrite: bool) -> None:
    """Refuse a directory that is not empty or, with `overwrite`, one that does not hold just a listed campaign."""
    if not directory.exists() or not any(directory.iterdir()):
        return
    if not overwrite:
        raise TraceError(f"{directory}: expected a new or empty directory, got one with files in it")
    if not (directory / MANIFEST).exists():
        raise TraceError(f"{directory}: expected a campaign to overwrite, got a directory without {MANIFEST}")
    try:
        manifest = read_manifest(directory)
        if manifest["schema"] == PARTED_SCHEMA:
            from gapline.campaign.partitions import strays_in_parts

            strays = strays_in_parts(directory, manifest)
        else:
            strays = _unlisted(directory, check_manifest(directory, manifest).files)
            strays += sorted(path.name for path in directory.iterdir() if is_part(path.name))
    except TraceError as error:
        raise TraceError(
            f"{error.message}; it is not overwritten", hint="move the directory away if it may go"
        ) from None
    if strays:
        raise TraceError(
            f"{directory}: expected the campaign's own files, got {listing(strays)}, which {MANIFEST} does not list",
            hint="move them away",
        )


def open_campaign(directory: str | Path, *, verify: bool = True) -> Campaign:
    """Open a campaign directory; the columns are memory-mapped.

    Parameters
    ----------
    directory
        The directory with its `manifest.json`, or the URL of one.
    verify
        Compare every file with its digest in the manifest; False for a campaign that was just written.

    Raises
    ------
    IntegrityError
        When a file was changed, is missing, or was added.
    """
    from gapline.campaign.remote import local_path

    folder = local_path(directory)
    while True:
        data = _manifest_bytes(folder)
        failure = None
        try:
            manifest = _parse_manifest(folder, data)
            campaign = _opened(folder, manifest, verify=verify)
        except (IntegrityError, TraceError) as error:
            failure = error
        # A runner may have replaced the campaign meanwhile; then open it again.
        if _manifest_bytes(folder) != data:
            continue
        if failure is not None:
            raise failure
        return replace(campaign, origin=Origin(str(folder.absolute()), str(manifest.get("seal"))))


def _opened(folder: Path, manifest: dict[str, Any], *, verify: bool) -> Campaign:
    if manifest["schema"] == PARTED_SCHEMA:
        from gapline.campaign.partitions import open_parts

        return open_parts(folder, manifest, verify=verify)
    return open_plain(folder, manifest, verify=verify)


def open_plain(folder: Path, manifest: dict[str, Any], *, verify: bool) -> Campaign:
    """Open a campaign directory without parts."""
    # Verify before parsing, so that the readers below see only unchanged files.
    if verify:
        verify_campaign(folder, manifest)
    return _load(folder, check_manifest(folder, manifest))


def _load(folder: Path, stated: _Manifest) -> Campaign:
    try:
        runs = pl.read_parquet(io.BytesIO(read_regular(folder / RUNS_FILE, most=most_bytes())))
    except OSError as error:
        raise TraceError(f"{folder / RUNS_FILE}: expected the runs table, got {reason_of(error)}") from error
    # `PanicException` is not a subclass of `Exception`.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise TraceError(f"{folder / RUNS_FILE}: expected the runs table, got {error}") from error
    there = [
        name
        for name in (*REQUIRED_COLUMNS, *OPTIONAL_COLUMNS)
        if name in REQUIRED_COLUMNS or os.path.lexists(folder / f"{name}.npy")
    ]
    mapped = {name: _map_column(folder, name) for name in there}
    columns = {name: column for name, (column, _) in mapped.items()}
    files = tuple(file for _, file in mapped.values() if file is not None)
    try:
        campaign = Campaign.from_arrays(
            runs=runs,
            reasons=stated.reasons,
            facts=stated.facts,
            diagnostics=stated.diagnostics,
            interrupted=stated.interrupted,
            **columns,
        )
    except TraceError as error:
        raise TraceError(f"{folder}: {error.message}", hint=error.hint) from error
    return replace(campaign, files=(files,))


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest, refusing a directory that is not a campaign and a schema newer than ours."""
    return _parse_manifest(folder, _manifest_bytes(folder))


def _manifest_bytes(folder: Path) -> bytes:
    try:
        return read_regular(folder / MANIFEST)
    except FileNotFoundError:
        raise TraceError(f"{folder}: expected a campaign directory with {MANIFEST}, got none") from None
    except OSError as error:
        raise TraceError(f"{folder / MANIFEST}: expected a file, got {reason_of(error)}") from error


def _parse_manifest(folder: Path, data: bytes) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        manifest = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise TraceError(f"{path}: expected JSON, got {error}") from error
    schema = manifest.get("schema") if isinstance(manifest, dict) else None
    name, _, version = str(schema).partition("/")
    if name != "gapline.campaign" or not version.isdecimal():
        raise TraceError(f"{path}: expected schema {SCHEMA}, got {schema!r:.200}")
    if int(version) > int(PARTED_SCHEMA.partition("/")[2]):
        said = f"expected schema {PARTED_SCHEMA} or older, got {schema}"
        raise TraceError(f"{path}: {said}", hint="upgrade gapline to read it")
    return dict(manifest)


def check_manifest(folder: Path, manifest: dict[str, Any]) -> _Manifest:
    """Return the typed fields of a manifest; raise a `TraceError` if one has the wrong type."""
    try:
        return msgspec.convert(manifest, _Manifest)
    except msgspec.ValidationError as error:
        raise TraceError(f"{folder / MANIFEST}: expected the manifest of a campaign, got {error}", hint=ANEW) from None


def manifest_parts(folder: Path, manifest: dict[str, Any]) -> dict[str, _PartEntry]:
    """Return the parts listed in a manifest, by name, in order of their numbers."""
    try:
        parts = msgspec.convert(manifest, _Parts).parts
    except msgspec.ValidationError as error:
        raise TraceError(f"{folder / MANIFEST}: expected a list of parts, got {error}", hint=ANEW) from None
    # Only names of parts are accepted, so a manifest cannot name a folder outside this directory.
    if not parts or not all(map(is_part, parts)):
        said = listing(repr(name) for name in parts if not is_part(name)) or "none"
        raise TraceError(f"{folder / MANIFEST}: expected parts named part-0000 and so on, got {said}", hint=ANEW)
    return {name: parts[name] for name in sorted(parts, key=lambda name: int(name.removeprefix("part-")))}


def verify_campaign(folder: Path, manifest: dict[str, Any]) -> None:
    """Compare every file of a campaign directory with its digest in the manifest."""
    check_seal(folder, manifest)
    stated = check_manifest(folder, manifest).files
    differing = [f"{name}: expected a digest in {MANIFEST}, got none" for name in _NEEDED if name not in stated]
    # Only the known file names are opened, so a manifest cannot name a file outside this directory.
    differing += [f"{name!r}: expected a file of a campaign" for name in sorted(stated.keys() - OUR_FILES)]
    known = [name for name in stated if name in OUR_FILES]
    # Hashing releases the GIL: use one thread per core, each for a file.
    with ThreadPoolExecutor(max_workers=thread_count()) as pool:
        found = dict(zip(known, pool.map(lambda name: _found(folder / name), known), strict=True))
    differing += [
        f"{name}: expected {stated[name]}, got {found[name]}" for name in known if found[name] != stated[name]
    ]
    differing += [f"{name}: expected no such file, as {MANIFEST} lists none" for name in _unlisted(folder, stated)]
    if differing:
        raise IntegrityError(f"{folder}: " + "; ".join(differing), hint=CHANGED)


def check_seal(folder: Path, manifest: dict[str, Any]) -> None:
    """Refuse a manifest that was changed, because its digests of the other files cannot be trusted."""
    seal, found_seal = manifest.get("seal"), _seal(manifest)
    if seal != found_seal:
        said = "a `seal`, got none" if seal is None else f"{seal!s:.200}, got {found_seal}"
        raise IntegrityError(f"{folder / MANIFEST}: expected {said}", hint=CHANGED)


def _found(path: Path) -> str:
    try:
        return file_digest(path)
    except OSError as error:
        return reason_of(error)


def _seal(manifest: dict[str, Any]) -> str:
    """Return the sha256 of a manifest's content, independent of its formatting."""
    content = {name: value for name, value in manifest.items() if name != "seal"}
    state = hashlib.sha256()
    for text in _texts(json.JSONEncoder(sort_keys=True), content):
        state.update(text)
    return "sha256:" + state.hexdigest()


def _unlisted(folder: Path, listed: Collection[str]) -> list[str]:
    """Return the files that have the name of a campaign file but are not listed in the manifest."""
    return sorted(path.name for path in folder.iterdir() if path.name in OUR_FILES - {MANIFEST, *listed})


def _map_column(folder: Path, name: str) -> tuple[Any, MappedFile | None]:
    """Map a column into memory; an unexpected type or shape is refused, never converted.

    Also return the record of the file from before it was mapped, or None if the column is empty.
    """
    path = folder / f"{name}.npy"
    kind = np.dtype((REQUIRED_COLUMNS | OPTIONAL_COLUMNS)[name])
    try:
        with open_regular(path) as stream:
            file = MappedFile.of(path, os.fstat(stream.fileno()))
        array = np.load(path, mmap_mode="r" if file.size > _HEADER else None, allow_pickle=False)
    except OSError as error:
        raise TraceError(f"{path}: expected a NumPy column, got {reason_of(error)}") from error
    except (ValueError, TypeError, OverflowError, EOFError, MemoryError, TokenError) as error:
        raise TraceError(f"{path}: expected a NumPy column, got {error}") from error
    if not isinstance(array, np.ndarray) or array.dtype != kind or array.ndim != 1:
        got = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        raise TraceError(f"{path}: expected {kind} in one dimension, got {got}")
    return array, file if file.size > _HEADER else None
