"""Submodules of a git store: an umbrella repository mounts others at a commit each; their clones hold the objects."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gapline.errors import UsageError, found_at, listing
from gapline.reference.git_store import Commit, Repository

_SSH = re.compile(r"^(?:ssh://)?git@([^:/]+)[:/](.+)$")


@dataclass(frozen=True, slots=True)
class Mount:
    """A submodule that was followed: where it is mounted, at which commit, and where it comes from."""

    path: str
    commit: Commit
    url: str | None

    def document(self) -> dict[str, Any]:
        """Return the store of a value that comes from here."""
        store = {"name": f"mamut:{self.path.rpartition('/')[2]}", "version": self.commit.id, "url": self.url}
        return store | ({"swhid": self.commit.swhid} if self.commit.swhid else {})


@dataclass(frozen=True, slots=True)
class Mounts:
    """The submodules that were followed, a repository that reads their objects too, and their files by path."""

    repository: Repository
    mounted: tuple[Mount, ...]
    paths: dict[str, str]
    notes: tuple[str, ...]

    def holding(self, path: str) -> Mount | None:
        """Return the submodule in which a file lies."""
        return next((mount for mount in self.mounted if path.startswith(f"{mount.path}/")), None)


def follow_submodules(repository: Repository, commit: Commit, clones: Path | None) -> Mounts:
    """Follow the submodules of a commit to clones that have the commit each is mounted at.

    Looked for in the folder of clones, by the name of the submodule's repository or by its path, and where the store
    itself has them checked out. What is not found is named in a note.
    """
    if clones is not None and not clones.is_dir():
        raise UsageError(f"{clones}: expected a folder of clones, got {found_at(clones)}")
    links, urls = repository.links(commit), repository.submodule_urls(commit)
    found, lacking = {}, []
    for path, commit_id in links.items():
        clone = next((one for one in _clones(repository, clones, path, urls.get(path)) if one.has(commit_id)), None)
        if clone is None:
            lacking.append(f"{path} at {commit_id[:12]}")
        else:
            found[path] = clone
    wide = replace(repository, alternates=tuple(sorted({clone.objects() for clone in found.values()})))
    mounted = tuple(
        Mount(path, wide.commit(links[path]), clone.url() or _web_address(urls.get(path)))
        for path, clone in found.items()
    )
    paths = {f"{one.path}/{path}": blob for one in mounted for path, blob in wide.blobs(one.commit).items()}
    note = f"submodules without a clone that has their commit, so not read: {len(lacking)} ({listing(lacking)})"
    return Mounts(wide, mounted, paths, (note,) if lacking else ())


def _clones(repository: Repository, clones: Path | None, path: str, url: str | None) -> Iterator[Repository]:
    places = [repository.path / path]
    if clones is not None:
        names = [path, path.rpartition("/")[2]]
        if url:
            last = url.rstrip("/").rpartition("/")[2]
            names = [last.removesuffix(".git"), last, *names]
        places = [*(clones / name for name in names), *places]
    # A folder that is no clone of its own belongs to the repository around it, which does not have the commit.
    return (Repository(place) for place in places if place.is_dir())


def _web_address(url: str | None) -> str | None:
    """Return an address that a reader can open.

    >>> _web_address("git@github.com:someone/some-store.git")
    'https://github.com/someone/some-store'
    """
    if url is None:
        return None
    if match := _SSH.match(url):
        url = f"https://{match[1]}/{match[2]}"
    return url.removesuffix(".git") if url.startswith("https://") else None
