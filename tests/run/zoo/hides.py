"""Starts a process in a session of its own with an empty environment, then kills its supervisor, or the nursery too."""

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
victims = [supervisor]
if "nursery" in sys.argv:
    victims.insert(0, int(pathlib.Path(f"/proc/{supervisor}/stat").read_text().rpartition(") ")[2].split()[1]))
for process in victims:
    os.kill(process, signal.SIGKILL)
