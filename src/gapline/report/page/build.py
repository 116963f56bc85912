"""One HTML file: template, styles, scripts and data, sealed by a content-security policy that names their hashes."""

import base64
import hashlib
import json
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from gapline.analysis.analyse import Analysis, analyse
from gapline.errors import EnvironmentLacksError
from gapline.report.drawing import write_file
from gapline.report.page.classical import page_classical
from gapline.report.page.data import page_data
from gapline.report.page.declared import page_tables
from gapline.report.page.words import page_head, page_words
from gapline.report.statements import Statements, make_statements
from gapline.study import Study

# In the order they are joined: later files use what earlier ones define.
SCRIPTS = (
    "format", "decode", "score", "summary", "curves", "state", "looks", "charts", "tables", "instances", "main",
)  # fmt: skip


def write_page(
    study: Study,
    path: Path | str,
    said: Statements | None = None,
    analysis: Analysis | None = None,
    /,
    *,
    log_time: bool = False,
) -> Path:
    """Write the page; it appears as a whole or not at all."""
    write_file(Path(path), build_page(study, said, analysis, log_time=log_time))
    return Path(path)


def build_page(
    study: Study, said: Statements | None = None, analysis: Analysis | None = None, /, *, log_time: bool = False
) -> str:
    """Return the page as text; the same study gives the same text, whether it was analysed before or not."""
    try:
        import jinja2
    except ImportError:
        raise EnvironmentLacksError.for_extra("jinja2", "figures") from None
    data = page_data(study, log_time=log_time)
    statements, analysed = said or make_statements(study), analysis or analyse(study)
    style, script, vega = _read("page.css"), page_script(), vega_bundle()
    policy = (
        f"default-src 'none'; script-src {_hash(vega)} {_hash(script)}; style-src {_hash(style)}; base-uri 'none'; "
        "form-action 'none'"
    )
    # A variable that the template does not get is an error, not an empty place.
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    return environment.from_string(_read("page.html.j2")).render(
        policy=policy,
        style=style,
        script=script,
        vega=vega,
        head=script_json(data.head | page_head(statements)),
        blocks=list(data.blocks.items()),
        **page_words(study, statements, data.head),
        **page_classical(analysed),
        **page_tables(analysed),
    )


def script_json(value: Any) -> str:
    """Return JSON that can stand inside a script element: no character of it can end the element.

    >>> script_json({"name": "</script>"})
    '{"name":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def page_script() -> str:
    """Return the page's own script: its files, joined, in one scope of their own."""
    parts = "\n".join(_read(f"script/{name}.js") for name in SCRIPTS)
    # In a block, so that no name of ours meets one of Vega's.
    return f'"use strict";\n{{\n{parts}}}\n'


@cache
def vega_bundle() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as vl-convert ships them."""
    try:
        import vl_convert
    except ImportError:
        raise EnvironmentLacksError.for_extra("vl-convert-python", "figures") from None
    return str(vl_convert.javascript_bundle())  # type: ignore[call-arg, unused-ignore]


@cache
def _read(name: str) -> str:
    return resources.files("gapline.report.page").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii") + "'"
