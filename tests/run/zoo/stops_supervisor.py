"""Stops its supervisor: once, or over and over, then waits for ever."""

import os
import pathlib
import signal
import sys
import time

print('{"objective": 10.0}', flush=True)
os.kill(os.getppid(), signal.SIGSTOP)
while sys.argv[1] == "always":
    os.kill(os.getppid(), signal.SIGSTOP)
    time.sleep(0.001)
# Until it was woken: what is printed then is read.
while "\nState:\tT" in pathlib.Path(f"/proc/{os.getppid()}/status").read_text():
    time.sleep(0.01)
print('{"objective": 9.0}', flush=True)
