"""A campaign on disk: `runs.parquet`, one `.npy` per candidate column, `manifest.json` with digests."""

import hashlib
import io
import json
import os
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path
from tokenize import TokenError
from typing import Any

import msgspec
import numpy as np
import polars as pl

from gapline.errors import IntegrityError, TraceError, listing
from gapline.model.campaign import OPTIONAL_COLUMNS, REQUIRED_COLUMNS, Campaign
from gapline.model.diagnostics import Diagnostics
from gapline.model.layout import MANIFEST
from gapline.model.limits import most_bytes, read_regular
from gapline.model.regular import open_regular, reason_of
from gapline.model.swap import replace_directory
from gapline.model.tables import RunKey
from gapline.model.threads import thread_count
from gapline.model.writing import write_atomically

SCHEMA = "gapline.campaign/1"
RUNS_FILE = "runs.parquet"
OUR_FILES = frozenset({MANIFEST, RUNS_FILE, *(f"{name}.npy" for name in (*REQUIRED_COLUMNS, *OPTIONAL_COLUMNS))})
_NEEDED = (RUNS_FILE, *(f"{name}.npy" for name in REQUIRED_COLUMNS))
# What NumPy writes before the entries of a column; a file without entries cannot be mapped.
_HEADER = 128
_ANEW = "build it anew: gapline run STUDY, or gapline import"


class _Manifest(msgspec.Struct):
    """What a manifest states, each thing of its type; fields that are not known do no harm."""

    files: dict[str, str]
    reasons: tuple[str, ...] = ("",)
    facts: dict[str, str] = {}
    diagnostics: Diagnostics = Diagnostics()
    interrupted: tuple[RunKey, ...] = ()


def file_digest(path: Path) -> str:
    """Return the sha256 of a file's bytes."""
    with open_regular(path) as stream:
        return "sha256:" + hashlib.file_digest(stream, "sha256").hexdigest()


def save_campaign(campaign: Campaign, directory: Path, *, overwrite: bool = False) -> Path:
    """Write a campaign directory as a whole; files in it that are not the campaign's stay, such as references.json."""
    if directory.exists() and any(directory.iterdir()):
        if not overwrite:
            raise TraceError(f"{directory}: expected a new or empty directory, got one with files in it")
        _refuse_others(directory)
    whole = campaign.compact()

    def fill(folder: Path) -> None:
        # By a stream of ours: Polars cannot open a path that is not UTF-8.
        write_atomically(folder / RUNS_FILE, whole.runs.write_parquet)
        for name, column in whole.columns.items():
            write = partial(np.save, arr=np.ascontiguousarray(column), allow_pickle=False)
            write_atomically(folder / f"{name}.npy", write)
        manifest = {
            "schema": SCHEMA,
            "runs": len(whole),
            "candidates": whole.candidates,
            "reasons": list(whole.reasons),
            "facts": dict(whole.facts),
            "diagnostics": asdict(whole.diagnostics),
            "interrupted": [list(key) for key in whole.interrupted],
            "digest": whole.digest(),
            "files": {name: file_digest(folder / name) for name in sorted(path.name for path in folder.iterdir())},
        }
        # Last: the seal covers everything above it, the digests of the files included.
        manifest["seal"] = _seal(manifest)
        text = json.dumps(manifest, indent=1, ensure_ascii=False).encode()
        write_atomically(folder / MANIFEST, lambda stream: stream.write(text))

    replace_directory(directory, fill, ours=OUR_FILES)
    return directory


def _refuse_others(directory: Path) -> None:
    """Refuse to overwrite a directory whose files are somebody else's, though they are named like ours."""
    if not (directory / MANIFEST).exists():
        raise TraceError(f"{directory}: expected a campaign to overwrite, got a directory without {MANIFEST}")
    try:
        listed = _stated(directory, read_manifest(directory)).files
    except TraceError as error:
        raise TraceError(
            f"{error.message}; it is not overwritten", hint="move the directory away if it may go"
        ) from None
    if strays := _unlisted(directory, listed):
        raise TraceError(
            f"{directory}: expected the campaign's own files, got {listing(strays)}, which {MANIFEST} does not list",
            hint="move them away",
        )


def open_campaign(directory: str | Path, *, verify: bool = True) -> Campaign:
    """Open a campaign directory; the columns are memory-mapped.

    Parameters
    ----------
    directory
        The directory with its `manifest.json`.
    verify
        Compare every file with the digest that the manifest states; False for one that was just written.

    Raises
    ------
    IntegrityError
        When a file was changed, is missing, or was added.
    """
    folder = Path(directory)
    while True:
        data = _manifest_bytes(folder)
        failure = None
        try:
            manifest = _parse_manifest(folder, data)
            # Before anything is parsed: what the readers below see is what was written.
            if verify:
                verify_campaign(folder, manifest)
            campaign = _load(folder, _stated(folder, manifest))
        except (IntegrityError, TraceError) as error:
            failure = error
        # A runner may have put a new campaign in the place of this one meanwhile: then it is opened anew.
        if _manifest_bytes(folder) != data:
            continue
        if failure is not None:
            raise failure
        return campaign


