"""Puts 200 MB into a file on /dev/shm that it does not map, and stays for a while."""

import os
import time

path = f"/dev/shm/gapline-test-{os.getpid()}"
print('{"objective": 10.0}', flush=True)
try:
    with open(path, "wb") as file:  # noqa: PTH123  no import that it does not need
        for _ in range(200):
            file.write(bytes(1_000_000))
        file.flush()
        time.sleep(0.5)
finally:
    os.unlink(path)  # noqa: PTH108
