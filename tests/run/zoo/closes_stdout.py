"""Closes its output and runs on until a limit."""

import os
import signal

print('{"objective": 10.0}', flush=True)
os.close(1)
os.close(2)
signal.pause()
