"""Leaves a process behind that has its own session, no environment and, if asked, the pipe."""

import os
import pathlib
import sys

print('{"objective": 10.0}', flush=True)
ready, tell = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.close(0)
        if "keep" not in sys.argv:
            os.close(1)
            os.close(2)
        pathlib.Path("daemon.pid").write_text(str(os.getpid()))
        os.write(tell, b"!")
        os.execve("/bin/sleep", ["sleep", "1000"], {})
    os._exit(0)
os.read(ready, 1)
