"""Tables and text in Markdown."""

import re
from collections.abc import Sequence

from gapline.report.table import Table
from gapline.text import printable

# GitHub replaces these in rendered text even if they are escaped in Markdown: a mention, and `:ant:`. A SWHID is
# neither, and must be easy to copy.
_NOTICED = re.compile(r"(?<!\w)@(?=\w)|:(?=[\w+-]+:)(?!(?:1:)?dir:[0-9a-f]{40}\b)")

# Most cells of a long table contain nothing that Markdown, HTML or GitHub would interpret.
_PLAIN = re.compile("[A-Za-z0-9 ,%()+/=?!-]*(?:(?<![A-Za-z])[.][0-9]+[ %]*)?")


def to_markdown(table: Table, head: Sequence[str] = ()) -> str:
    """Return the table in Markdown, with its caption above and its notes below."""
    width = len(table.columns)
    lines = [f"**{plain(table.caption)}**", ""]
    lines.append("| " + " | ".join(plain(column.head) for column in table.columns) + " |")
    lines.append("|" + "|".join("---" if column.text else "---:" for column in table.columns) + "|")
    for heading, rows in table.parts:
        if heading is not None:
            lines.append(f"| *{plain(heading)}* |" + " |" * (width - 1))
        for row in rows:
            cells = (f"**{plain(cell.text)}**" if cell.bold else plain(cell.text) for cell in row)
            lines.append("| " + " | ".join(cells) + " |")
    lines += ["", *(f"{plain(note)}  " for note in (*table.notes, *head))]
    return "\n".join(lines).rstrip() + "\n"


def plain(text: str) -> str:
    """Escape characters that Markdown, or HTML in it, would interpret.

    In a pull request, a name must not become a mention, an emoji or a link either:

    >>> plain("a_b"), plain("@all see www.x.org"), plain(":ant: $x$")
    ('a\\\\_b', '@&#8203;all see www&#46;x.org', ':&#8203;ant: \\\\$x\\\\$')
    >>> plain("(swh:1:dir:4b825dc642cb6eb9a060e54bf8d69288fbee4904)")
    '(swh:1:dir:4b825dc642cb6eb9a060e54bf8d69288fbee4904)'
    """
    if _PLAIN.fullmatch(text):
        return text
    # The ampersand as an entity: a name with `&lt;` would otherwise be shown as `<`.
    escaped = "".join(f"\\{c}" if c in "\\`*_[]<>|#~$" else c for c in printable(text)).replace("&", "&amp;")
    escaped = escaped.replace("://", "&#58;//").replace("www.", "www&#46;")
    return _NOTICED.sub("\\g<0>&#8203;", escaped)
