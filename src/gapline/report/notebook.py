"""Charts in a notebook, with width and title, displayed without a network."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gapline.report.canvas import Canvas, parse_width
from gapline.report.drawing import About, alt, annotate_svg, converter, number_anew, printable_chart, style, write_file
from gapline.report.fit_chart import fit_spec, fit_views, words_of

RENDERER = "gapline"
# The media type of specifications of this version in front ends; notebooks store types with this ending as JSON.
SPECIFICATION = "application/vnd.vegalite.v6+json"


def notebook_chart(chart: Any, width: str | float | None, title: str | bool) -> Any:
    """Return a chart with a width in centimetres and another title or none, which displays itself without a network."""
    show_offline()
    found = chart if title is True else _titled(chart, title)
    return found if width is None else _resized(found, Canvas(parse_width(width), caption=True))


def _titled(chart: Any, title: str | bool) -> Any:
    words = chart.title.to_dict() if hasattr(chart.title, "to_dict") else {}
    if title is False:
        bare = chart.copy()
        bare["title"] = alt.Undefined
        return bare
    return chart.properties(title=alt.TitleParams([str(title)], subtitle=words.get("subtitle", [])))


def _resized(chart: Any, canvas: Canvas) -> Any:
    found = chart.copy(deep=True)
    parts, _ = fit_views(printable_chart(style(chart).to_dict()), canvas, _lay_out)
    for part, fitted in zip(_parts(found), parts, strict=True):
        for name in ("width", "height"):
            if isinstance(fitted.get(name), int | float):
                part[name] = fitted[name]
        if isinstance(fitted.get("title"), dict) and "subtitle" in fitted["title"]:
            part["title"] = alt.TitleParams(fitted["title"]["text"], subtitle=fitted["title"]["subtitle"])
    return found


def _parts(chart: Any) -> Iterator[Any]:
    """Walk over a chart and all of its parts, in the same order as `fit_chart` walks over its specification."""
    yield chart
    for name in ("layer", "hconcat", "vconcat", "concat", "spec"):
        inside = chart._get(name) if hasattr(chart, "_get") else alt.Undefined
        for part in inside if isinstance(inside, list) else ():
            yield from _parts(part)


def show_offline() -> None:
    """Make charts display themselves without a network, unless the user has chosen a renderer."""
    if RENDERER not in alt.renderers.names():
        alt.renderers.register(RENDERER, _bundle)
    if alt.renderers.active == "default":
        alt.renderers.enable(RENDERER)


def _bundle(spec: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Return a drawing, and the specification for front ends that draw it themselves."""
    shown = copy.deepcopy(spec)
    if "config" not in shown or "title" not in shown["config"]:
        shown["config"] = style(alt.Chart().mark_point()).to_dict()["config"] | shown.get("config", {})
    plain = printable_chart(shown)
    drawing = number_anew(fit_spec(plain, Canvas(caption=True), _lay_out))
    return {
        SPECIFICATION: plain,
        "image/svg+xml": annotate_svg(drawing, About(words_of(plain)), None),
        "text/plain": "; ".join(words.title for words in words_of(plain)) or "a chart",
    }


def write_html(chart: Any, path: Path) -> None:
    """Write a chart as a page that contains everything needed to draw it."""
    write_file(path, converter().vegalite_to_html(json.dumps(printable_chart(style(chart).to_dict())), bundle=True))


def _lay_out(spec: dict[str, Any]) -> str:
    return str(converter().vegalite_to_svg(spec))
