"""Compensated addition: what a sum loses to rounding is kept beside it."""

from gapline.model.compiled import compiled


@compiled(inline="always", keep=False)
def two_sum(a, b):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return the rounded sum of two numbers and what the rounding lost, exactly (Knuth's TwoSum).

    >>> two_sum(1e16, 1.0)
    (1e+16, 1.0)
    """
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)
