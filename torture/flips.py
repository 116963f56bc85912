"""Wrong bytes, as a disk, a cable or an editor makes them."""

import random


def flip(data: bytes, draw: random.Random, *, times: int = 1) -> bytes:
    """Change some bytes, each by one bit or into any other."""
    changed = bytearray(data)
    for _ in range(times if changed else 0):
        place = draw.randrange(len(changed))
        changed[place] ^= 1 << draw.randrange(8) if draw.random() < 0.5 else draw.randint(1, 255)
    return bytes(changed)


def operate(lines: list[bytes], draw: random.Random, foreign: list[bytes]) -> tuple[str, list[bytes]]:
    """Swap, double, delete or move a line, or put in one of another file; return what was done and the lines."""
    lines = list(lines)
    what = draw.choice(["swap", "double", "delete", "move", "insert foreign", "replace by foreign"])
    place = draw.randrange(len(lines))
    if what == "swap":
        other = draw.randrange(len(lines))
        lines[place], lines[other] = lines[other], lines[place]
    elif what == "double":
        lines.insert(draw.randrange(len(lines) + 1), lines[place])
    elif what == "delete":
        del lines[place]
    elif what == "move":
        lines.insert(draw.randrange(len(lines)), lines.pop(place))
    elif what == "insert foreign":
        lines.insert(place, draw.choice(foreign))
    else:
        lines[place] = draw.choice(foreign)
    return what, lines
