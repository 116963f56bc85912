"""Starts a process in a session of its own and with an empty environment, then kills its supervisor."""

import os
import pathlib
import signal
import sys
import time

CODE = """
import os, pathlib, time
pathlib.Path(f"alive-{os.getpid()}").touch()
time.sleep(1000)
"""

print('{"objective": 10.0}', flush=True)
supervisor = os.getppid()
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    os.execve(sys.executable, ["innocent", "-S", "-E", "-c", CODE], {})
while not list(pathlib.Path().glob("alive-*")):
    time.sleep(0.01)
for process in [supervisor, *map(int, sys.argv[1:])]:
    os.kill(process, signal.SIGKILL)
