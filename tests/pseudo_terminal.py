"""A program on a pseudo-terminal of a given width: what it writes there, colours and all."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

SETTINGS = ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "TERM")


def on_terminal(code, *arguments, columns=80, cwd=None, streams=("stdout", "stderr"), **environment):
    """Run Python code whose `streams` are the terminal; return what it showed there, and its standard output else."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    taken = {name: theirs if name in streams else subprocess.PIPE for name in ("stdout", "stderr")}
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], cwd=cwd, env=kept | {"TERM": "xterm"} | environment, **taken
    )
    os.close(theirs)
    seen = b""
    # A terminal whose other end is closed ends with an error on Linux, with nothing elsewhere.
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
    out, _ = process.communicate()
    os.close(ours)
    assert process.returncode == 0, seen.decode()
    return seen.decode(), (out or b"").decode()
