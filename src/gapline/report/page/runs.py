"""A single run on the page: its facts as text, and candidates that are not steps."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gapline.campaign.scale import scored_objectives
from gapline.contract.tables import RUN_KEY, VerdictCode
from gapline.envelope.build import Unchecked
from gapline.native.accept_numpy import places_of_steps
from gapline.native.slices import step_groups, step_places
from gapline.report.numbers import percent
from gapline.report.page.encode import MOST_UNITS, Block, Grid, Integers, deltas, units_on_grids, zigzag
from gapline.study import Study

# The most candidates on the page besides steps; a run keeps rejected and late ones before those without improvement.
MOST_CANDIDATES = 100_000
LEAST_PER_RUN = 5

NOT_IMPROVING, REJECTED, UNCHECKED = 0, 1, 2
LATE, NO_STAMP, NO_OBJECTIVE = 4, 8, 16


class Others(NamedTuple):
    """For each run, the count of such candidates left out of the page, and of those that are in two counts.

    A late candidate may also have been rejected, or never been checked.
    """

    omitted: Integers
    late_rejected: Integers
    late_unchecked: Integers


def add_other_candidates(block: Block, study: Study, order: Integers, clock: Grid, grids: list[Grid]) -> Others:
    """Add the candidates that are not steps to a block, runs in `order`, each on its grid."""
    runs = study.envelopes.runs
    keys = runs.select(*RUN_KEY, "horizon", "steps", "captured")
    slices = study.campaign.runs.select(*RUN_KEY, "first", "count")
    rows = keys.join(slices, on=RUN_KEY, how="left", maintain_order="left")[order.tolist()]
    objective = scored_objectives(study.campaign, study.envelopes.scale)
    total = int((rows["captured"] - rows["steps"]).sum())
    most = max(LEAST_PER_RUN, MOST_CANDIDATES // max(1, runs.height)) if total > MOST_CANDIDATES else total
    # Skip runs whose candidates are all steps, and runs that the campaign does not contain.
    wanted = (rows["captured"] != rows["steps"]).to_numpy()
    first = rows["first"].fill_null(0).to_numpy()
    counts = np.where(wanted, rows["count"].fill_null(0).to_numpy(), 0)
    horizon = rows["horizon"].to_numpy()
    trusted = study.envelopes.unchecked is Unchecked.TRUST_SOLVER
    decimals = np.array([grids[row].decimals for row in order.tolist()], np.int64)
    kept, omitted, rejected, open_ = (np.zeros(runs.height, np.int64) for _ in range(4))
    columns: dict[str, list[NDArray[Any]]] = {"time": [], "objective": [], "flags": [], "reason": []}
    for low, high in step_groups(counts):
        here = slice(low, high)
        places, starts = step_places(first[here], counts[here])
        run = np.repeat(np.arange(high - low), counts[here])
        time, values, verdict = study.campaign.time[places], objective[places], study.campaign.verdict[places]
        inside = time <= horizon[here][run]
        accepted = (verdict == VerdictCode.VALID) | (trusted & (verdict == VerdictCode.UNCHECKED))
        flags = np.where(time > horizon[here][run], LATE, NOT_IMPROVING)
        flags[verdict == VerdictCode.INVALID] |= REJECTED
        flags[(verdict == VerdictCode.UNCHECKED) & ~accepted] |= UNCHECKED
        is_other = verdict != VerdictCode.BOUND
        is_other[places_of_steps(time, np.where(accepted & inside, values, np.inf), run, starts, counts[here])] = False
        other = np.flatnonzero(is_other)
        found = np.bincount(run[other], minlength=high - low)
        for column, verdict_of in ((rejected, REJECTED), (open_, UNCHECKED)):
            column[here] = np.bincount(run[other][flags[other] == verdict_of | LATE], minlength=high - low)
        other = other[_places_kept(run[other], flags[other] == NOT_IMPROVING, found) < most]
        run, time, values = run[other], time[other], values[other]
        kept[here] = np.bincount(run, minlength=high - low)
        omitted[here] = found - kept[here]
        reason = study.campaign.reason[places][other] if study.campaign.reason is not None else np.zeros(len(other))
        # A value too large for an exact number of grid steps is marked as missing, never rounded.
        stamped = np.isfinite(time) & (np.abs(time) < MOST_UNITS / 10.0**clock.decimals)
        units = units_on_grids(np.where(np.isfinite(values), values, 0.0), decimals[here][run])
        known = np.isfinite(values) & (np.abs(units) < MOST_UNITS)
        begins = np.flatnonzero(np.diff(run, prepend=-1))
        columns["time"].append(deltas(clock.units(np.where(stamped, time, 0.0)), begins))
        columns["objective"].append(deltas(np.where(known, units, 0.0), begins))
        columns["flags"].append(flags[other] | np.where(stamped, 0, NO_STAMP) | np.where(known, 0, NO_OBJECTIVE))
        columns["reason"].append(reason)
    block.add("count", kept)
    for name, parts in columns.items():
        block.add_pieces(name, map(zigzag, parts) if name in ("time", "objective") else parts)
    return Others(omitted, rejected, open_)


def _places_kept(run: Integers, weak: NDArray[np.bool_], found: Integers) -> Integers:
    """Return the position of each candidate within its run: late and rejected ones first, each part by time."""
    telling = np.bincount(run[~weak], minlength=len(found))
    place = np.zeros(len(run), np.int64)
    for part, before in ((~weak, np.zeros(len(found), np.int64)), (weak, telling)):
        size = np.bincount(run[part], minlength=len(found))
        place[part] = np.arange(int(size.sum())) - (np.cumsum(size) - size - before)[run[part]]
    return place


def _seconds(value: float) -> str:
    return f"{value:.3f} s" if abs(value) < 100 else f"{value:,.0f} s"


def _memory(value: float) -> str:
    return f"{value / 1e6:,.0f} MB" if value < 1e10 else f"{value / 1e9:,.1f} GB"


_share, _count = partial(percent, digits=1), "{:,}".format


def _unless_none(read: Callable[[Any], str]) -> Callable[[Any], str]:
    """Show a value only if it is not zero: the fact is an exception."""
    return lambda value: read(value) if value else ""


def _digest(value: str) -> str:
    # The table of runs has the full digests.
    return f"{value[:19]}…" if len(value) > 20 else value


# Column → its label, and the format of its values; the runner's own columns come in this order, others after them.
_FACTS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "started": ("started", partial(re.sub, r"\.[0-9]+", "")),
    "elapsed": ("wall time", _seconds),
    "cpu_time": ("CPU time", _seconds),
    "cpu_share": ("share of its cores that it used", _share),
    "peak_memory": ("peak memory", _memory),
    "exit_code": ("exit code", str),
    "signal": ("ended by signal", str),
    "overshoot": ("ran on after the horizon for", _seconds),
    "jitter": ("stamps late by at most", lambda value: f"{1000 * value:.1f} ms"),
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
    # Written by earlier versions.
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
    """Return the label of a column of the runs table.

    >>> fact_name("peak_memory"), fact_name("my_setting")
    ('peak memory', 'my setting')
    """
    return _FACTS[column][0] if column in _FACTS else column.replace("_", " ")


def fact_text(column: str, value: Any, /) -> str:
    """Return a value of a column with its unit; empty if there is none.

    >>> fact_text("peak_memory", 96_468_992), fact_text("jitter", 0.0903), fact_text("signal", None)
    ('96 MB', '90.3 ms', '')
    """
    if value is None:
        return ""
    try:
        return _FACTS[column][1](value) if column in _FACTS else str(value)
    # A column of an imported table may have the same name but other content.
    except (TypeError, ValueError):
        return str(value)


def fact_order(columns: list[str], /) -> list[str]:
    """Return the columns in display order: those that the runner measured first.

    >>> fact_order(["mine", "host", "elapsed"])
    ['elapsed', 'host', 'mine']
    """
    known = list(_FACTS)
    return sorted(columns, key=lambda name: known.index(name) if name in _FACTS else len(known))
