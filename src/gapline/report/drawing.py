"""Write figures as files: one Altair theme; SVG, PNG and PDF without a browser, with metadata."""

import re
import struct
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from textwrap import wrap
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import polars as pl

from gapline.contract.version import VERSION
from gapline.errors import EnvironmentLacksError, UsageError, listing
from gapline.files.atomic_write import write_atomically
from gapline.files.memory import give_back
from gapline.report.canvas import Canvas, text_width
from gapline.report.fit_chart import Words, fit_spec, svg_width, words_of
from gapline.report.looks import Look, looks_of, with_grey
from gapline.text import printable

# Font families of the same width, starting with the one used to measure the layout.
FAMILIES = "Liberation Sans, Arial, Helvetica, sans-serif"
# Kerning can make a text this much narrower than the sum of its letters.
KERNED = 0.96


class About(NamedTuple):
    """The content and origin of a figure: version, campaign, references."""

    words: Sequence[Words] = ()
    provenance: Sequence[str] = (f"gapline {VERSION}",)

    @property
    def title(self) -> str:
        """The titles of all parts, joined."""
        return "; ".join(printable(one.title) for one in self.words)

    def text(self) -> str:
        """Return titles, captions and provenance as paragraphs."""
        said = [f"{printable(one.title)}\n\n{printable(one.caption)}\n" for one in self.words]
        return "\n".join([*said, "\n".join(map(printable, self.provenance)) + "\n"])


def annotate_svg(drawing: str, about: About, width: float | None) -> str:
    """Fix the width of every text, so that other fonts do not cut it off; add texts, provenance and the width in cm."""
    fixed = re.sub(r"<text ([^>]*[^>/])>(.*?)</text>", _fixed_text, drawing, flags=re.DOTALL)
    fixed = fixed.replace('font-family="sans-serif"', f'font-family="{FAMILIES}"')
    head, start, rest = set_svg_width(fixed, width).partition(">")
    said = f"<title>{escape(about.title)}</title><desc>{escape(about.text())}</desc>" if about.words else ""
    lines = "".join(f"<line>{escape(printable(line))}</line>" for line in about.provenance)
    return (
        f'{head}{start}{said}<metadata><provenance xmlns="urn:gapline:provenance">{lines}</provenance></metadata>{rest}'
    )


def set_svg_width(drawing: str, width: float | None) -> str:
    """Set the width of a drawing in centimetres, if one is given."""
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
        # One letter has no spacing to adjust, and an empty text has no length.
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


def annotate_png(data: bytes, about: About, density: float) -> bytes:
    """Add texts and provenance as text chunks, and the pixels per inch, after the header."""
    per_metre = round(density / 0.0254)
    chunks = [_chunk(b"pHYs", struct.pack(">IIB", per_metre, per_metre, 1))]
    named = {"Title": about.title, "Description": about.text(), "Software": f"gapline {VERSION}"}
    for name, text in named.items():
        if text:
            chunks.append(_chunk(b"iTXt", name.encode("latin-1") + b"\0\0\0\0\0" + text.encode("utf-8")))
    # The header chunk has 13 bytes in 25, after the eight bytes of the signature.
    first = 8 + 25
    rest = re.sub(rb"(?s)^\0\0\0\x09pHYs.{13}", b"", data[first:])
    return data[:first] + b"".join(chunks) + rest


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def annotate_pdf(data: bytes, about: About) -> bytes:
    """Add texts and provenance to the document's information, as an update at its end."""
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


FILE_FORMATS = ("svg", "png", "pdf")
# Dots per inch of a picture with a given width for a paper.
DOTS = 300.0


@dataclass(frozen=True, slots=True)
class Figure:
    """The content of a figure before it is drawn: rows, texts, and the ordered names of a legend or an axis."""

    data: pl.DataFrame
    title: str
    caption: str
    time_title: str = ""
    value_title: str = ""
    names: tuple[str, ...] = ()


def figure_library(module: str, package: str) -> Any:
    """Import a drawing library, or name the extra that installs it."""
    try:
        return import_module(module)
    except ImportError:
        raise EnvironmentLacksError.for_extra(package, "figures") from None


def converter() -> Any:
    """Return vl-convert, which draws without a browser."""
    return figure_library("vl_convert", "vl-convert-python")


