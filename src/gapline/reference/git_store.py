"""A git repository as a versioned store: commits, trees and blobs, read without a checkout."""

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import IO
from urllib.parse import urlsplit, urlunsplit

from gapline.errors import EnvironmentLacksError, SnapshotError
from gapline.reference.freeze import refuse_earlier

# Objects that replace refs put in place of others, or that a network would bring, are not the store.
_SETTINGS = {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
# Set inside a hook or a rebase, these would point git at another repository than the one named.
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
        # The same values may have been known before they were committed, but nobody can show it.
        refuse_earlier(as_of, self.committed, f"commit {self.id[:12]}")
        return as_of


@dataclass(frozen=True, slots=True)
class Repository:
    """A git repository on this machine, bare or not; `prefix` is the folder inside it that the path points to."""

    path: Path
    prefix: str = ""

    def commit(self, revision: str) -> Commit:
        """Find the commit that a branch, tag or id names."""
        # A range or an option is no name of a commit, whatever git would make of it.
        if revision and not revision.startswith(("-", "^")) and ".." not in revision:
            found = self._run("rev-list", "-1", "--timestamp", "--end-of-options", f"{revision}^{{commit}}", "--")
            if found.returncode == 0 and (words := found.stdout.split()):
                committed = datetime.fromtimestamp(int(words[0]), UTC)
                return Commit(words[1].decode("ascii"), committed.isoformat().replace("+00:00", "Z"))
        known = self._git("for-each-ref", "--format=%(refname:short)", "--count=8").decode("utf-8", "replace").split()
        hint = f"there are: {', '.join(known)}" if known else None
        raise SnapshotError(f"{self.path}: expected a commit or tag, got {revision!r}", hint=hint)

    def blobs(self, commit: Commit) -> dict[str, str]:
        """Return path -> blob id of every file in a commit."""
        out = self._git("ls-tree", "-r", "-z", "--full-tree", commit.id)
        found = {}
        for line in out.split(b"\0"):
            if line:
                head, _, path = line.partition(b"\t")
                _, kind, blob = head.split(b" ")
                if kind == b"blob":
                    found[path.decode("utf-8", "backslashreplace")] = blob.decode("ascii")
        return found

    def read(self, blobs: Iterable[str]) -> Iterator[bytes | None]:
        """Yield the bytes of each blob in the order asked, None where the clone does not have it."""
        with self.objects() as objects:
            yield from objects.read(blobs)

    def url(self) -> str | None:
        """Return the web address of the origin without user names, or None: a path on this machine is no address."""
        found = self._run("config", "--get", "remote.origin.url").stdout.decode("utf-8", "replace").strip()
        parts = urlsplit(found)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            return None
        host = parts.hostname if parts.port is None else f"{parts.hostname}:{parts.port}"
        return urlunsplit((parts.scheme, host, parts.path.removesuffix(".git").rstrip("/"), "", ""))

    @contextmanager
    def objects(self) -> "Iterator[Objects]":
        """Hold one `git cat-file --batch` process."""
        process = subprocess.Popen(
            self._command("cat-file", "--batch"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            bufsize=1 << 20,
        )
        objects = Objects(process)
        try:
            yield objects
        finally:
            objects.close()

    def _git(self, *arguments: str) -> bytes:
        done = self._run(*arguments)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ")
            raise SnapshotError(f"{self.path}: expected a git repository, got: {said.splitlines()[0] if said else '?'}")
        return done.stdout

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(self._command(*arguments), capture_output=True, env=_environment(), check=False)

    def _command(self, *arguments: str) -> list[str]:
        return [_program(), "-C", str(self.path), *arguments]


def open_repository(path: Path) -> Repository:
    """Open a repository, refusing a path that is none."""
    if not path.is_dir():
        found = "a file" if path.exists() else "no such directory"
        raise SnapshotError(f"{path}: expected a git repository, got {found}")
    prefix = Repository(path)._git("rev-parse", "--show-prefix").decode("utf-8", "replace").strip().rstrip("/")
    return Repository(path, prefix)


class Objects:
    """A running `git cat-file --batch`."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._ask: IO[bytes] = process.stdin
        self._answer: IO[bytes] = process.stdout

    def read(self, blobs: Iterable[str]) -> Iterator[bytes | None]:
        """Yield the bytes of each blob in the order asked, None where the clone does not have it."""
        names = list(blobs)
        # Written from a thread: git blocks on a full output pipe before it has read all of a long list.
        writer = Thread(target=self._write, args=(names,), daemon=True)
        writer.start()
        for name in names:
            head = self._answer.readline().split()
            if not head:
                raise SnapshotError(f"git cat-file: expected an answer for {name}, got none")
            if len(head) != 3:
                # "<name> missing": no body follows.
                yield None
                continue
            size = int(head[2])
            data = self._answer.read(size + 1)
            if len(data) != size + 1:
                raise SnapshotError(f"git cat-file: expected {size} bytes of {name}, got {len(data)}")
            yield data[:-1]
        writer.join()

    def close(self) -> None:
        """End the process, whether or not everything asked for was read."""
        self._process.kill()
        self._process.wait()
        self._answer.close()
        with suppress(BrokenPipeError, ValueError):
            self._ask.close()

    def _write(self, names: list[str]) -> None:
        # The process ends before the list does where the reader stopped early.
        with suppress(BrokenPipeError, ValueError):
            self._ask.write("".join(f"{name}\n" for name in names).encode("ascii"))
            self._ask.flush()


def _program() -> str:
    program = shutil.which("git")
    if program is None:
        raise EnvironmentLacksError("git is not installed", hint="install git to freeze from a git repository")
    return program


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _FOREIGN} | _SETTINGS
