"""A family of processes, each of which forks again, and none of which stops."""

import os
import signal
import time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
print('{"objective": 10.0}', flush=True)
for _ in range(4):
    os.fork()
    os.setsid() if os.getpid() != os.getpgrp() else None
while True:
    if os.fork() == 0:
        time.sleep(0.01)
        os._exit(0)
    os.wait()
