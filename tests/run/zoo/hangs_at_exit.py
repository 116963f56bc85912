"""Finds a solution, then hangs in its exit handler."""

import atexit
import threading

atexit.register(threading.Event().wait)
print('{"objective": 10.0}', flush=True)
