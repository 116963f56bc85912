"""The format of numbers and sentences in every output; `page/script/format.js` does the same in the page."""

import math
from collections.abc import Sequence
from decimal import Decimal

DASH = "–"


def number(value: float | None, *, digits: int = 5) -> str:
    """Format a score, with an unsigned zero; a missing quantity is a dash, an overflow is named.

    >>> number(0.0083712), number(None), number(float("inf")), number(-1e-9)
    ('0.00837', '–', 'overflow', '0.00000')
    """
    if value is None or math.isnan(value):
        return DASH
    return "overflow" if math.isinf(value) else f"{value:z.{digits}f}"


def signed(value: float | None, *, digits: int = 5) -> str:
    """Format a difference with its sign; zero has none.

    >>> signed(0.25), signed(-0.25), signed(-1e-9)
    ('+0.25000', '−0.25000', '0.00000')
    """
    text = number(value, digits=digits)
    # The sign follows the printed digits: +0.00000 would claim a direction that is not visible.
    if value is None or not math.isfinite(value) or float(text) == 0:
        return text
    return f"+{text}" if value > 0 else text.replace("-", "−")


def percent(value: float | None, *, digits: int = 2) -> str:
    """Format a share or a raw gap as a percentage.

    >>> percent(0.012345), percent(-0.0)
    ('1.23 %', '0.00 %')
    """
    if value is None or not math.isfinite(value):
        return number(value)
    return f"{100 * value:z.{digits}f} %"


def objective(value: float | None, digits: int | None) -> str:
    """Format an objective as routing papers do; very small and large ones by their leading digits.

    Without `digits` the format is scientific, for a column with such values.

    >>> objective(2345.0, 0), objective(2345.678, 2), objective(0.00123, 2)
    ('2345', '2345.68', '0.00123')
    """
    if value is None:
        return DASH
    if digits is None:
        return f"{value:.5e}"
    # Outside of 1 to 10⁹ fixed decimals would only show zeros, or digits that a double does not have.
    return f"{value:z.{digits}f}" if value == 0 or 1 <= abs(value) < 1e9 else f"{value:.6g}"


def plain_numbers(values: Sequence[float | None]) -> list[str]:
    """Format the numbers of one column by their leading digits, all with the decimals of the most precise one.

    >>> plain_numbers([12.5, 3.0, None, 0.125]), plain_numbers([1.0, 2e9])
    (['12.500', '3.000', '–', '0.125'], ['1.00000e+00', '2.00000e+09'])
    """
    known = [value for value in values if value is not None and math.isfinite(value)]
    texts = [f"{value:.6g}" for value in known]
    form = ".5e"
    if not any("e" in text for text in texts):
        form = f".{min(9, max((len(text.partition('.')[2]) for text in texts), default=0))}f"
    return [number(v) if v is None or not math.isfinite(v) else f"{v:z{form}}" for v in values]


def share_decimals(texts: Sequence[str]) -> list[str]:
    """Give formatted numbers as many decimals as the longest one has; no digit is lost.

    >>> share_decimals(["10.53", "5", "–", "1e-09"])
    ['10.53', '5.00', '–', '1e-09']
    """
    plain = [text for text in texts if text.lstrip("-").replace(".", "", 1).isdigit()]
    digits = max((len(text.partition(".")[2]) for text in plain), default=0)
    return [f"{Decimal(text):.{digits}f}" if text in plain else text for text in texts]


def plain_percents(raws: Sequence[float | None]) -> list[str]:
    """Format the raw gaps of one column in per cent by their leading digits: two decimals would hide a small one.

    All have the decimals of the most precise one.

    >>> plain_percents([0.10526, None, 0.5]), plain_percents([1e-6, -0.2]), plain_percents([2.0])
    (['10.53 %', '–', '50.00 %'], ['0.0001 %', '-20.0000 %'], ['200 %'])
    """
    written = [DASH if raw is None else f"{100 * raw:.4g}" for raw in raws]
    digits = max((len(text.partition(".")[2]) for text in written if "e" not in text), default=0)
    return [
        DASH if raw is None else f"{text if 'e' in text else f'{100 * raw:z.{digits}f}'} %"
        for raw, text in zip(raws, written, strict=True)
    ]


def interval(low: float | None, high: float | None, *, digits: int = 5) -> str:
    """Format two bounds; a dash if there are none.

    >>> interval(-0.1, 0.25), interval(None, None)
    ('[-0.10000, 0.25000]', '–')
    """
    return DASH if low is None or high is None else f"[{number(low, digits=digits)}, {number(high, digits=digits)}]"


def p_value(p: float | None) -> str:
    """Format a p-value; no method here is exact to the digits of a small one.

    >>> p_value(0.0002), p_value(0.0412), p_value(None)
    ('< 0.001', '0.041', '–')
    """
    if p is None:
        return DASH
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def p_words(p: float | None) -> str:
    """Format a p-value in a sentence.

    >>> p_words(0.0002), p_words(0.0412)
    ('< 0.001', '= 0.041')
    """
    text = p_value(p)
    return text if text.startswith("<") else f"= {text}"


def goal_words(goal: float) -> str:
    """Format the raw gap of a goal; different goals have different texts.

    >>> goal_words(0.01), goal_words(0.07), goal_words(0.01234567)
    ('1 %', '7 %', '1.234567 %')
    """
    # Twelve digits: a goal of two decimals prints as typed, 7 instead of 7.000000000000001.
    return f"{100 * goal:.12g} %"


def count(value: int) -> str:
    """Format a count.

    >>> count(12345)
    '12,345'
    """
    return f"{value:,}"


def sentence(text: str) -> str:
    """Return a caption as a sentence.

    >>> sentence("mean, panel-equal")
    'Mean, panel-equal.'
    """
    return f"{text[:1].upper()}{text[1:]}."


def number_or_overflow(value: float | None) -> float | str | None:
    """Return a number that JSON can represent, or "overflow"."""
    return "overflow" if value is not None and math.isinf(value) else value
