"""A git repository as a versioned store: commits, trees and blobs, read without a checkout."""

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import IO
from urllib.parse import urlsplit, urlunsplit

from gapline.errors import EnvironmentLacksError, SnapshotError

# Objects that differ from what their name says (replace refs) or that would be fetched from a network are not the store.
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
        wanted = list(blobs)
        with self.objects() as read:
            for _, kind, stream, size in read(wanted):
                yield stream.read(size) if kind == "blob" else None

    def url(self) -> str | None:
        """Return the web address of the origin without user names, or None: a path on this machine is no address."""
        found = self._run("config", "--get", "remote.origin.url").stdout.decode("utf-8", "replace").strip()
        parts = urlsplit(found)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            return None
        host = parts.hostname if parts.port is None else f"{parts.hostname}:{parts.port}"
        return urlunsplit((parts.scheme, host, parts.path.removesuffix(".git").rstrip("/"), "", ""))

    @contextmanager
    def objects(self) -> "Iterator[_Read]":
        """Hold one `git cat-file --batch` process."""
        process = subprocess.Popen(
            self._command("cat-file", "--batch"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            bufsize=1 << 20,
        )
        reader = _Read(process)
        try:
            yield reader
        finally:
            process.stdout.close()  # type: ignore[union-attr]
            process.kill()
            process.wait()
            reader.join()

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


class _Read:
    """Ask for objects and get (id, kind, stream, size); the caller reads `size` bytes before the next one."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._writer: Thread | None = None

    def __call__(self, names: list[str]) -> "Iterator[tuple[str, str, IO[bytes], int]]":
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        stream = self._process.stdout
        # Written from a thread: git blocks on a full output pipe before it has read all of a long list.
        self._writer = Thread(target=_write_names, args=(self._process.stdin, names), daemon=True)
        self._writer.start()
        for name in names:
            head = stream.readline().rstrip(b"\n").rsplit(b" ", 2)
            if len(head) != 3 or not head[2].isdigit():
                # "<name> missing" or "<name> ambiguous": no body follows.
                if not head[0]:
                    raise SnapshotError(f"git cat-file: expected an answer for {name}, got none")
                yield name, "missing", stream, 0
                continue
            yield head[0].decode("ascii"), head[1].decode("ascii"), stream, int(head[2])
            stream.read(1)

    def join(self) -> None:
        """Wait for the writer, which ends with the process."""
        if self._writer is not None:
            self._writer.join()


def _write_names(stream: IO[bytes], names: list[str]) -> None:
    try:
        stream.write("".join(f"{name}\n" for name in names if "\n" not in name).encode("utf-8", "surrogateescape"))
        stream.close()
    except (BrokenPipeError, ValueError):
        # The reader has what it wanted and ended the process.
        return


def _program() -> str:
    program = shutil.which("git")
    if program is None:
        raise EnvironmentLacksError("git is not installed", hint="install git to freeze from a git repository")
    return program


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _FOREIGN} | _SETTINGS
