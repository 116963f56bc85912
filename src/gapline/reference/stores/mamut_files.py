"""The files of a MAMUT-routing repository at one commit, read from its blobs: what a new study is laid out from."""

import posixpath
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gapline.reference.git_store import Repository, open_revision
from gapline.reference.stores.mamut import families, find_family
from gapline.reference.submodules import follow_submodules


@dataclass(frozen=True, slots=True)
class MamutFiles:
    """Every file of a commit and of the submodules it mounts; `root` is the folder of the family that is meant.

    `source` names the same commit as `freeze` takes it: whatever a branch does meanwhile, both read one version.
    """

    repository: Repository
    blobs: Mapping[str, str]
    root: str
    commit: str
    source: str

    @property
    def paths(self) -> Collection[str]:
        """The path of every file from the root of the repository."""
        return self.blobs.keys()

    def read(self, paths: Sequence[str]) -> Iterator[bytes | None]:
        """Yield the bytes of each file, None where the clone does not have them."""
        return self.repository.read(self.blobs[path] for path in paths)

    def sizes(self, paths: Sequence[str]) -> Iterator[int | None]:
        """Yield the number of bytes of each file, None where the clone does not have them."""
        return self.repository.sizes(self.blobs[path] for path in paths)


def open_mamut(location: str, *, family: str | None = None, clones: str | None = None) -> MamutFiles:
    """Open `PATH@COMMIT`: one family, or all of them under the folder that they share where none is named."""
    repository, commit, where = open_revision(location)
    mounts = follow_submodules(repository, commit, None if clones is None else Path(clones))
    blobs = repository.blobs(commit) | mounts.paths
    wanted = family or repository.prefix or None
    if wanted is None and len(found := families(blobs)) > 1:
        wanted = posixpath.commonpath(found) or "."
    return MamutFiles(
        repository=mounts.repository,
        blobs=blobs,
        root=find_family(blobs, wanted, where=where, unread=mounts.notes),
        commit=commit.id,
        source=f"mamut:{where.rpartition('@')[0]}@{commit.id}",
    )
