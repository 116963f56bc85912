"""What a figure's file says of itself: words and provenance inside of SVG, PNG and PDF, and in a file beside them."""

import re
import struct
import zlib
from collections.abc import Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

from gapline.model.text import printable
from gapline.model.version import VERSION
from gapline.report.fit_chart import Words
from gapline.report.text_width import text_width

# The families as wide as the one that the layout was measured with, first.
FAMILIES = "Liberation Sans, Arial, Helvetica, sans-serif"
# With kerning a text is up to so much narrower than the sum of its letters.
KERNED = 0.96


class About(NamedTuple):
    """What a figure shows and where it comes from: version, campaign, references."""

    words: Sequence[Words] = ()
    provenance: Sequence[str] = (f"gapline {VERSION}",)

    @property
    def title(self) -> str:
        """The titles of all parts."""
        return "; ".join(printable(one.title) for one in self.words)

    def text(self) -> str:
        """Return titles, captions and provenance as paragraphs."""
        said = [f"{printable(one.title)}\n\n{printable(one.caption)}\n" for one in self.words]
        return "\n".join([*said, "\n".join(map(printable, self.provenance)) + "\n"])


def finished_svg(drawing: str, about: About, width: float | None) -> str:
    """Fix the width of every text, so that no font of a reader cuts it; add words, provenance and the width in cm."""
    fixed = re.sub(r"<text ([^>]*[^>/])>(.*?)</text>", _fixed_text, drawing, flags=re.DOTALL)
    fixed = fixed.replace('font-family="sans-serif"', f'font-family="{FAMILIES}"')
    head, start, rest = sized_svg(fixed, width).partition(">")
    said = f"<title>{escape(about.title)}</title><desc>{escape(about.text())}</desc>" if about.words else ""
    lines = "".join(f"<line>{escape(printable(line))}</line>" for line in about.provenance)
    return (
        f'{head}{start}{said}<metadata><provenance xmlns="urn:gapline:provenance">{lines}</provenance></metadata>{rest}'
    )


def sized_svg(drawing: str, width: float | None) -> str:
    """Give a drawing its width in centimetres, where it has one."""
    head, start, rest = drawing.partition(">")
    sizes = re.search(r' width="([\d.]+)" height="([\d.]+)"', head)
    if width is None or sizes is None:
        return drawing
    height = width * float(sizes[2]) / float(sizes[1])
    return head.replace(sizes[0], f' width="{width:g}cm" height="{height:.4g}cm"') + start + rest


def _fixed_text(found: re.Match[str]) -> str:
    attributes, inside = found[1], found[2]
    size = re.search(r'font-size="([\d.]+)px"', attributes)
    if size is None:
        return found[0]
    bold = 'font-weight="bold"' in attributes

    def length(text: str) -> str:
        plain = re.sub(r"&(?:#\d+|\w+);", "m", text)
        # One letter has no spacing to adjust, and no text no length.
        if len(plain) < 2:
            return ""
        pixels = KERNED * text_width(plain, float(size[1]), bold=bold)
        return f' textLength="{pixels:.2f}" lengthAdjust="spacingAndGlyphs"'

    if "<tspan" in inside:
        lines = re.sub(
            r"<tspan([^>]*)>(.*?)</tspan>", lambda one: f"<tspan{one[1]}{length(one[2])}>{one[2]}</tspan>", inside
        )
        return f"<text {attributes}>{lines}</text>"
    return f"<text {attributes}{length(inside)}>{inside}</text>"


def finished_png(data: bytes, about: About, density: float) -> bytes:
    """Add words and provenance as text chunks, and the pixels per inch, behind the header."""
    per_metre = round(density / 0.0254)
    chunks = [_chunk(b"pHYs", struct.pack(">IIB", per_metre, per_metre, 1))]
    named = {"Title": about.title, "Description": about.text(), "Software": f"gapline {VERSION}"}
    for name, text in named.items():
        if text:
            chunks.append(_chunk(b"iTXt", name.encode("latin-1") + b"\0\0\0\0\0" + text.encode("utf-8")))
    # A header chunk has 13 bytes in 25, behind the eight of the signature.
    first = 8 + 25
    rest = re.sub(rb"(?s)^\0\0\0\x09pHYs.{13}", b"", data[first:])
    return data[:first] + b"".join(chunks) + rest


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def finished_pdf(data: bytes, about: About) -> bytes:
    """Add words and provenance to the document's information, as an update behind it."""
    trailer = data[data.rfind(b"trailer") :]
    size, root = re.search(rb"/Size (\d+)", trailer), re.search(rb"/Root (\d+ \d+ R)", trailer)
    before = re.search(rb"startxref\s+(\d+)", trailer)
    if size is None or root is None or before is None:
        return data
    named = {"Title": about.title, "Subject": about.text(), "Creator": f"gapline {VERSION}", "Producer": "svg2pdf"}
    entries = b" ".join(
        b"/" + name.encode() + b" <FEFF" + text.encode("utf-16-be").hex().encode() + b">"
        for name, text in named.items()
    )
    number, start = int(size[1]), len(data) + 1
    body = b"\n%d 0 obj\n<< %s >>\nendobj\n" % (number, entries)
    table = b"xref\n%d 1\n%010d 00000 n\r\n" % (number, start)
    end = b"trailer\n<< /Size %d /Root %s /Info %d 0 R /Prev %s >>\n" % (number + 1, root[1], number, before[1])
    return data + body + table + end + b"startxref\n%d\n%%%%EOF\n" % (len(data) + len(body))
