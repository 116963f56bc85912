"""`record`: the candidates of a solver that is code of one's own, kept as a journal while it searches."""

import math
import operator
import os
import platform
from typing import Any

from gapline.contract.choices import Sense
from gapline.errors import UsageError
from gapline.journal.line import RECORD_SCHEMA
from gapline.journal.trace import Trace

Carried = str | int | float | bool | None
# Columns that are filled in when the file is read: a fact of the same name would be lost.
RESERVED = """
    first count status unclosed origins ladder ladder_step time objective valid claimed reason bound primary
    secondary validation clock value_resolution bound_resolution claim calibration calibration_work time_scale
    time_scale_source own_horizon started import_notes instance_digest problem_digest solver_version exit_code
    signal elapsed cpu_time peak_memory machine host cpus governor boost load cpu_share foreign_share overshoot
    jitter disturbed limits unpinned shared_memory calibration_spread leftover dropped attempts attempt order_seed
    order_position best_solution_digest
"""
# Facts that gapline reads itself have to be of their kind.
KINDS: dict[str, type] = {"tier": int, "threads": int, "size": float, "resolution": float}
KINDS |= dict.fromkeys(("solver", "charged", "granularity", "machine_class", "simplified_model"), str)
_LARGEST = 2**63 - 1


def record(
    path: str | os.PathLike[str],
    /,
    *,
    arm: str,
    instance: str,
    horizon: float,
    seed: int = 1,
    panel: str = "all",
    sense: Sense | None = None,
    **carried: Carried,
) -> Trace:
    """Record a run of a solver that is code of one's own; `gapline.read` reads the file as it is.

    Parameters
    ----------
    path
        The file, new or with other runs in it: runs are added at its end, also by several processes at once.
    arm, instance, seed, panel
        What ran on what.
    horizon
        Seconds that the run may take; candidates after it are kept, counted and not scored.
    sense
        "min" or "max"; without it the direction is not stated, and is judged when the file is read.
    **carried
        Further facts of the run, a column each: threads=4, slices=96, version="1.2".

    Used as a context: a run that adds nothing is an empty run, one that raises is a crashed run, one that Ctrl-C cut
    short is no run and counted as interrupted. A run that is never closed counts as `killed` once its process is gone.

    >>> import gapline as gl, tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "traces.jsonl"
    >>> with gl.record(file, arm="mine", instance="a", seed=1, horizon=60) as trace:
    ...     trace.add(12.5)
    ...     trace.add(11.0, bound=9.0)
    >>> gl.read(file).runs.select("arm", "instance", "status", "count").rows()
    [('mine', 'a', 'finished', 2)]
    """
    if sense not in (None, "min", "max"):
        raise UsageError(f"sense: expected min or max, got {sense!r}")
    for name, value in (("arm", arm), ("instance", instance), ("panel", panel)):
        if not isinstance(value, str) or not value or not _is_text(value):
            raise UsageError(f"{name}: expected a name, got {value!r}")
    if "\0" in os.fsdecode(path):
        raise UsageError(f"path: expected a text without NUL characters, got {os.fsdecode(path)!r}")
    facts: dict[str, Any] = {"arm": arm, "instance": instance, "seed": _whole(seed), "panel": panel}
    facts |= {"horizon": _seconds(horizon), "machine": {"host": platform.node()}, "schema": RECORD_SCHEMA}
    facts["carried"] = {name: _fact(name, value) for name, value in carried.items()}
    facts["carried"] |= {"validation": "solver"} | ({} if sense is None else {"sense": sense})
    return Trace(path, facts, sense=sense)


def _whole(seed: Any) -> int:
    try:
        number = None if isinstance(seed, bool) else operator.index(seed)
    except TypeError:
        number = None
    if number is None or abs(number) > _LARGEST:
        raise UsageError(f"seed: expected a whole number of 64 bits, got {seed!r}")
    return number


def _seconds(horizon: Any) -> float:
    try:
        seconds = math.nan if isinstance(horizon, bool | str) else float(horizon)
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise UsageError(f"horizon: expected seconds above 0, got {horizon!r}")
    return seconds


def _fact(name: str, value: Any) -> Carried:
    if name in RESERVED.split():
        raise UsageError(
            f"{name}: expected a fact under a name of its own, got one that `read` fills in",
            hint=f"call it my_{name}, or the like",
        )
    # Numbers of NumPy are made plain.
    plain = value.item() if hasattr(value, "item") and not getattr(value, "ndim", 0) else value
    if plain is not None and not isinstance(plain, str | int | float | bool):
        raise UsageError(f"{name}: expected a text, a number or a truth value, got {type(value).__name__}")
    kind = KINDS.get(name)
    fits = kind is None or plain is None or type(plain) is kind or (kind is float and type(plain) is int)
    is_kept = _is_text(plain) if isinstance(plain, str) else plain is None or abs(plain) <= _LARGEST
    if not fits or not is_kept:
        raise UsageError(f"{name}: expected {_EXPECTED[kind]}, got {value!r}")
    return plain


_EXPECTED: dict[type | None, str] = {
    None: "a text or a finite number of 64 bits", int: "a whole number of 64 bits", float: "a finite number",
    str: "a text",
}  # fmt: skip


def _is_text(value: str) -> bool:
    """Whether a text can be written: names of files may hold bytes that are no text."""
    return not any("\ud800" <= letter <= "\udfff" for letter in value)
