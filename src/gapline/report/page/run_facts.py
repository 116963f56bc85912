"""What is known of a run beside its candidates, in words and units: the columns that the runs table carries."""

import re
from collections.abc import Callable
from typing import Any

from gapline.report.numbers import percent


def _seconds(value: float) -> str:
    return f"{value:.3f} s" if abs(value) < 100 else f"{value:,.0f} s"


def _milliseconds(value: float) -> str:
    return f"{1000 * value:.1f} ms"


def _memory(value: float) -> str:
    return f"{value / 1e6:,.0f} MB" if value < 1e10 else f"{value / 1e9:,.1f} GB"


def _share(value: float) -> str:
    return percent(value, digits=1)


def _count(value: float) -> str:
    return f"{value:,}"


def _unless_none(read: Callable[[Any], str]) -> Callable[[Any], str]:
    """Tell what mostly does not happen only where it did."""
    return lambda value: read(value) if value else ""


def _digest(value: str) -> str:
    # Whole ones are in the table of runs; nobody compares them by eye.
    return f"{value[:19]}…" if len(value) > 20 else value


def _moment(value: str) -> str:
    return re.sub(r"\.[0-9]+", "", value)


# Column → what it is called, and how its values read; the runner's own come in this order, others after them.
_FACTS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "started": ("started", _moment),
    "elapsed": ("wall time", _seconds),
    "cpu_time": ("CPU time", _seconds),
    "cpu_share": ("share of its cores that it used", _share),
    "peak_memory": ("peak memory", _memory),
    "exit_code": ("exit code", str),
    "signal": ("ended by signal", str),
    "overshoot": ("ran on after the horizon for", _seconds),
    "jitter": ("stamps late by at most", _milliseconds),
    "foreign_share": ("share of its cores that others used", _share),
    "load": ("load of the machine", lambda value: f"{value:.2f}"),
    "disturbed": ("disturbed by", str),
    "limits": ("limits kept by", str),
    "unpinned": ("threads put back on their cores", _unless_none(_count)),
    "shared_memory": ("memory in shared files beside it", _unless_none(_memory)),
    "leftover": ("processes left over", _unless_none(_count)),
    "dropped": ("lines dropped", _unless_none(_count)),
    "solver": ("solver", str),
    "solver_version": ("version of the solver", str),
    "threads": ("threads", _count),
    "tier": ("tier", str),
    "machine": ("machine", str),
    "machine_class": ("class of machine, as the contract said", str),
    "charged": ("work that the clock charges", str),
    "granularity": ("granularity of the stamps", str),
    "simplified_model": ("simplified model that it solves", str),
    "clock": ("clock", str),
    "origins": ("who stated these facts", str),
    "host": ("host", str),
    "cpus": ("cores", str),
    "governor": ("governor of the cores", str),
    "boost": ("boost of the cores", str),
    "calibration": ("calibration", _seconds),
    "calibration_spread": ("spread of the calibration", _share),
    "calibration_work": ("work load of the calibration", str),
    "time_scale": ("times multiplied by", str),
    "time_scale_source": ("factor of the times", str),
    "own_horizon": ("horizon on its own machine", _seconds),
    "attempt": ("attempt that counts", str),
    "attempts": ("attempts", _count),
    "order_position": ("place in the order of runs", _count),
    "order_seed": ("seed of the order of runs", str),
    "print_slack": ("last printed digit", str),
    "best_primary": ("best, primary part", str),
    "best_secondary": ("best, secondary part", str),
    "best_solution_digest": ("digest of the best solution", _digest),
    "instance_digest": ("digest of the instance", _digest),
    "problem_digest": ("digest of the problem", _digest),
    "claim": ("claimed by the solver", str),
    "import_notes": ("notes of the import", str),
}


def fact_name(column: str, /) -> str:
    """Return what a column of the runs table is called.

    >>> fact_name("peak_memory"), fact_name("my_setting")
    ('peak memory', 'my setting')
    """
    return _FACTS[column][0] if column in _FACTS else column.replace("_", " ")


def fact_text(column: str, value: Any, /) -> str:
    """Return a value of a column with its unit; nothing where there is none.

    >>> fact_text("peak_memory", 96_468_992), fact_text("jitter", 0.0903), fact_text("signal", None)
    ('96 MB', '90.3 ms', '')
    """
    if value is None:
        return ""
    try:
        return _FACTS[column][1](value) if column in _FACTS else str(value)
    # A column of somebody else's table may have the name and hold something else.
    except (TypeError, ValueError):
        return str(value)


def fact_order(columns: list[str], /) -> list[str]:
    """Return the columns in the order in which they are told: what the runner measured first.

    >>> fact_order(["mine", "host", "elapsed"])
    ['elapsed', 'host', 'mine']
    """
    known = list(_FACTS)
    return sorted(columns, key=lambda name: known.index(name) if name in _FACTS else len(known))
