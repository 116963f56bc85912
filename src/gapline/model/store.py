"""A campaign on disk: `runs.parquet`, one `.npy` per candidate column, `manifest.json` with digests."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl

from gapline.errors import IntegrityError, TraceError, listing
from gapline.model.campaign import OPTIONAL_COLUMNS, REQUIRED_COLUMNS, Campaign
from gapline.model.diagnostics import Diagnostics
from gapline.model.layout import MANIFEST
from gapline.model.tables import RunKey

SCHEMA = "gapline.campaign/1"
RUNS_FILE = "runs.parquet"


def write_atomically(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file under a temporary name and rename it, so that a killed writer leaves the old file whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def file_digest(path: Path) -> str:
    """Return the sha256 of a file's bytes."""
    with path.open("rb") as stream:
        return "sha256:" + hashlib.file_digest(stream, "sha256").hexdigest()


def save_campaign(campaign: Campaign, directory: Path, *, overwrite: bool = False) -> Path:
    """Write a campaign directory as a whole: it appears complete or not at all."""
    if directory.exists() and not overwrite and any(directory.iterdir()):
        raise TraceError(f"{directory}: expected a new or empty directory, got one with files in it")
    if directory.exists() and any(directory.iterdir()) and not (directory / MANIFEST).exists():
        raise TraceError(f"{directory}: expected a campaign to overwrite, got a directory without {MANIFEST}")
    whole = campaign.compact()
    directory.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=directory.parent, prefix=f".{directory.name}."))
    try:
        whole.runs.write_parquet(scratch / RUNS_FILE)
        for name, column in whole.columns.items():
            np.save(scratch / f"{name}.npy", np.ascontiguousarray(column), allow_pickle=False)
        files = sorted(path.name for path in scratch.iterdir())
        manifest = {
            "schema": SCHEMA,
            "runs": len(whole),
            "candidates": whole.candidates,
            "reasons": list(whole.reasons),
            "facts": dict(whole.facts),
            "diagnostics": asdict(whole.diagnostics),
            "interrupted": [list(key) for key in whole.interrupted],
            "digest": whole.digest(),
            "files": {name: file_digest(scratch / name) for name in files},
        }
        (scratch / MANIFEST).write_text(json.dumps(manifest, indent=1, ensure_ascii=False), encoding="utf-8")
        scratch.chmod(0o755)
        # Files that are not ours (references.json of an import) stay with the campaign that replaces the old one.
        if directory.exists():
            ours = {MANIFEST, RUNS_FILE} | {f"{name}.npy" for name in REQUIRED_COLUMNS | OPTIONAL_COLUMNS}
            for other in directory.iterdir():
                if other.name not in ours:
                    other.rename(scratch / other.name)
            old = Path(tempfile.mkdtemp(dir=directory.parent, prefix=f".{directory.name}.old."))
            directory.rename(old / "campaign")
            scratch.rename(directory)
            shutil.rmtree(old)
        else:
            scratch.rename(directory)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    return directory


def open_campaign(directory: str | Path) -> Campaign:
    """Open a campaign directory; the columns are memory-mapped, so that opening costs nothing."""
    folder = Path(directory)
    manifest = read_manifest(folder)
    try:
        runs = pl.read_parquet(folder / RUNS_FILE)
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


def verify_campaign(directory: str | Path) -> None:
    """Compare every file with the digest the manifest states for it."""
    folder = Path(directory)
    differing = []
    for name, stated in read_manifest(folder).get("files", {}).items():
        path = folder / Path(name).name
        found = file_digest(path) if path.exists() else "no file"
        if found != stated:
            differing.append(f"{name}: expected {stated}, got {found}")
    if differing:
        raise IntegrityError(f"{folder}: " + "; ".join(differing))


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
