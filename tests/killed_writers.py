"""A writer that is killed just before its N-th change of the file system, in a process of its own for each N.

Python and gapline are loaded once, by a process that does nothing but fork: the children start with what it loaded.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

KILLED = 9
# The code of a writer imports what it needs and defines `prepare(place)`, whose result is called once changes count.
_FORKS = """
import os, sys
from pathlib import Path

place = Path(sys.argv[1])
CHANGES = {"os.link", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod", "open"}

def die_before(left):
    def hook(event, arguments):
        nonlocal left
        if event in CHANGES and str(arguments[0]).startswith(str(place.parent)):
            left -= 1
            if left < 0:
                os._exit(%d)
    sys.addaudithook(hook)

%s

# Nothing is computed before the fork: Polars would begin its threads, which the children would wait for.
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        write = prepare(place)
        die_before(int(line))
        write()
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@contextmanager
def writers(code: str, place: Path) -> Iterator[Callable[[int], bool]]:
    """Give a function that starts a writer, has it killed before so many changes, and says whether it was."""
    server = subprocess.Popen(
        [sys.executable, "-c", _FORKS % (KILLED, code), str(place)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )

    def killed_before(change: int) -> bool:
        server.stdin.write(f"{change}\n")
        server.stdin.flush()
        ended = int(server.stdout.readline())
        assert ended in (0, KILLED)
        return ended == KILLED

    with server:
        yield killed_before
        server.stdin.close()
