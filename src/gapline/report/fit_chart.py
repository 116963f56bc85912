"""Fit a chart to its file: width, font size, with or without title and caption, in colour or grey.

All changes are made to the specification, however the chart is composed. Names that are too long for their place are
broken into lines, never cut off.
"""

import copy
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from gapline.report.canvas import FONT_SIZE, Canvas, break_lines, text_width
from gapline.report.looks import COLOURS
from gapline.report.writers.terminal import short_names

# Pixels that Vega leaves around a drawing, and those of a legend's symbol with the space to the next entry.
PADDING, SYMBOL = 5, 48
# A legend begins at the plot, to the right of the labels of an axis.
BESIDE = 62.0
# Shares of the width for the labels of an axis and for a name in the picture; without a given width, pixels for labels
# and for a legend.
LABELS, NAMES, NATURAL_LABELS, NATURAL_LEGEND = 0.38, 0.27, 300.0, 620.0
# Names along an axis together may take this share of the width.
ACROSS = 0.6
# A name takes at most this number of lines.
MOST_LINES = 2
LABEL_SIZE, TITLE_SIZE, CAPTION_SIZE, HEADING_SIZE = 11.0, 14.0, 11.0, 12.0
# Parts are put below each other if they would be narrower than this share of their natural width, or these pixels.
NARROW, EACH = 0.43, 170.0
# A plot is not made narrower than this: then the whole drawing is scaled down.
LEAST = 30.0
# A plot higher than the second number is not made higher than the first times its width.
STEEPEST, LOWEST = 0.72, 150.0
# Greys that differ in print, in the order of the colours; dashes and shapes distinguish more arms.
GREYS = ("#000000", "#6e6e6e", "#3c3c3c", "#969696", "#b4b4b4", "#505050", "#1e1e1e", "#828282")

# The style of marks that are only drawn in grey.
IN_GREY = "in-grey"


class Words(NamedTuple):
    """The texts of a figure."""

    title: str
    caption: str


def words_of(spec: Mapping[str, Any]) -> list[Words]:
    """Return titles and captions of a chart and its parts."""
    return [
        Words(_joined(node["title"]["text"]), _joined(node["title"]["subtitle"]))
        for node in _views(spec)
        if _is_captioned(node)
    ]


def fit_spec(spec: Mapping[str, Any], canvas: Canvas, lay_out: Callable[[dict[str, Any]], str]) -> str:
    """Return the drawing of a specification; `lay_out` draws one."""
    return fit_views(spec, canvas, lay_out)[1]


def fit_views(
    spec: Mapping[str, Any], canvas: Canvas, lay_out: Callable[[dict[str, Any]], str]
) -> tuple[list[dict[str, Any]], str]:
    """Return the parts of a specification in fitting sizes, in the order of a walk over them, and its drawing."""
    fitted = copy.deepcopy(dict(spec))
    _show_marks_of_grey(fitted, grey=canvas.grey)
    enlarge = canvas.font_size / FONT_SIZE
    headings = [node for node in _views(fitted) if isinstance(node.get("title"), dict) and not _is_captioned(node)]
    _break_names(fitted, canvas, enlarge)
    for node in _nodes(fitted) if enlarge != 1.0 else ():
        sizes = {key: value for key, value in node.items() if key.lower().endswith("fontsize")}
        node.update({key: size * enlarge for key, size in sizes.items() if isinstance(size, int | float)})
    _set_titles(fitted, canvas, enlarge)
    drawn = (lambda spec: lay_out(_in_grey(spec))) if canvas.grey else lay_out
    if canvas.pixels is None:
        _fold_headings(headings)
        return list(_views(fitted)), drawn(fitted)
    return list(_views(fitted)), _of_width(fitted, headings, canvas.pixels, drawn)


def _show_marks_of_grey(spec: dict[str, Any], *, grey: bool) -> None:
    """In grey, show the marks that replace a second colour, and name them in the legend; otherwise remove them."""
    for node in _views(spec):
        layers = node.get("layer", [])
        marks = [layer for layer in layers if _mark(layer).get("style") == IN_GREY]
        if marks and not grey:
            node["layer"] = [layer for layer in layers if layer not in marks]
        for layer in layers if marks and grey else ():
            if layer in marks:
                layer["mark"]["opacity"] = 1
            legend = layer.get("encoding", {}).get("color", {}).get("legend")
            if isinstance(legend, dict) and isinstance(legend.get("title"), list):
                legend["title"] = [f"{line} (dotted)" if line.startswith("− ") else line for line in legend["title"]]


