"""Children that are another user, where the tests run as root: `nobody`, who may read what root may read."""

import ctypes
import os
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

NOBODY = 65534
# Of linux/prctl.h and linux/capability.h.
_KEEP_RIGHTS, _AMBIENT, _RAISE = 8, 47, 2
_READ_ANYTHING = 2
_VERSION_3 = 0x20080522


def can_change_user() -> bool:
    """Say whether these tests may start children as somebody else."""
    return os.geteuid() == 0


def become_nobody() -> None:
    """Give up everything that root may do but to read: the environment of the tests may lie in root's home."""
    libc = ctypes.CDLL(None, use_errno=True)
    # Not for files that are written: those are made by nobody, with the rights of nobody.
    for right in range(64):
        if right != _READ_ANYTHING:
            libc.prctl(24, right, 0, 0, 0)
    os.setgroups([])
    os.setgid(NOBODY)
    libc.prctl(_KEEP_RIGHTS, 1, 0, 0, 0)
    os.setuid(NOBODY)
    rights = 1 << _READ_ANYTHING
    header, data = struct.pack("Ii", _VERSION_3, 0), struct.pack("6I", rights, rights, rights, 0, 0, 0)
    if libc.capset(header, data) != 0 or libc.prctl(_AMBIENT, _RAISE, _READ_ANYTHING, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the right to read")


def gapline(
    *arguments: object, folder: Path, nobody: bool = False, cores: Sequence[int] = (), **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Run a command in a process of its own, as nobody or on some cores alone."""

    def prepare() -> None:
        if cores:
            os.sched_setaffinity(0, cores)
        if nobody:
            become_nobody()

    code = "import sys; from gapline.cli.app import run; sys.exit(run(sys.argv[1:]))"
    own = {"HOME": "/nonexistent", "USER": "nobody", "LOGNAME": "nobody"} if nobody else {}
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=folder,
        env=os.environ | own | environment,
        preexec_fn=prepare,
        capture_output=True,
        text=True,
        check=False,
    )
