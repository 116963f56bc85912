"""Prints log text without end, on both outputs, with a candidate first and one in the middle."""

import os

os.write(1, b'{"objective": 10.0}\n')
for number in range(10**9):
    os.write(1, b"y\n" * 50_000)
    os.write(2, b"e" * 50_000)
    if number == 20:
        os.write(1, b'{"objective": 9.0}\n')
