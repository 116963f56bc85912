"""A git repository as a versioned store, submodules included, read without a checkout."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from gapline.errors import EnvironmentLacksError, SnapshotError, UsageError, found_at, listing
from gapline.references.freeze import refuse_earlier

# Objects from replace refs or from the network are not part of the store.
_SETTINGS = {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
# Set inside a hook or a rebase, these would point git to another repository than the one named.
_FOREIGN = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES")


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit: its id and the moment it was committed, in UTC."""

    id: str
    committed: str

    @property
    def swhid(self) -> str | None:
        """The Software Heritage identifier of the revision; defined for SHA-1 repositories."""
        return f"swh:1:rev:{self.id}" if len(self.id) == 40 else None

    def known_at(self, as_of: str | None) -> str:
        """Return when the content was known: the date of the commit, or a declared one that is not before it."""
        if as_of is None:
            return self.committed
        # The values may have been known before the commit, but there is no evidence of it.
        refuse_earlier(as_of, self.committed, f"commit {self.id[:12]}")
        return as_of


class FileChange(NamedTuple):
    """The change of one file in a commit: its blob afterwards (None if deleted), author and subject."""

    commit: Commit
    author: str
    subject: str
    path: str
    blob: str | None


@dataclass(frozen=True, slots=True)
class Repository:
    """A git repository on this machine, bare or not; `prefix` is the folder inside it that the path points to.

    Objects are also searched in `alternates`, the object folders of other clones.
    """

    path: Path
    prefix: str = ""
    alternates: tuple[str, ...] = ()

    def commit(self, revision: str) -> Commit:
        """Return the commit of a branch, tag or id."""
        # A range or an option is no name of a commit, even if git would accept it.
        if revision and not revision.startswith(("-", "^")) and ".." not in revision:
            found, _, code = self._run(
                "rev-list", "-1", "--timestamp", "--end-of-options", f"{revision}^{{commit}}", "--"
            )
            if code == 0 and (words := found.split()):
                committed = datetime.fromtimestamp(int(words[0]), UTC)
                return Commit(words[1].decode("ascii"), committed.isoformat().replace("+00:00", "Z"))
        known = self._git("for-each-ref", "--format=%(refname:short)", "--count=8").decode("utf-8", "replace").split()
        hint = f"there are: {', '.join(known)}" if known else None
        raise SnapshotError(f"{self.path}: expected a commit or tag, got {revision!r}", hint=hint)

    def blobs(self, commit: Commit, *, wanted: str = "blob") -> dict[str, str]:
        """Return path -> blob id of every file in a commit, or path -> commit id of every submodule (`commit`)."""
        out = self._git("ls-tree", "-r", "-z", "--full-tree", commit.id)
        found = {}
        for line in out.split(b"\0"):
            if line:
                head, _, path = line.partition(b"\t")
                _, kind, object_id = head.decode("ascii").split(" ")
                if kind == wanted:
                    found[path.decode("utf-8", "backslashreplace")] = object_id
        return found

    def submodule_urls(self, commit: Commit) -> dict[str, str]:
        """Return path -> URL of the submodules, as `.gitmodules` of a commit states them."""
        blob = f"--blob={commit.id}:.gitmodules"
        stated: dict[str, dict[str, str]] = {}
        for line in self._run("config", blob, "-z", "--get-regexp", r"^submodule\.")[0].split(b"\0"):
            key, _, value = line.decode("utf-8", "replace").partition("\n")
            name, _, field = key.rpartition(".")
            stated.setdefault(name, {})[field] = value
        return {one["path"]: one["url"] for one in stated.values() if {"path", "url"} <= one.keys()}

    def has(self, commit_id: str) -> bool:
        """Return whether a commit is in this clone."""
        return self._run("cat-file", "-e", f"{commit_id}^{{commit}}")[2] == 0

    def objects(self) -> str:
        """Return the folder of the objects."""
        place = self._git("rev-parse", "--git-path", "objects").decode("utf-8", "surrogateescape").rstrip("\n")
        return str((self.path / place).resolve())

    def changes(self, revisions: Iterable[str], pattern: str) -> Iterator[FileChange]:
        """Yield the changes of files that match a pattern in the history of some commits, newest first."""
        layout = "--format=tformat:%x01%H%x01%ct%x01%an%x01%s"
        options = ("--raw", "-z", "--no-renames", "--no-abbrev", "--date-order", layout, "--end-of-options")
        out = self._git("log", *options, *revisions, "--", pattern).split(b"\0")
        words = iter(out)
        for word in words:
            text = word.decode("utf-8", "replace").lstrip("\n")
            if text.startswith("\x01"):
                _, name, stamp, author, subject = text.split("\x01", 4)
                committed = datetime.fromtimestamp(int(stamp), UTC).isoformat().replace("+00:00", "Z")
                commit = Commit(name, committed)
            elif text.startswith(":"):
                blob, status = text.split(" ")[3:5]
                path = next(words).decode("utf-8", "backslashreplace")
                yield FileChange(commit, author, subject, path, None if status == "D" else blob)

    def read(self, blobs: Iterable[str]) -> Iterator[bytes | None]:
        """Yield the bytes of each blob in the given order, None if the clone does not have it."""
        for name, size, answer in self._asked("--batch", blobs):
            if size is None:
                yield None
                continue
            data = answer.read(size)
            if len(data) != size or answer.read(1) != b"\n":
                raise SnapshotError(f"git cat-file: expected {size} bytes of {name}, got {len(data)}")
            yield data

    def sizes(self, blobs: Iterable[str]) -> Iterator[int | None]:
        """Yield the size in bytes of each blob in the given order, None if the clone does not have it."""
        return (size for _, size, _ in self._asked("--batch-check", blobs))

    def _asked(self, how: str, blobs: Iterable[str]) -> Iterator[tuple[str, int | None, IO[bytes]]]:
        """Yield each blob with its size, None if it is missing, and the stream from which its bytes can be read."""
        with TemporaryFile() as asked:
            # From a file: with a pipe, git would block on a full output before it has read all of a long list.
            names = list(blobs)
            asked.write("".join(f"{name}\n" for name in names).encode("ascii"))
            asked.seek(0)
            process = self._start("cat-file", how, stdin=asked, stderr=subprocess.DEVNULL)
            with process, process.stdout as answer:  # type: ignore[union-attr]
                for name in names:
                    head = answer.readline().split()
                    if not head:
                        raise SnapshotError(f"git cat-file: expected an answer for {name}, got none")
                    # "<name> missing": no body follows.
                    yield name, int(head[2]) if len(head) == 3 else None, answer

    def url(self) -> str | None:
        """Return the web address of the origin without user names, None for a path on this machine."""
        found = self._run("config", "--get", "remote.origin.url")[0].decode("utf-8", "replace").strip()
        parts = urlsplit(found)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            return None
        host = parts.hostname if parts.port is None else f"{parts.hostname}:{parts.port}"
        return urlunsplit((parts.scheme, host, parts.path.removesuffix(".git").rstrip("/"), "", ""))

    def _git(self, *arguments: str) -> bytes:
        out, err, code = self._run(*arguments)
        if code:
            said = err.decode("utf-8", "replace").strip().removeprefix("fatal: ")
            raise SnapshotError(f"{self.path}: expected a git repository, got: {said.splitlines()[0] if said else '?'}")
        return out

    def _run(self, *arguments: str) -> tuple[bytes, bytes, int]:
        with self._start(*arguments, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            return *process.communicate(), process.returncode

    def _start(self, *arguments: str, **streams: Any) -> "subprocess.Popen[bytes]":
        program = shutil.which("git")
        if program is None:
            raise EnvironmentLacksError("git is not installed", hint="install git to freeze from a git repository")
        settings = {name: value for name, value in os.environ.items() if name not in _FOREIGN} | _SETTINGS
        if self.alternates:
            # Quoted, because a folder name may contain the separator.
            settings["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = os.pathsep.join(map(json.dumps, self.alternates))
        command = [program, "-C", str(self.path), *arguments]
        return subprocess.Popen(command, stdout=subprocess.PIPE, env=settings, bufsize=1 << 20, **streams)


def open_revision(location: str) -> tuple[Repository, Commit, str]:
    """Open `PATH@REVISION`, or the newest commit of `PATH`; also return the location as text."""
    # A path may contain an @ itself: then nothing is cut off, and the newest commit is meant.
    where, _, revision = location.rpartition("@")
    if not where or (Path(location).is_dir() and not Path(where).is_dir()):
        where, revision = location, "HEAD"
    path = Path(where)
    if not path.is_dir():
        found = "a file" if path.exists() else "no such directory"
        raise SnapshotError(f"{path}: expected a git repository, got {found}")
    prefix = Repository(path)._git("rev-parse", "--show-prefix").decode("utf-8", "replace").strip().rstrip("/")
    repository = Repository(path, prefix)
    return repository, repository.commit(revision), f"{where}@{revision}"


_SSH = re.compile(r"^(?:ssh://)?git@([^:/]+)[:/](.+)$")


@dataclass(frozen=True, slots=True)
class Mount:
    """A submodule that was found in a clone: its path, its commit and its URL."""

    path: str
    commit: Commit
    url: str | None

    def document(self) -> dict[str, Any]:
        """Return the store of a value in this submodule."""
        store = {"name": f"mamut:{self.path.rpartition('/')[2]}", "version": self.commit.id, "url": self.url}
        return store | ({"swhid": self.commit.swhid} if self.commit.swhid else {})


@dataclass(frozen=True, slots=True)
class Mounts:
    """The submodules found in clones, a repository that can read their objects, and their files by path."""

    repository: Repository
    mounted: tuple[Mount, ...]
    paths: dict[str, str]
    notes: tuple[str, ...]

    def holding(self, path: str) -> Mount | None:
        """Return the submodule in which a file lies."""
        return next((mount for mount in self.mounted if path.startswith(f"{mount.path}/")), None)


def follow_submodules(repository: Repository, commit: Commit, clones: Path | None) -> Mounts:
    """Find, for each submodule of a commit, a clone that has the commit it is mounted at.

    Clones are searched in the folder of clones, by the name of the submodule's repository or by its path, and where the
    store itself has them checked out. A note names the submodules without a clone.
    """
    if clones is not None and not clones.is_dir():
        raise UsageError(f"{clones}: expected a folder of clones, got {found_at(clones)}")
    links, urls = repository.blobs(commit, wanted="commit"), repository.submodule_urls(commit)
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
    # A folder that is not a repository belongs to the one around it, which does not have the commit.
    return (Repository(place) for place in places if place.is_dir())


def _web_address(url: str | None) -> str | None:
    """Return a URL that a browser can open, None if there is none.

    >>> _web_address("git@github.com:someone/some-store.git")
    'https://github.com/someone/some-store'
    """
    if url is None:
        return None
    if match := _SSH.match(url):
        url = f"https://{match[1]}/{match[2]}"
    return url.removesuffix(".git") if url.startswith("https://") else None
