"""When a value is better than a reference: by more than the tolerance, since the last bits are no discovery."""

from collections.abc import Mapping
from typing import Any

from gapline.errors import UsageError


def is_beaten(value: Any, reference: Any, tolerance: float) -> Any:
    """Say whether a value is below a reference by more than the relative tolerance, on the minimised scale.

    Takes numbers or arrays. The compiled kernels use this very function for the threshold of `dimacs:THETA`.

    >>> is_beaten(99.0, 100.0, 1e-9), is_beaten(100.0 - 1e-8, 100.0, 1e-9), is_beaten(110.0, 1.1 * 100.0, 1e-9)
    (True, False, False)
    """
    return value < reference - tolerance * abs(reference)


def run_beats(row: Mapping[str, Any], reference: float, tolerance: float) -> bool:
    """Say whether the best of a run, as bad as the digits of its print allow, is better than a reference.

    >>> run_beats({"best": 99.0}, 100.0, 1e-9), run_beats({"best": 99.0, "print_slack": 5.0}, 100.0, 1e-9)
    (True, False)
    """
    return bool(is_beaten(row["best"] + (row.get("print_slack") or 0.0), reference, tolerance))


def check_tolerance(tolerance: float) -> None:
    """Refuse a tolerance that is no small relative difference."""
    if not 0 <= tolerance < 1:
        raise UsageError(f"tolerance: expected a relative difference from 0 up to 1, got {tolerance}")
