"""One HTML file: template, style, scripts and data, with a content-security policy that contains their hashes."""

import base64
import contextlib
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from importlib import resources
from importlib.metadata import version
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

from gapline.files.atomic_write import write_atomically
from gapline.files.memory import give_back
from gapline.report.drawing import converter, figure_library


def seal_page(template: str, *, style: str, script: str, connect: bool = False, **words: Any) -> str:
    """Render a template with Vega, a style and a script; no other code of the page can run.

    It loads nothing from elsewhere, unless the page may `connect` to the server that it came from.
    """
    vega = vega_bundle()
    policy = page_policy((vega, script), style, connect=connect)
    return render_page(template, policy=policy, style=style, script=script, vega=vega, **words)


def page_policy(scripts: Sequence[str], style: str, *, connect: bool = False) -> str:
    """Return the content-security policy of a page: only these scripts and this style, by their hashes."""
    hashes = " ".join(map(_hash, scripts))
    own = " connect-src 'self';" if connect else ""
    # The worker comes from a blob created by one of these scripts; no other code can create one.
    ours = f"default-src 'none'; script-src {hashes}; style-src {_hash(style)}; worker-src blob:;{own}"
    return f"{ours} base-uri 'none'; form-action 'none'"


def render_page(template: str, **words: Any) -> str:
    """Render a template, which may include others of the report's page; every variable is escaped as text."""
    jinja2 = figure_library("jinja2", "jinja2")
    # A missing variable is an error, not an empty text.
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True,
        loader=jinja2.FunctionLoader(read_part),
    )  # fmt: skip
    text: str = environment.from_string(template).render(**words)
    return text


def script_json(value: Any) -> str:
    """Return JSON for use in a script element: none of its characters can end the element.

    >>> script_json({"name": "</script>"})
    '{"name":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def join_scripts(parts: list[str]) -> str:
    """Join script files in a common scope: later ones use definitions of earlier ones."""
    # In a block, so that no name of ours collides with one of Vega's.
    return '"use strict";\n{\n' + "\n".join(parts) + "}\n"


@cache
def vega_bundle() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as vl-convert ships them."""
    draws = converter()
    kept = bundle_file(version("vl-convert-python"))
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return kept.read_text(encoding="utf-8")
    bundle = str(draws.javascript_bundle())
    # If nothing can be written there, each process bundles again.
    with contextlib.suppress(OSError):
        write_atomically(kept, lambda stream: stream.write(bundle.encode("utf-8")))
    # Bundling takes a hundred times the memory of its result.
    give_back()
    return bundle


def bundle_file(made_by: str) -> Path:
    """Return where the bundle of a version of vl-convert is cached, since making it takes a second.

    It is next to the compiled Python modules: anyone who can write there can already run any code through gapline.
    """
    return Path(cache_from_source(__file__)).with_name(f"vega-{made_by}.js")


@cache
def read_part(name: str, *, room: str = "gapline.report.page") -> str:
    """Return a template, a style or a script from a package of the report."""
    return resources.files(room).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii") + "'"
