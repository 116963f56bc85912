"""Every byte there is, NUL, invalid UTF-8, escapes, a carriage return, and candidates among them."""

import os

os.write(1, bytes(range(256)) * 100 + b"\n")
os.write(1, b"\x1b[31mred\x1b[0m \x00\x00 \xff\xfe\n")
os.write(1, b'{"objective": 10.0, "solution": "\xff"}\n')
os.write(1, b'  {"objective": 9.0, "solution": "\xc3\xa9"}\r\n')
os.write(1, b'{"objective": 8.0, "solution": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n")
# Dies before the newline.
os.write(1, b'{"objective": 7.0}')
