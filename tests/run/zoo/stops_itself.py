"""Stops itself, so that it cannot handle a signal."""

import os
import signal

print('{"objective": 10.0}', flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