def _of_width(
    spec: dict[str, Any], headings: list[dict[str, Any]], wanted: float, lay_out: Callable[[dict[str, Any]], str]
) -> str:
    """Draw with plots that fill the width; labels and legends next to them keep their size."""
    _stack(spec, wanted)
    sizes = [(node, float(node["width"])) for node in _views(spec) if isinstance(node.get("width"), int | float)]
    # A picture that consists of names has the height of its lines.
    heights = {
        id(node): node["height"]
        for node, _ in sizes
        if isinstance(node.get("height"), int | float) and not _has_names(node)
    }
    said = [dict(node["title"]) for node in headings]

    def drawn(share: float) -> str:
        for node, width in sizes:
            node["width"] = max(LEAST, width * share)
            if id(node) in heights:
                node["height"] = min(heights[id(node)], max(LOWEST, STEEPEST * node["width"]))
        for node, words in zip(headings, said, strict=True):
            node["title"] = dict(words)
        _fold_headings(headings)
        return lay_out(spec)

    # Hide titles, which are already broken to the whole width: they would hide how wide the plots are.
    of_headings = set(map(id, headings))
    hidden = [(node, node.pop("title")) for node in _views(spec) if "title" in node and id(node) not in of_headings]
    share = _best_share(lambda share: svg_width(drawn(share)), wanted) if sizes else 1.0
    for node, title in hidden:
        node["title"] = title
    return drawn(share)


def _best_share(width: Callable[[float], float], wanted: float) -> float:
    """Return the largest share of the plots' natural widths for which the whole is not wider than wanted."""
    share = min(1.0, wanted / 700)
    tried: list[tuple[float, float]] = []
    for _ in range(4):
        tried.append((share, width(share)))
        got = tried[-1][1]
        if wanted - 3 <= got <= wanted:
            break
        # The whole width is linear in the share, unless a plot has its least width.
        moved = share - tried[-2][0] if len(tried) > 1 else 0.0
        slope = (got - tried[-2][1]) / moved if moved else got / share
        share = max(0.02, share + (wanted - 1 - got) / slope) if slope > 0 else share
        if share == tried[-1][0]:
            break
    fitting = [share for share, got in tried if got <= wanted + 0.5]
    if not fitting:
        return min(tried, key=lambda one: one[1])[0]
    best, too_wide = max(fitting), min((share for share, got in tried if got > wanted), default=2.0)
    # A legend may be wider than its plot, which then has room to grow.
    while best < 1 and min(1.0, 1.2 * best) < too_wide and width(min(1.0, 1.2 * best)) <= wanted:
        best = min(1.0, 1.2 * best)
    return best


def _stack(spec: dict[str, Any], wanted: float) -> None:
    """Put parts that would be too narrow next to each other below each other, if each has its own axes."""
    for node in list(_views(spec)):
        parts = node.get("hconcat", [])
        widths = [part["width"] for part in parts if isinstance(part.get("width"), int | float)]
        narrow = wanted < max(NARROW * sum(widths), EACH * len(parts))
        # If one part labels the lines of another next to it, they stay together.
        shared = (
            channel == "y" and names and y.get("axis", {}) is None
            for part in parts for _, channel, y, names in _named_channels(part)
        )  # fmt: skip
        if parts and narrow and not any(shared):
            node["vconcat"] = node.pop("hconcat")
            for part in parts:
                part["width"] = max(widths, default=EACH)


def svg_width(drawing: str) -> float:
    """Return the width of a drawing in pixels."""
    found = re.search(r'<svg[^>]*? width="([\d.]+)"', drawing)
    assert found is not None
    return float(found[1])


def _views(node: Any) -> Iterator[dict[str, Any]]:
    """Walk over a chart and all of its parts."""
    if isinstance(node, Mapping):
        yield node  # type: ignore[misc]
        for part in ("layer", "hconcat", "vconcat", "concat", "spec"):
            yield from _views(node.get(part))
    elif isinstance(node, list):
        for item in node:
            yield from _views(item)


def _is_captioned(node: Mapping[str, Any]) -> bool:
    return isinstance(node.get("title"), Mapping) and "subtitle" in node["title"]