class _Altair:
    """Altair, imported only when something is drawn: the data of a figure do not need it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(figure_library("altair", "altair"), name)


alt: Any = _Altair()


def style(chart: Any) -> Any:
    """Apply our fonts, grid and legend style to a chart."""
    return (
        chart.configure_view(stroke=None)
        .configure_axis(
            gridColor="#e6e6e6", domainColor="#888", tickColor="#888", labelFontSize=11, titleFontSize=12,
            labelSeparation=5,
        )
        .configure_legend(orient="bottom", labelLimit=300, labelFontSize=11, titleFontSize=12, symbolSize=400)
        .configure_title(anchor="start", fontSize=14, subtitleFontSize=11, subtitleColor="#555")
    )  # fmt: skip


def look_channels(
    field: str,
    names: Sequence[str],
    *channels: str,
    arms: Sequence[str] = (),
    lead: Sequence[str] = (),
    looks: Mapping[str, Look] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Return the encodings that distinguish names: color, fill, strokeDash or shape, each with one scale.

    Looks follow from the positions of the names among all `arms` (`report.looks`), unless a figure has its own looks;
    with a `lead`, the others are grey.
    """
    shown = with_grey(looks_of(names, arms), lead) if looks is None else looks
    kinds: dict[str, tuple[Any, Callable[[Look], Any]]] = {
        "color": (alt.Color, lambda look: look.colour),
        "fill": (alt.Fill, lambda look: look.colour),
        "strokeDash": (alt.StrokeDash, lambda look: list(look.dash)),
        "shape": (alt.Shape, lambda look: look.shape),
    }
    return {
        name: kind(f"{field}:N", scale=alt.Scale(domain=list(shown), range=list(map(mark, shown.values()))), **more)
        for name, (kind, mark) in kinds.items()
        if name in channels
    }


def in_order(names: Iterable[str], **more: Any) -> dict[str, Any]:
    """Return the settings that put the names of an axis in order.

    A list as `sort` would become a formula as deep as the list is long, which overflows the stack from about 56 names
    on and fails for a name that every JavaScript object has; the domain of a scale is data.
    """
    return {"sort": None, "scale": alt.Scale(domain=list(dict.fromkeys(names)), **more)}


def name_axis(field: str, names: Iterable[str], *, limit: int = 320) -> Any:
    """Return an axis of names below each other, in order."""
    return alt.Y(f"{field}:N", **in_order(names), title=None, axis=alt.Axis(labelLimit=limit, grid=False))


def line_look(
    field: str, names: Sequence[str], *, width: int = 620, lead: Sequence[str] = (), **looks: Any
) -> dict[str, Any]:
    """Return colour and dash encodings that distinguish lines; equal legends are drawn as one."""
    legend = arm_legend(list(lead) or list(names), width=width, symbolType="stroke", symbolStrokeWidth=3)
    return look_channels(field, names, "color", "strokeDash", lead=lead, title=None, legend=legend, **looks)


def step_lines(data: pl.DataFrame, *, width: float = 2, clip: bool = False, **encodings: Any) -> Any:
    """Draw right-continuous steps."""
    chart = alt.Chart(data).mark_line(interpolate="step-after", strokeWidth=width, clip=clip)
    return chart.encode(**encodings)


def zero_line(axis: str = "y", **marks: Any) -> Any:
    """Draw the line at 0, where the gap equals the reference."""
    return alt.Chart(alt.Data(values=[{"zero": 0}])).mark_rule(color="#444", **marks).encode(**{axis: "zero:Q"})


def small_title(text: str, **more: Any) -> Any:
    """Return the title of one part of a figure."""
    return alt.TitleParams(text, fontSize=12, fontWeight="normal", anchor="start", **more)


