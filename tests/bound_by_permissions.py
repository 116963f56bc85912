"""Children that permissions bind, also where the tests run as root."""

import ctypes
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

from patience import PATIENCE

_DROP_FROM_BOUNDING_SET = 24
_OVERRIDE_PERMISSIONS = (1, 2)
COMMAND = "import sys; from gapline.cli.app import run; sys.exit(run(sys.argv[1:]))"


def bind() -> None:
    """Give up the right to pass permissions by, which root has, from the next `exec` on."""
    libc = ctypes.CDLL(None, use_errno=True)
    for right in _OVERRIDE_PERMISSIONS:
        if os.geteuid() == 0 and libc.prctl(_DROP_FROM_BOUNDING_SET, right, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


def gapline(*arguments, folder, largest=None, **environment):
    """Run a command in a process of its own; `largest` bounds the bytes of any file that it writes."""

    def prepare():
        bind()
        if largest is not None:
            # Otherwise the signal ends the process where a write would fail.
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))

    command = [sys.executable, "-c", COMMAND, *map(str, arguments)]
    given = os.environ | {name: str(value) for name, value in environment.items()}
    kept = {"text": True, "capture_output": True, "timeout": PATIENCE}
    return subprocess.run(command, cwd=folder, env=given, preexec_fn=prepare, check=False, **kept)


def set_writable(folder: Path, *, writable: bool) -> None:
    """Allow or forbid writing to a folder and those inside it."""
    for place in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        place.chmod(0o755 if writable else 0o555)