def _joined(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else " ".join(lines)


def _set_titles(spec: dict[str, Any], canvas: Canvas, enlarge: float) -> None:
    """Remove unwanted titles and captions, and break the others to the width."""
    room = 640.0 if canvas.pixels is None else canvas.pixels - 2 * PADDING
    for node in _views(spec):
        if not _is_captioned(node):
            continue
        words = node["title"]
        if canvas.pixels is not None or enlarge != 1.0:
            words["text"] = _folded(words["text"], room, TITLE_SIZE * enlarge, bold=True)
            words["subtitle"] = _folded(words["subtitle"], room, CAPTION_SIZE * enlarge)
        if not canvas.caption:
            del words["subtitle"]
        if not canvas.title:
            words["text"] = words.pop("subtitle", None)
            words |= {"fontSize": CAPTION_SIZE * enlarge, "fontWeight": "normal", "color": "#555"}
        if words["text"] is None:
            del node["title"]


def _folded(text: str | list[str], room: float, size: float, *, bold: bool = False, marks: bool = False) -> list[str]:
    return break_lines(_joined(text), room, lambda part: text_width(part, size, bold=bold), marks=marks)


def _fold_headings(headings: list[dict[str, Any]]) -> None:
    """Break the headings of the parts of a figure to the width of each part."""
    sized = [(node["title"], node["width"]) for node in headings if isinstance(node.get("width"), int | float)]
    shares = [1.0]
    for heading, width in sized:
        # A word that is wider than its part is printed smaller, not broken.
        size = float(heading.get("fontSize", HEADING_SIZE))
        longest = max((text_width(word, size) for word in _joined(heading["text"]).split()), default=1.0)
        shares.append(max(6.0 / size, (width + 8) / longest))
    for heading, width in sized:
        # All headings of a figure get the same size: a larger one would look more important.
        size = float(heading.get("fontSize", HEADING_SIZE)) * min(shares)
        if min(shares) < 1:
            heading["fontSize"] = size
        heading["text"] = _folded(heading["text"], width + 10, size)


def _nodes(node: Any) -> Iterator[dict[str, Any]]:
    """Walk over all objects of a specification except its data."""
    if isinstance(node, dict):
        yield node
        for key, value in node.items():
            if key not in ("datasets", "data"):
                yield from _nodes(value)
    elif isinstance(node, list):
        for item in node:
            yield from _nodes(item)


def _break_names(spec: dict[str, Any], canvas: Canvas, enlarge: float) -> None:
    """Break names into lines at axes, in legends and in the picture."""
    whole, size = canvas.pixels, LABEL_SIZE * enlarge
    found: dict[str, str] = {}

    def lines(names: list[str], most: float) -> int:
        """Break names; if one would take too many lines, first shorten it in the middle, as on a terminal."""
        letters, short = int(MOST_LINES * most / (0.5 * size)), {name: name for name in names}
        broken = {name: _folded(name, most, size, marks=True) for name in names if name not in found}
        while deep := [name for name, parts in broken.items() if len(parts) > MOST_LINES]:
            short |= short_names(deep, letters)
            broken |= {name: _folded(short[name], most, size, marks=True) for name in deep}
            letters = letters * 9 // 10
            if letters < 4:
                break
        found.update(
            {name: "\n".join(parts) for name, parts in broken.items() if len(parts) > 1 or short[name] != name}
        )
        return max(found.get(name, name).count("\n") + 1 for name in names)

    beside = BESIDE
    for node, channel, encoding, names in _named_channels(spec):
        if channel == "y" and names:
            deepest = lines(names, NATURAL_LABELS if whole is None else LABELS * whole)
            _deepen(spec, node, deepest * 1.2 * size + 5)
            beside = max(beside, 20 + _longest(names, found, size))
        if channel == "x" and names and whole is not None:
            lines(names, LABELS * whole)
            # Names without room next to each other are rotated.
            if len(names) * _longest(names, found, size) > ACROSS * whole:
                encoding["axis"] = (encoding.get("axis") or {}) | {"labelAngle": -30}
    for _, channel, encoding, names in _named_channels(spec):
        _fold_legend_title(encoding, whole, size)
        if channel not in ("x", "y") and names and isinstance(encoding.get("legend"), dict):
            legend = encoding["legend"]
            shown = [str(name) for name in legend.get("values") or names]
            room = (NATURAL_LEGEND if whole is None else max(0.4 * whole, whole - beside)) - SYMBOL
            lines(shown, room)
            if whole is not None:
                legend["columns"] = max(
                    1, min(len(shown), int((room + SYMBOL) // (_longest(shown, found, size) + SYMBOL)))
                )
    for node in _views(spec):
        if _mark(node).get("type") == "text" and whole is not None:
            rows = _rows(spec, node)
            field = (node.get("encoding") or {}).get("text", {}).get("field")
            names = [row[field] for row in rows if isinstance(row.get(field), str)]
            deepest = lines(names, NAMES * whole) if names else 1
            _deepen(spec, node, deepest * 1.2 * size, numbers=deepest > 1)
    config = spec.setdefault("config", {})
    config["lineBreak"] = "\n"
    for part in ("axis", "legend"):
        config.setdefault(part, {})["labelLimit"] = 0
    for node in _nodes(spec):
        node.update({key: 0 for key in ("labelLimit", "titleLimit") if key in node})
    if found:
        _rename(spec, found)


def _mark(node: Mapping[str, Any]) -> dict[str, Any]:
    mark = node.get("mark")
    return mark if isinstance(mark, dict) else {}


def _has_names(node: Mapping[str, Any]) -> bool:
    return any(
        _mark(part).get("type") == "text" and (part.get("encoding") or {}).get("text", {}).get("type") == "nominal"
        for part in node.get("layer", ())
    )


def _rows(spec: Mapping[str, Any], node: Mapping[str, Any]) -> list[dict[str, Any]]:
    data = node.get("data") or {}
    rows: Any = spec.get("datasets", {}).get(data["name"]) if "name" in data else data.get("values")
    return list(rows or ())


def _deepen(spec: dict[str, Any], node: dict[str, Any], least: float, *, numbers: bool = False) -> None:
    """Give every line of names its height; the view is the node itself, or the one that contains it as a layer."""
    for view in _views(spec):
        if view is node or any(part is node for part in view.get("layer", ())):
            height = view.get("height")
            if isinstance(height, dict) and "step" in height:
                height["step"] = max(height["step"], least)
            elif numbers and isinstance(height, int | float):
                view["height"] = max(height, height * least / 22)


def _named_channels(spec: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str, dict[str, Any], list[str]]]:
    """Walk over the encodings of all views, with the names in the scale of each, if any."""
    for node in _views(spec):
        for channel, encoding in (node.get("encoding") or {}).items():
            if isinstance(encoding, dict):
                domain = (encoding.get("scale") or {}).get("domain")
                names = [name for name in domain if isinstance(name, str)] if isinstance(domain, list) else []
                yield node, channel, encoding, names


def _longest(names: list[str], found: Mapping[str, str], size: float) -> float:
    return max(text_width(line, size) for name in names for line in found.get(name, name).split("\n"))


def _fold_legend_title(encoding: dict[str, Any], whole: float | None, size: float) -> None:
    legend = encoding.get("legend")
    if isinstance(legend, dict) and isinstance(legend.get("title"), list) and whole is not None:
        room = whole - BESIDE - 2 * PADDING
        lines = (_folded(line, room, 1.1 * size, bold=True, marks=True) for line in legend["title"])
        legend["title"] = [part for line in lines for part in line]
        legend["gradientLength"] = min(legend.get("gradientLength", room), room)


def _rename(node: Any, names: Mapping[str, str]) -> None:
    """Replace names by their lines in data, domains and legends alike, so that they still match."""
    items: Any = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in list(items):
        if isinstance(value, str):
            if value in names:
                node[key] = names[value]
        elif key not in ("title", "config"):
            _rename(value, names)


def _in_grey(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: value if key == "datasets" else _in_grey(value) for key, value in node.items()}
    if isinstance(node, list):
        # Two colours around white become one: marks of their own (`IN_GREY`) show what has the second colour.
        if len(node) == 3 and node[1] == "#ffffff" and all(map(_is_colour, node)):
            return ["#000000", "#ffffff", "#000000"]
        return [_in_grey(item) for item in node]
    return _grey(node) if _is_colour(node) else node


def _is_colour(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"#[0-9A-Fa-f]{6}", value) is not None


def _grey(colour: str) -> str:
    """Return the grey of a colour: by position for the colour of an arm, otherwise with the same brightness.

    >>> _grey("#0072B2"), _grey("#9ecae1")
    ('#000000', '#bfbfbf')
    """
    if colour.upper() in COLOURS:
        return GREYS[COLOURS.index(colour.upper())]
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + f"{round(0.299 * red + 0.587 * green + 0.114 * blue):02x}" * 3
