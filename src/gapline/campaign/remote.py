"""Sources on object stores (`s3://bucket/campaign` and any other URL that fsspec supports): downloaded and verified.

The manifest is downloaded first, then the files that it lists, in parallel; the digest of each file is verified. Copies
are kept in a scratch directory until the process ends.
"""

import atexit
import errno
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from gapline.campaign.store import OUR_FILES, check_manifest, file_digest, manifest_parts, read_manifest
from gapline.contract.layout import CARRIED_REFERENCES, MANIFEST
from gapline.errors import EnvironmentLacksError, GaplineError, IntegrityError, TraceError, listing
from gapline.files.archives import naming_archive
from gapline.files.scratch_arrays import scratch_place

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
# Parallel downloads: a store answers a single request slowly, but many at the same time.
_AT_ONCE = 8
# A campaign may be replaced during the download; it is then downloaded again, but not endlessly.
_TRIES = 3
_HOW = {
    "s3": "credentials are taken from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile or the machine's role",
}


@dataclass(frozen=True, slots=True)
class _Store:
    """An fsspec file system, a path in it, and the URL of that path."""

    files: Any
    root: str
    url: str

    def below(self, name: str) -> "_Store":
        return _Store(self.files, f"{self.root.rstrip('/')}/{name}", f"{self.url.rstrip('/')}/{name}")


# Downloads of this process: the path of the copy of each URL, and a mark that identifies its content.
_copies: dict[str, tuple[Path, object]] = {}
_places: list[tuple[int, Path]] = []


def is_url(source: object) -> bool:
    """Say whether a source is named by a URL.

    >>> is_url("s3://bucket/campaign"), is_url("csv:refs.txt"), is_url("mamut:https://example.org/x@1")
    (True, False, False)
    """
    return isinstance(source, str) and _URL.match(source) is not None


def local_path(source: str | Path) -> Path:
    """Return the local path of a source; a URL is downloaded first."""
    return fetch(source) if isinstance(source, str) and is_url(source) else Path(source)


def url_of(folder: Path) -> str | None:
    """Return the URL that a directory was downloaded from; None for any other directory."""
    return next((url for url, (copy, _) in _copies.items() if copy == folder), None)


def matching_urls(url: str) -> list[str]:
    """Return the sorted URLs that match a pattern such as `s3://bucket/traces/*.csv`; a URL without a star as it is."""
    if "*" not in url:
        return [url]
    store = _open(url)
    found = _asked(store, lambda: sorted(store.files.glob(store.root)))
    if not found:
        raise TraceError(f"{url}: expected objects that match, got none")
    return [str(store.files.unstrip_protocol(path)) for path in found]


def fetch(url: str) -> Path:
    """Download a campaign directory or a single file and return the path of the copy."""
    store = _open(url)
    # If the store cannot be reached, this may be False; the next request then reports why.
    if store.files.isfile(store.root):
        return _fetch_file(store)
    return fetch_campaign(url)


def _fetch_file(store: _Store) -> Path:
    mark = _asked(store, lambda: store.files.ukey(store.root))
    if (known := _known(store.url, mark)) is not None:
        return known
    place = _new_place()
    target = place / (PurePosixPath(store.root).name or "source")
    try:
        _get(store, target)
        size = _asked(store, lambda: store.files.info(store.root)).get("size")
        if size is not None and size != target.stat().st_size:
            raise TraceError(f"{store.url}: expected {size:,} bytes, got {target.stat().st_size:,}")
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    _copies[store.url] = (target, mark)
    return target


def fetch_campaign(url: str) -> Path:
    """Download a campaign directory and return the path of the copy.

    Raises
    ------
    TraceError
        When there is no campaign at the URL, or one of its objects is missing.
    IntegrityError
        When an object does not match the manifest, because it is truncated or was changed.
    EnvironmentLacksError
        When a package or credentials are missing, or the store does not answer.
    """
    store = _open(url)
    for left in reversed(range(_TRIES)):
        place = _new_place()
        folder = place / (PurePosixPath(store.root).name or "campaign")
        try:
            folder.mkdir()
            _get(store.below(MANIFEST), folder / MANIFEST, missing=_no_campaign(store))
            stated = (folder / MANIFEST).read_bytes()
            if (known := _known(url, stated)) is not None:
                shutil.rmtree(place, ignore_errors=True)
                return known
            _fetch_listed(store, folder)
        except BaseException as error:
            # The campaign may have been replaced during the download.
            replaced = left and isinstance(error, IntegrityError | TraceError) and _was_replaced(store, folder)
            shutil.rmtree(place, ignore_errors=True)
            if replaced:
                continue
            raise
        _copies[url] = (folder, stated)
        return folder
    raise AssertionError("the last try ends by itself")