def _load(folder: Path, stated: _Manifest) -> Campaign:
    try:
        runs = pl.read_parquet(io.BytesIO(read_regular(folder / RUNS_FILE, most=most_bytes())))
    except OSError as error:
        raise TraceError(f"{folder / RUNS_FILE}: expected the runs table, got {reason_of(error)}") from error
    # A panic of Polars is no `Exception`.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise TraceError(f"{folder / RUNS_FILE}: expected the runs table, got {error}") from error
    there = [
        name
        for name in (*REQUIRED_COLUMNS, *OPTIONAL_COLUMNS)
        if name in REQUIRED_COLUMNS or os.path.lexists(folder / f"{name}.npy")
    ]
    columns = {name: _map_column(folder, name) for name in there}
    try:
        return Campaign.from_arrays(
            runs=runs,
            reasons=stated.reasons,
            facts=stated.facts,
            diagnostics=stated.diagnostics,
            interrupted=stated.interrupted,
            **columns,
        )
    except TraceError as error:
        raise TraceError(f"{folder}: {error.message}", hint=error.hint) from error


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
    if int(version) > int(SCHEMA.partition("/")[2]):
        raise TraceError(f"{path}: expected schema {SCHEMA} or older, got {schema}", hint="upgrade gapline to read it")
    return dict(manifest)


def _stated(folder: Path, manifest: dict[str, Any]) -> _Manifest:
    """Return what a manifest states, or say what of it is of the wrong type."""
    try:
        return msgspec.convert(manifest, _Manifest)
    except msgspec.ValidationError as error:
        raise TraceError(f"{folder / MANIFEST}: expected the manifest of a campaign, got {error}", hint=_ANEW) from None


def verify_campaign(folder: Path, manifest: dict[str, Any]) -> None:
    """Compare every file of a campaign directory with the digest that its manifest states for it."""
    changed = f"it was changed after it was written; {_ANEW}"
    seal, found_seal = manifest.get("seal"), _seal(manifest)
    if seal != found_seal:
        # Then nothing that it says of the other files can be believed.
        said = "a `seal`, got none" if seal is None else f"{seal!s:.200}, got {found_seal}"
        raise IntegrityError(f"{folder / MANIFEST}: expected {said}", hint=changed)
    stated = _stated(folder, manifest).files
    differing = [f"{name}: expected a digest in {MANIFEST}, got none" for name in _NEEDED if name not in stated]
    # A name is looked up in this directory alone, whatever a manifest says.
    differing += [f"{name!r}: expected a file of a campaign" for name in sorted(stated.keys() - OUR_FILES)]
    known = [name for name in stated if name in OUR_FILES]
    # Hashing lets go of the interpreter: as many threads as there are cores, each with a file of its own.
    with ThreadPoolExecutor(max_workers=thread_count()) as pool:
        found = dict(zip(known, pool.map(lambda name: _found(folder / name), known), strict=True))
    differing += [
        f"{name}: expected {stated[name]}, got {found[name]}" for name in known if found[name] != stated[name]
    ]
    differing += [f"{name}: expected no such file, as {MANIFEST} lists none" for name in _unlisted(folder, stated)]
    if differing:
        raise IntegrityError(f"{folder}: " + "; ".join(differing), hint=changed)


def _found(path: Path) -> str:
    try:
        return file_digest(path)
    except OSError as error:
        return reason_of(error)


def _seal(manifest: dict[str, Any]) -> str:
    """Return the sha256 of what a manifest says, however it is laid out."""
    content = {name: value for name, value in manifest.items() if name != "seal"}
    return "sha256:" + hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _unlisted(folder: Path, listed: Collection[str]) -> list[str]:
    """Return the files in a campaign directory that would be read as its own and are not."""
    return sorted(path.name for path in folder.iterdir() if path.name in OUR_FILES - {MANIFEST, *listed})


def _map_column(folder: Path, name: str) -> Any:
    """Map a column into memory; another type or shape than the one that is written is refused, never converted."""
    path = folder / f"{name}.npy"
    kind = np.dtype((REQUIRED_COLUMNS | OPTIONAL_COLUMNS)[name])
    try:
        with open_regular(path) as stream:
            size = os.fstat(stream.fileno()).st_size
        array = np.load(path, mmap_mode="r" if size > _HEADER else None, allow_pickle=False)
    except OSError as error:
        raise TraceError(f"{path}: expected a NumPy column, got {reason_of(error)}") from error
    except (ValueError, TypeError, OverflowError, EOFError, MemoryError, TokenError) as error:
        raise TraceError(f"{path}: expected a NumPy column, got {error}") from error
    if not isinstance(array, np.ndarray) or array.dtype != kind or array.ndim != 1:
        got = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        raise TraceError(f"{path}: expected {kind} in one dimension, got {got}")
    return array