def titled(chart: Any, title: str, caption: str, *, width: int = 620) -> Any:
    """Put a title and, below it, the caption in small print, broken to the width of the chart."""
    # About 115 letters of the subtitle's size fit on 640 pixels; Vega does not break lines itself.
    most = max(40, width * 115 // 640)
    # Lists of lines are text, never a formula: names in them are printed unchanged.
    lines = _folded(f"{printable(caption)}; gapline\N{NO-BREAK SPACE}{VERSION}", most)
    return chart.properties(title=alt.TitleParams(_folded(printable(title), most * 3 // 4), subtitle=lines))


def _folded(text: str, most: int) -> list[str]:
    """Break a text at its spaces, but not at no-break spaces, which printable texts never contain."""
    lines = wrap(text, most, break_long_words=False, break_on_hyphens=False) or [""]
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def arm_legend(names: list[str], *, width: int = 620, **more: Any) -> Any:
    """Return a legend below the chart, with as many columns as the length of the names allows."""
    longest = max((len(name) for name in names), default=1)
    # Seven pixels per letter and 45 for the symbol: Vega would put all names in one row.
    columns = max(1, min(len(names), width // (7 * min(longest, 40) + 45)))
    # Vega would omit names from the thirtieth on.
    return alt.Legend(orient="bottom", columns=columns, title=None, values=names, symbolLimit=0, **more)


# Members of JavaScript's Object.prototype.
_INHERITED = frozenset(
    {
        "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString",
        "valueOf", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "__proto__",
    }
)  # fmt: skip


def printable_chart(value: Any) -> Any:
    """Return a specification without unprintable characters in any text, at any depth.

    A text that equals a property name of every JavaScript object gets a no-break space at its end, because Vega would
    find the inherited property. The space is invisible, and no other name has one, since it counts as unprintable.

    >>> printable_chart({"names": ["a" + chr(7), "constructor"], "size": 3})
    {'names': ['a\\\\u0007', 'constructor\\xa0'], 'size': 3}
    """
    if isinstance(value, str):
        return f"{value}\N{NO-BREAK SPACE}" if value in _INHERITED else printable(value)
    if isinstance(value, dict):
        return {printable(key): printable_chart(item) for key, item in value.items()}
    return [printable_chart(item) for item in value] if isinstance(value, list) else value


def number_anew(drawing: str) -> str:
    """Number the clips and gradients of a drawing from 0: Vega continues its count over all drawings of a process.

    >>> number_anew('<g clip-path="url(#clip7)"/><clipPath id="clip7"/><path fill="url(#gradient_3)"/>')
    '<g clip-path="url(#clip0)"/><clipPath id="clip0"/><path fill="url(#gradient_0)"/>'
    """
    numbers: dict[str, dict[str, int]] = {"clip": {}, "gradient_": {}}

    def renamed(found: re.Match[str]) -> str:
        known = numbers[found[2]]
        return f"{found[1]}{found[2]}{known.setdefault(found[3], len(known))}"

    return re.sub(r"(url\(#|id=\")(clip|gradient_)(\d+)(?=[)\"])", renamed, drawing)


def write_drawing(
    chart: Any, *paths: Path, canvas: Canvas | None = None, provenance: Sequence[str] = (f"gapline {VERSION}",)
) -> About:
    """Write a chart as SVG, PNG or PDF, by the names of the files, and return its texts.

    The layout is computed once for all formats; each contains the texts and the provenance.
    """
    # Check all names before writing: a wrong one must not leave half of the files.
    forms = [path.suffix.lstrip(".").lower() for path in paths]
    for path, form in zip(paths, forms, strict=True):
        if form not in FILE_FORMATS:
            raise UsageError(f"{path}: expected a name ending in {listing(FILE_FORMATS)}, got {path.suffix or 'none'}")
    vl_convert = converter()
    chosen = canvas or Canvas()
    # A control character in a name would abort the whole process inside the converter.
    spec = printable_chart(chart.to_dict())
    about = About(words_of(spec), tuple(provenance))
    drawing = number_anew(fit_spec(spec, chosen, vl_convert.vegalite_to_svg))
    # Print resolution for a requested width, otherwise two pixels per pixel of the screen.
    scale = 2.0 if chosen.pixels is None else DOTS / 96 * chosen.pixels / svg_width(drawing)
    for path, form in zip(paths, forms, strict=True):
        data: bytes | str
        if form == "svg":
            data = annotate_svg(drawing, about, chosen.width)
        elif form == "png":
            density = 96 * scale if chosen.pixels is None else DOTS
            data = annotate_png(vl_convert.svg_to_png(drawing, scale=scale), about, density)
        else:
            # The converter turns a pixel into a point: 72 per inch instead of 96.
            width = None if chosen.width is None else chosen.width * 72 / 96
            data = annotate_pdf(vl_convert.svg_to_pdf(set_svg_width(drawing, width)), about)
        write_file(path, data)
    # A drawing takes some 30 MB, which are no longer needed.
    give_back()
    return about


def write_file(path: Path, data: bytes | str) -> None:
    """Write a file atomically."""
    raw = data.encode("utf-8") if isinstance(data, str) else data
    write_atomically(path, lambda stream: stream.write(raw))
