"""Finds two solutions, then ends as its argument says: an exit code or the name of a signal."""

import os
import signal
import sys

print('{"objective": 10.0}', flush=True)
print('{"objective": 9.0}', flush=True)
print("Traceback: the last words", file=sys.stderr, flush=True)
if sys.argv[1].isdigit():
    os._exit(int(sys.argv[1]))
os.kill(os.getpid(), signal.Signals[sys.argv[1]])
