"""A line of 100 MB, then a candidate, then a line that never ends."""

import os
import sys

chunk = b"{" + b'"objective": ' * 5_000
for _ in range(100_000_000 // len(chunk)):
    os.write(1, chunk)
os.write(1, b'\n{"objective": 10.0}\n')
for _ in range(30_000_000 // len(chunk)):
    os.write(1, chunk)
sys.exit(0)
