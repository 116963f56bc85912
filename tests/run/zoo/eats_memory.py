"""Takes memory until it is stopped, in a child of its own."""

import os

print('{"objective": 10.0}', flush=True)
if os.fork() == 0:
    held = []
    while True:
        held.append(bytearray(b"x" * 5_000_000))
os.wait()
