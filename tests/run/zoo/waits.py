"""Reports a solution and who it is, then waits for the file `go` in the study, or for ever."""

import os
import pathlib
import time

print('{"objective": 10.0}', flush=True)
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
pathlib.Path(f"alive-{os.getpid()}").touch()
while not pathlib.Path("go").exists():
    time.sleep(0.01)