def _fetch_listed(store: _Store, folder: Path) -> None:
    """Download what the manifest of a folder lists: its files, or its parts and their files."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        try:
            with naming_archive(folder, store.url):
                manifest = read_manifest(folder)
                parts = manifest_parts(folder, manifest) if "parts" in manifest else None
            if parts is None:
                jobs = [*_files_of(store, folder)]
            else:
                heads = [(store.below(name), folder / name, part.seal) for name, part in sorted(parts.items())]
                jobs = [job for found in pool.map(lambda head: _part(*head), heads) for job in found]
            for _ in pool.map(lambda job: _get_verified(*job), jobs):
                pass
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    carried = store.below(CARRIED_REFERENCES)
    if _asked(carried, lambda: carried.files.exists(carried.root)):
        _get(carried, folder / CARRIED_REFERENCES)


def _part(store: _Store, folder: Path, seal: str) -> Iterable[tuple[_Store, Path, str]]:
    """Download the manifest of a part and return the files that it lists."""
    folder.mkdir()
    _get(store.below(MANIFEST), folder / MANIFEST)
    with naming_archive(folder, store.url):
        found = read_manifest(folder).get("seal")
    if found != seal:
        raise IntegrityError(f"{store.url}: expected the part with the seal {seal}, got {found}")
    return _files_of(store, folder)


def _files_of(store: _Store, folder: Path) -> Iterable[tuple[_Store, Path, str]]:
    with naming_archive(folder, store.url):
        files = check_manifest(folder, read_manifest(folder)).files
    if strange := sorted(set(files) - OUR_FILES):
        raise IntegrityError(f"{store.below(MANIFEST).url}: expected files of a campaign, got {listing(strange)}")
    return [(store.below(name), folder / name, digest) for name, digest in files.items()]


def _get_verified(store: _Store, target: Path, digest: str) -> None:
    _get(store, target)
    found = file_digest(target)
    if found != digest:
        raise IntegrityError(
            f"{store.url}: expected {digest}, got {found} of {target.stat().st_size:,} bytes",
            hint="the object is truncated or was changed after the campaign was written; upload it anew",
        )


def _get(store: _Store, target: Path, *, missing: GaplineError | None = None) -> None:
    """Download one object, in pieces."""
    _asked(store, lambda: store.files.get_file(store.root, str(target)), missing=missing)


def _no_campaign(store: _Store) -> TraceError:
    return TraceError(f"{store.url}: expected a campaign directory ({MANIFEST}) or a file, got no such object")


def _was_replaced(store: _Store, folder: Path) -> bool:
    known = folder / MANIFEST
    head = store.below(MANIFEST)
    try:
        return known.is_file() and bytes(head.files.cat_file(head.root)) != known.read_bytes()
    # The first error is the one to report.
    except Exception:
        return False


def _open(url: str) -> _Store:
    """Return the file system of a URL; if an extra is missing, the error names it."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise EnvironmentLacksError(f"{url}: fsspec is not installed", hint="pip install 'gapline[cloud]'") from None
    scheme = url.partition("://")[0]
    try:
        files, root = url_to_fs(url)
    except ImportError as error:
        raise EnvironmentLacksError(
            f"{url}: expected a package for {scheme}://, got none: {_first_line(error)}",
            hint="pip install 'gapline[cloud]'" if scheme in ("s3", "s3a") else f"what fsspec needs for {scheme}://",
        ) from None
    except ValueError as error:
        raise TraceError(f"{url}: expected a URL that fsspec knows, got {_first_line(error)}") from None
    # fsspec caches listings, which may be out of date.
    files.invalidate_cache()
    return _Store(files, root, url)


def _asked(store: _Store, ask: Callable[[], Any], *, missing: GaplineError | None = None) -> Any:
    """Call a function that queries a store; turn every exception of its library into a one-line gapline error."""
    try:
        return ask()
    except FileNotFoundError as error:
        raise missing or TraceError(f"{store.url}: expected an object, got none: {_first_line(error)}") from None
    except PermissionError as error:
        raise _not_let_in(store, error) from None
    # The libraries of stores have their own exceptions, with no common base class.
    except Exception as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        if "credential" in f"{type(error).__name__} {error}".lower():
            raise _not_let_in(store, error) from None
        raise EnvironmentLacksError(
            f"{store.url}: expected an answer of the store, got {type(error).__name__}: {_first_line(error)}"
        ) from error


def _not_let_in(store: _Store, error: Exception) -> EnvironmentLacksError:
    hint = _HOW.get(store.url.partition("://")[0])
    return EnvironmentLacksError(f"{store.url}: expected to be let in, got {_first_line(error)}", hint=hint)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _known(key: str, mark: object) -> Path | None:
    """Return an earlier copy if the mark of its source is unchanged and the copy still exists."""
    path, was = _copies.get(key, (None, None))
    return path if path is not None and was == mark and path.exists() else None


def _new_place() -> Path:
    if not _places:
        atexit.register(_remove_places)
    place = Path(tempfile.mkdtemp(prefix="gapline-", dir=scratch_place()))
    _places.append((os.getpid(), place))
    return place


def _remove_places() -> None:
    for process, place in _places:
        # A forked child inherits this list, but the copies belong to its parent.
        if process == os.getpid():
            shutil.rmtree(place, ignore_errors=True)
