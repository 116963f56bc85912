"""A campaign on disk: `runs.parquet`, one `.npy` per candidate column, `manifest.json` with digests."""

import hashlib
import json
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from gapline.errors import IntegrityError, TraceError, listing
from gapline.model.campaign import OPTIONAL_COLUMNS, REQUIRED_COLUMNS, Campaign
from gapline.model.diagnostics import Diagnostics
from gapline.model.layout import MANIFEST
from gapline.model.swap import replace_directory
from gapline.model.tables import RunKey
from gapline.model.threads import thread_count
from gapline.model.writing import write_atomically

SCHEMA = "gapline.campaign/1"
RUNS_FILE = "runs.parquet"
OUR_FILES = frozenset({MANIFEST, RUNS_FILE, *(f"{name}.npy" for name in (*REQUIRED_COLUMNS, *OPTIONAL_COLUMNS))})


def file_digest(path: Path) -> str:
    """Return the sha256 of a file's bytes."""
    with path.open("rb") as stream:
        return "sha256:" + hashlib.file_digest(stream, "sha256").hexdigest()


def save_campaign(campaign: Campaign, directory: Path, *, overwrite: bool = False) -> Path:
    """Write a campaign directory as a whole; files in it that are not the campaign's stay, such as references.json."""
    if directory.exists() and any(directory.iterdir()):
        if not overwrite:
            raise TraceError(f"{directory}: expected a new or empty directory, got one with files in it")
        _refuse_others(directory)
    whole = campaign.compact()

    def fill(folder: Path) -> None:
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
        listed = read_manifest(directory).get("files", {})
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
        manifest = read_manifest(folder)
        failure = None
        try:
            if verify:
                verify_campaign(folder, manifest)
            campaign = _load(folder, manifest)
        except (IntegrityError, TraceError) as error:
            failure = error
        # A runner may have put a new campaign in the place of this one meanwhile: then it is opened anew.
        if read_manifest(folder) != manifest:
            continue
        if failure is not None:
            raise failure
        return campaign


def _load(folder: Path, manifest: dict[str, Any]) -> Campaign:
    try:
        runs = pl.read_parquet(folder / RUNS_FILE, glob=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise TraceError(f"{folder / RUNS_FILE}: expected the runs table, got {error}") from error
    columns: dict[str, Any] = {}
    for name in (*REQUIRED_COLUMNS, *OPTIONAL_COLUMNS):
        path = folder / f"{name}.npy"
        if path.exists():
            columns[name] = _map_column(path)
        elif name in REQUIRED_COLUMNS:
            raise TraceError(f"{folder}: expected {path.name}, got {listing(sorted(p.name for p in folder.iterdir()))}")
    stored = manifest.get("diagnostics", {})
    known = {name: stored[name] for name in Diagnostics.__dataclass_fields__ if name in stored}
    for name in ("sources", "problems", "notes"):
        known[name] = tuple(known.get(name, ()))
    return Campaign.from_arrays(
        runs=runs,
        reasons=tuple(manifest.get("reasons", ("",))),
        facts=manifest.get("facts", {}),
        diagnostics=Diagnostics(**known),
        interrupted=[RunKey(*key) for key in manifest.get("interrupted", ())],
        **columns,
    )


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest, refusing a directory that is not a campaign and a schema newer than ours."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise TraceError(f"{folder}: expected a campaign directory with {MANIFEST}, got none") from None
    except (ValueError, OSError) as error:
        raise TraceError(f"{path}: expected JSON, got {error}") from error
    schema = manifest.get("schema") if isinstance(manifest, dict) else None
    name, _, version = str(schema).partition("/")
    if name != "gapline.campaign" or not version.isdigit():
        raise TraceError(f"{path}: expected schema {SCHEMA}, got {schema!r}")
    if int(version) > int(SCHEMA.partition("/")[2]):
        raise TraceError(f"{path}: expected schema {SCHEMA} or older, got {schema}", hint="upgrade gapline to read it")
    return dict(manifest)


def verify_campaign(folder: Path, manifest: dict[str, Any]) -> None:
    """Compare every file of a campaign directory with the digest that its manifest states for it."""
    stated = {MANIFEST: manifest["seal"]} if "seal" in manifest else {}
    # A name is looked up in this directory alone, whatever a manifest says.
    stated |= {Path(name).name: digest for name, digest in manifest.get("files", {}).items()}
    # Hashing lets go of the interpreter: as many threads as there are cores, each with a file of its own.
    with ThreadPoolExecutor(max_workers=thread_count()) as pool:
        found = dict(zip(stated, pool.map(lambda name: _found(folder, name, manifest), stated), strict=True))
    differing = [
        f"{name}: expected {stated[name]}, got {found[name]}" for name in stated if found[name] != stated[name]
    ]
    differing += [f"{name}: expected no such file, as {MANIFEST} lists none" for name in _unlisted(folder, stated)]
    if differing:
        raise IntegrityError(
            f"{folder}: " + "; ".join(differing),
            hint="it was changed after it was written; build it anew: gapline run STUDY, or gapline import",
        )


def _found(folder: Path, name: str, manifest: dict[str, Any]) -> str:
    if name == MANIFEST:
        return _seal(manifest)
    try:
        return file_digest(folder / name)
    except OSError:
        return "no file"


def _seal(manifest: dict[str, Any]) -> str:
    """Return the sha256 of what a manifest says, however it is laid out."""
    content = {name: value for name, value in manifest.items() if name != "seal"}
    return "sha256:" + hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _unlisted(folder: Path, listed: Collection[str]) -> list[str]:
    """Return the files in a campaign directory that would be read as its own and are not."""
    return sorted(path.name for path in folder.iterdir() if path.name in OUR_FILES - {MANIFEST, *listed})


def _map_column(path: Path) -> Any:
    try:
        # A file without entries cannot be mapped, and there is nothing to gain from it.
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        try:
            array = np.load(path, allow_pickle=False)
        except (ValueError, OSError, EOFError):
            raise TraceError(f"{path}: expected a NumPy column, got {error}") from error
    return array
