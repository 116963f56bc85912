"""Formulas: `$…$` and `$$…$$` of a page become MathML, which browsers draw by themselves, without a script."""

import re

from latex2mathml.converter import convert

_CODE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.MULTILINE | re.DOTALL)
_DISPLAY = re.compile(r"^\$\$(.+?)\$\$$", re.MULTILINE | re.DOTALL)
# With the sign behind it, which must not stand alone on the next line.
_INLINE = re.compile(r"(?<![\\$\w])\$(?! )([^$\n]+?)(?<! )\$(?![\d$])([.,;:]?)")


def with_formulas(text: str) -> str:
    """Return a page with its formulas as MathML; code stays as it is."""
    parts = _CODE.split(text)
    return "".join(part if k % 2 else _formulas(part) for k, part in enumerate(parts))


def _formulas(text: str) -> str:
    text = _DISPLAY.sub(lambda found: f'<div class="formula">{_math(found[1], "block")}</div>', text)
    # In a span: a line that begins with a formula would be taken for a block.
    return _INLINE.sub(lambda found: f'<span class="math">{_math(found[1], "inline")}{found[2]}</span>', text)


def _math(formula: str, display: str) -> str:
    made = convert(formula.strip(), display=display)
    # Inside of a paragraph, Markdown would read stars and underscores as its own.
    return made.replace("*", "&#x2217;").replace("_", "&#x5F;").replace("\n", " ")
