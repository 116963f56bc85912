"""A verification in words, within the width of the terminal."""

from gapline.archive.shown.rows import Verification
from gapline.model.text import counted, printable
from gapline.terminal import say, say_words, width, wrapped

# Where the words have less room beside the numbers than the first, they stand below them; beyond the second a line is
# too long to be read.
_LEAST, _MOST = 28, 120


def print_verification(found: Verification) -> None:
    """Print the verdict and what differs first, then a row for each thing that was looked at."""
    left = f"{counted(len(found.left), 'row')} not shown" if found.left else "everything is shown"
    say_words(f"{found.kind} {printable(found.source)}: {f'nothing differs; {left}' if found.passed else 'it differs'}")
    if found.first is not None:
        say_words(f"first difference: {printable(found.first)}")
        if others := len(found.differences) - 1 + found.more:
            say_words(f"and {others:,} more; --json names {'the first of them' if found.more else 'them'}")
    say()
    first, second = (max(len(text) for text in texts) for texts in zip(*_heads(found), strict=True))
    for row in found.rows:
        head = f"{row.what:<{first}}  {row.counted:>{second}}  {row.outcome:<9}  "
        told = "; ".join(text for text in (row.how, row.why) if text)
        room = min(width(), _MOST)
        if room - len(head) < _LEAST:
            say(head.rstrip())
            say("\n".join(wrapped(f"    {printable(told)}", room, hang="    ")))
            continue
        lines = wrapped(printable(told), room - len(head))
        say(f"{head}{lines[0]}".rstrip())
        for line in lines[1:]:
            say(" " * len(head) + line)


def _heads(found: Verification) -> list[tuple[str, str]]:
    return [(row.what, row.counted) for row in found.rows]
