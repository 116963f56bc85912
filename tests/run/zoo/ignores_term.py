"""Does not stop at its horizon, nor when told to."""

import signal
import sys

signal.signal(signal.SIGTERM, signal.SIG_IGN)
print('{"objective": 10.0}', flush=True)
while True:
    sys.stdin.read()
