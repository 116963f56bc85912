"""Small pieces of Markdown that the generated parts of the docs are made of."""

import re
from collections.abc import Sequence


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """Return a table; the first row is its head.

    >>> print(markdown_table([["name", "means"], ["a", "x | *y"]]))
    | name | means |
    | --- | --- |
    | a | x \\| \\*y |
    """
    head, *body = [[_cell(cell) for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *body))


def _cell(text: str) -> str:
    """Put a text on one line; what stands outside of code is text, whatever it looks like."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(part if part.startswith("`") else re.sub(r"(?<!\\)([|*<])", r"\\\1", part) for part in parts)
