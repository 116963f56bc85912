"""Objectives that are none."""

for text in (
    "NaN",
    "Infinity",
    "-Infinity",
    "",
    '""',
    "null",
    '"12"',
    "1,5",
    "1_000",
    "1e400",
    "٣",
    "true",
    "[1]",
    "0x10",
):
    print(f'{{"objective": {text}}}', flush=True)
print('{"objective": 10.0, "bound": 4}', flush=True)
print('{"bound": 5}', flush=True)
print('{"bound": NaN}', flush=True)
print('{"iteration": 7}', flush=True)
